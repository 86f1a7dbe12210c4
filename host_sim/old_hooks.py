"""Problems written when hooks had a leading underscore (`_dynamics`) go on working, with one warning."""

from __future__ import annotations

import sys
import warnings

HOOKS = (
    "carried_state", "default_horizon", "describe_instance", "draw_noise", "draw_starts", "dynamics",
    "fresh_start", "mirror", "setup", "solve", "walk",
)  # fmt: skip
"""What a problem may define."""


def adopt_old_hooks(cls: type) -> None:
    """Give a class its hooks under both names; a class that has only the old ones is warned about."""
    defined = dict(vars(cls))
    old = [name for name in HOOKS if f"_{name}" in defined and name not in defined]
    for name in HOOKS:
        if name in old:
            setattr(cls, name, defined[f"_{name}"])
        elif name in defined:
            setattr(cls, f"_{name}", defined[name])  # for `super()._name` in a class written before
    if old:
        file = getattr(sys.modules.get(cls.__module__), "__file__", None) or cls.__module__
        line = getattr(getattr(defined[f"_{old[0]}"], "__code__", None), "co_firstlineno", 1)
        names = ", ".join(f"_{name} to {name}" for name in old)
        message = f"{file}: class {cls.__name__}: hooks have no underscore now, rename {names}"
        # As if from the user's main program: Python hides the deprecations of all other modules.
        warnings.warn_explicit(message, DeprecationWarning, file, line, module="__main__")
