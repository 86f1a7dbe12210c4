"""The controller for programs on a board: one class, exceptions for what is refused, names for numbers.

    from adamb import Controller

    controller = Controller(states=1, actions=1, horizon=5, bytes=4096)
    controller.act(h, state, action)    # states and actions: array("H") of 0..65535; the action is written in place
    controller.observe(h, reward, next_state)
    controller.end_episode()

On a board this module is the package `adamb` itself; adamb.hpp is the same for C++. The other modules answer with
codes, as C does; here a code is an Error. act, given, observe, end_episode and tick take nothing from the heap.
"""

from array import array

# isort: off
from ._spec import ERR_ARGUMENT, ERR_BLOCK, ERR_CONFIG, ERR_DEVICE, ERR_DIMENSIONS, ERR_EMPTY, ERR_MEMORY
from ._spec import ERR_ORDER, SHARE_OFF, SHARE_ON, SHARE_TESTING

# isort: on
from .config import Config, required_words
from .core import attach, init
from .unit import Unit

__all__ = [
    "ERR_ARGUMENT",
    "ERR_BLOCK",
    "ERR_CONFIG",
    "ERR_DEVICE",
    "ERR_DIMENSIONS",
    "ERR_EMPTY",
    "ERR_MEMORY",
    "ERR_ORDER",
    "MODE_PAPER",
    "MODE_TRACKING",
    "SHARE_OFF",
    "SHARE_ON",
    "SHARE_TESTING",
    "WHEN_FULL_FREEZE",
    "WHEN_FULL_RECLAIM",
    "Controller",
    "Error",
    "Replaced",
    "Unit",
]

MODE_TRACKING, MODE_PAPER = 0, 1
WHEN_FULL_RECLAIM, WHEN_FULL_FREEZE = 0, 1


class Error(Exception):
    """A call was refused, and changed nothing: one of the ERR_ numbers, and what it means."""


class Replaced(Exception):
    """The block was damaged: it was restored or reinitialised, and the steps of this episode are forgotten."""


def _text(code):
    try:
        from .check import error_text

        return error_text(code)
    except (ImportError, MemoryError):  # left out where flash is short, or no heap is left
        return "an error of SPEC.md"


class Controller:
    """A controller in memory of its own: `bytes` is all that it ever uses.

    `options` are those of Config: mode, share, when_full, seed and so on. With `saves`, an object with save(block) and
    restore(config, block) that answer 0 or an ERR_ number, the controller begins with the newest save, and a
    guard replaces a damaged block.

    >>> controller = Controller(actions=2, horizon=2, bytes=4096)
    >>> state, action = array("H", [1000]), array("H", [0, 0])
    >>> controller.act(0, state, action)
    >>> list(action)
    [32768, 32768]
    >>> controller.observe(0, 5000, state)
    >>> controller.observe(0, 5000, state)
    Traceback (most recent call last):
    adamb.firmware_model.controller.Error: (-5, 'observe without act')
    >>> Controller(bytes=100)
    Traceback (most recent call last):
    adamb.firmware_model.controller.Error: (-3, 'bytes = 100: at least 2240 are needed')
    """

    def __init__(self, states=1, actions=1, horizon=5, bytes=4096, saves=None, **options):
        self.config = Config(d_s=states, d_a=actions, horizon=horizon, **options)
        self.block = array("H", bytearray(bytes // 2 * 2))
        self.guard = None
        if saves is None:
            made = init(self.config, self.block)
        else:
            from .guard import open

            made = open(self.config, self.block, saves)
        if made == ERR_MEMORY:
            least = 2 * required_words(self.config)
            raise Error(ERR_MEMORY, "bytes = %d: at least %d are needed" % (bytes, least))  # noqa: UP031
        if isinstance(made, int):
            raise Error(made, _text(made))
        if saves is not None:
            self.guard = made
            made = made.controller
        self.core = made

    def _refused(self, code):
        guard = self.guard
        if guard is not None:
            code = guard.handle(code)
            self.core = guard.controller
            if code > 0:
                raise Replaced("restored" if code == 1 else "reinitialised")
        raise Error(code, _text(code))

    def act(self, h, state, action):
        """Write an action for this state to `action`."""
        code = self.core.act(h, state, action)
        if code:
            self._refused(code)

    def given(self, h, state, action):
        """Learn from an action that somebody else chose: in the place of act."""
        code = self.core.given(h, state, action)
        if code:
            self._refused(code)

    def observe(self, h, reward, next_state):
        """Learn what followed the last act of step h."""
        code = self.core.observe(h, reward, next_state)
        if code:
            self._refused(code)

    def end_episode(self):
        """Close the episode."""
        code = self.core.end_episode()
        if code:
            self._refused(code)

    def tick(self):
        """Look at one path of the block for damage; for every control period of a controller with saves."""
        if self.guard is None:
            raise Error(ERR_EMPTY, "a controller without saves has no guard")
        code = self.guard.tick()
        if code:
            self._refused(code)

    def stats(self):
        """The counters by name."""
        from .check import stats

        return stats(self.block)

    def save(self, file=None):
        """Write a snapshot to an open file; without one to the saves."""
        if file is None:
            code = ERR_EMPTY if self.guard is None else self.guard.save()
        else:
            from . import snapshot

            code = min(snapshot.write(self.block, file), 0)
        if code:
            self._refused(code)

    def restore(self, file):
        """Resume from the snapshot in an open file; one of other dimensions or another horizon is refused."""
        from . import snapshot

        code = snapshot.read(file, self.config, self.block)
        if code:
            self._refused(code)
        self.core = attach(self.block)
        if self.guard is not None:
            self.guard.controller = self.core
