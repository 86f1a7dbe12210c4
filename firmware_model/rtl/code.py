"""Codes of points as wiring (SPEC 2.8 to 2.10), and the random numbers and actions of a block."""

from amaranth.hdl import Cat, Const, Mux, Value

#: Bits of a coordinate that its code keeps, for one, two and three coordinates.
KEPT = {1: 16, 2: 8, 3: 5}


def _spots(dims: int) -> list[tuple[int, int, int]]:
    """Where each kept bit of a point stands: bit of the code, coordinate, bit of the coordinate."""
    order = [(level, c) for level in range(KEPT[dims]) for c in range(dims)]
    return [(15 - place, c, 15 - level) for place, (level, c) in enumerate(order)]


def _chosen(dims: Value, options: dict[int, Value]) -> Value:
    """The option for `dims`; without hardware where that is a constant."""
    if isinstance(dims, Const):
        return options[dims.value]
    return Mux(dims == 1, options[1], Mux(dims == 2, options[2], options[3]))


def _possible(dims: Value) -> tuple[int, ...]:
    return (dims.value,) if isinstance(dims, Const) else tuple(KEPT)


def packed(coordinates: Value, dims: Value) -> Value:
    """The code of a point."""
    options: dict[int, Value] = {}
    for n in _possible(dims):
        bits: list[Value] = [Const(0, 1)] * 16
        for place, c, bit in _spots(n):
            bits[place] = coordinates[c][bit]
        options[n] = Cat(*bits)
    return _chosen(dims, options)


def unpacked(code: Value, dims: Value, coordinates_n: int) -> Value:
    """The coordinates of a code, one after the other; those that the point does not have are 0."""
    options: dict[int, Value] = {}
    for n in _possible(dims):
        bits: list[Value] = [Const(0, 1)] * (16 * coordinates_n)
        for place, c, bit in _spots(n):
            bits[16 * c + bit] = code[place]
        options[n] = Cat(*bits)
    return _chosen(dims, options)


def next_random(x: Value) -> Value:
    x = x ^ (x << 7)[:16]
    x = x ^ (x >> 9)
    return x ^ (x << 8)[:16]


def random_action(centre: Value, random: Value, d_a: Value) -> Value:
    """A point of the cell around an action centre, never 0."""
    from_lowest = Cat(*(centre[: bit + 1].any() for bit in range(16)))
    options: dict[int, Value] = {}
    for n in _possible(d_a):
        mask = Cat(Const(-1, n), ~from_lowest)[:16]
        options[n] = (centre & ~mask) | (random & mask) | (2 if n == 3 else 1)
    return _chosen(d_a, options)
