"""A range of your unit as the 16 bits of a coordinate or reward, and back.

A value outside the range becomes the nearest end, is counted, and sets `outside` until the next value: do not
act on such a reading or learn from it. An array("H") would keep 16 bits of it and say nothing. Whole numbers
only, so that nothing is allocated: choose hundredths or thousandths of your unit. A range has
at most 65536 values, as many as there are codes; every value then comes back from its code as it was.

    degrees = Unit(0, 4000)  # 0 to 40 degrees, in hundredths
    state[0] = degrees.code(reading)
    if degrees.outside: ...  # drive an output that is safe without this reading

65535 = 255 * 257, so that both divisions can be done in steps that small integers hold.
"""

from ._spec import ERR_CONFIG

LAST = 65535
FEW = 255
MANY = 257
MOST_COUNTED = 0x3FFFFFFF


class Unit:
    """`zero` and `full` are the values of code 0 and of code 65535; the range may fall.

    >>> degrees = Unit(0, 4000)
    >>> degrees.code(2100), degrees.value(34406), degrees.code(9999), degrees.outside
    (34406, 2100, 65535, 1)
    >>> Unit(7, 7)
    Traceback (most recent call last):
    ValueError: the ends of a unit are 1 to 65535 apart
    """

    def __init__(self, zero, full):
        if zero == full or not -LAST <= full - zero <= LAST:
            raise ValueError("the ends of a unit are 1 to 65535 apart")
        self.zero = zero
        self.full = full
        self.out_of_range = 0
        self.outside = 0  # 1 when the last value was outside

    def code(self, value):
        """The code of a value, rounded; a value outside: the nearest end, counted, and `outside` is 1."""
        span = self.full - self.zero
        part = value - self.zero
        if span < 0:
            span = -span
            part = -part
        self.outside = 0
        if 0 <= part <= span:
            part *= FEW
            return part // span * MANY + (part % span * MANY + span // 2) // span
        self.outside = 1
        if self.out_of_range < MOST_COUNTED:
            self.out_of_range += 1
        return 0 if part < 0 else LAST

    def value(self, code):
        """The value of a code, rounded to the nearest."""
        span = self.full - self.zero
        if span < 0:
            return self.zero - _steps(-span, code)
        return self.zero + _steps(span, code)


def init(zero, full):
    """A unit, its counter and `outside` 0; or ERR_CONFIG where the ends are equal or more than 65535 apart."""
    try:
        return Unit(zero, full)
    except ValueError:
        return ERR_CONFIG


def _steps(span, code):
    part = code // MANY * span
    return part // FEW + (part % FEW * MANY + code % MANY * span + LAST // 2) // LAST
