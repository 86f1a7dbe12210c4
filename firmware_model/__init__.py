"""The controller: the Python twin that a board runs, and on a host the C core behind the same calls.

    >>> from array import array
    >>> from adamb.firmware_model import Config, init
    >>> block, action = array("H", bytes(4096)), array("H", [0])
    >>> controller = init(Config(d_s=1, d_a=1, horizon=5), block)
    >>> controller.act(0, [32768], action), controller.observe(0, 65535, [40000])
    (0, 0)

`Controller` and `init` are the Python twin's, `CController` and `c_init` the C core's. Codes below zero are
errors: `ERR_ARGUMENT` and the others. A board loads the modules, not this list; nothing is imported before it
is asked for, so that neither pays for the other.
"""

import sys

TYPE_CHECKING = False  # what type checkers take for true; a board has no `typing`
if TYPE_CHECKING:
    from ._spec import ERR_ARGUMENT, ERR_BLOCK, ERR_CONFIG, ERR_DEVICE, ERR_DIMENSIONS, ERR_EMPTY, ERR_MEMORY, ERR_ORDER
    from .check import error_text, stats
    from .config import Config, required_words, thresholds
    from .core import Controller, attach, init
    from .host.binding import Controller as CController
    from .host.binding import init as c_init

__all__ = [
    "ERR_ARGUMENT",
    "ERR_BLOCK",
    "ERR_CONFIG",
    "ERR_DEVICE",
    "ERR_DIMENSIONS",
    "ERR_EMPTY",
    "ERR_MEMORY",
    "ERR_ORDER",
    "CController",
    "Config",
    "Controller",
    "attach",
    "c_init",
    "error_text",
    "init",
    "required_words",
    "stats",
    "thresholds",
]

_PLACES = {
    "CController": ("host.binding", "Controller"),
    "Config": ("config", "Config"),
    "Controller": ("core", "Controller"),
    "attach": ("core", "attach"),
    "c_init": ("host.binding", "init"),
    "error_text": ("check", "error_text"),
    "init": ("core", "init"),
    "required_words": ("config", "required_words"),
    "stats": ("check", "stats"),
    "thresholds": ("config", "thresholds"),
}


if sys.implementation.name != "micropython":  # there it would stand between a program and the modules

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module, attribute = _PLACES.get(name, ("_spec", name))
        return getattr(import_module(f"{__name__}.{module}"), attribute)

    def __dir__() -> list[str]:
        return sorted(set(globals()) | set(__all__))
