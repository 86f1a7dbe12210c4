"""Problems and agents from a user's own file; a mistake there becomes one line with file, line and cause."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from adamb.firmware_model.host.errors import AdambError, InputError, nearest

if TYPE_CHECKING:
    from adamb.host_sim.problem import Problem

Kind = TypeVar("Kind")
PREFIX = "adamb_user_"
_written: dict[str, str] = {}
"""Absolute path of every file loaded here -> the path as the user wrote it."""


def names_file(name: str) -> bool:
    """Whether a name means a class in a file: `path/to/file.py:Class`; also where the class was forgotten."""
    path, separator, _ = name.rpartition(":")
    return (bool(separator) and path.endswith(".py")) or name.endswith(".py")


def file_digest(name: str) -> str | None:
    """Of the file in `file.py:Class`, so that results of an older version are not taken for new ones."""
    path = Path(name.removeprefix("gym:").rpartition(":")[0])
    if not names_file(name) or not path.is_file():
        return None
    return hashlib.sha256(path.read_bytes()).hexdigest()[:20]


def load_class(kind: str, name: str, base: type[Kind]) -> type[Kind]:
    """The class that `file.py:Class` names; `kind` (problem, agent) is for messages."""
    text, _, class_name = name.rpartition(":")
    if name.endswith(".py"):
        raise InputError(kind, name, f"name the class in it, too: {name}:Class")
    path = Path(text)
    if not path.is_file():
        raise InputError(kind, name, "there is no such file")
    module = _load(kind, path)
    found = getattr(module, class_name, None)
    if not (isinstance(found, type) and issubclass(found, base)):
        types = {key: value for key, value in vars(module).items() if isinstance(value, type)}
        known = [key for key, value in types.items() if issubclass(value, base) and value is not base]
        limit = f"is not {_article(base.__name__)} in {path}; {nearest(class_name, known)}"
        raise InputError("class", class_name, limit)
    missing = sorted(getattr(found, "__abstractmethods__", ()))
    if missing:
        raise AdambError(f"{_class_place(found)}: does not define {' and '.join(missing)}")
    return found


def _load(kind: str, path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"{PREFIX}{path.stem}", path)
    if spec is None or spec.loader is None or spec.origin is None:
        raise InputError(kind, str(path), "cannot be loaded as Python")
    _written[spec.origin] = str(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    beside = str(path.resolve().parent)  # as for a script: files beside it can be imported
    sys.path.insert(0, beside)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a script may end itself, which is not ours to follow
        lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if _is_users(frame)]
        where = f"line {lines[-1]}: " if lines else ""
        cause = str(error) if isinstance(error, AdambError) else f"{type(error).__name__}: {error}"
        raise InputError(kind, str(path), f"does not load: {where}{cause}") from error
    finally:
        sys.path.remove(beside)
    return module


def locate_in_user_code(error: BaseException) -> BaseException:
    """The error as one line with the user's file, line and cause, if it arose there; else as it is.

    Where the user's code has returned and the value broke ours, the line is that of the user's class.
    """
    if isinstance(error, AdambError):
        return error
    place = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        if _is_users(frame):
            place = f"{_written[frame.f_code.co_filename]}, line {line}, {frame.f_code.co_name}"
        elif not place and (owner := _users_class(frame.f_locals)):
            place = _class_place(owner)
    if not place:
        return error
    found = AdambError(f"{place}: {type(error).__name__}: {error}")
    found.__cause__ = error
    return found


def raise_located(error: BaseException) -> NoReturn:
    """For an `except` around calls that may end in a user's file."""
    raise locate_in_user_code(error)


def _is_users(frame: Any) -> bool:
    return frame.f_code.co_filename in _written


def _users_class(names: dict[str, Any]) -> type | None:
    """The user's class that a function of ours is at work for: its own, or the one that it builds."""
    for found in (type(names.get("self")), names.get("cls"), names.get("factory")):
        if isinstance(found, type) and found.__module__.startswith(PREFIX):
            return found
    return None


def _class_place(cls: type) -> str:
    try:
        line = inspect.getsourcelines(cls)[1]
        file = str(inspect.getsourcefile(cls))
    except (OSError, TypeError):
        return f"class {cls.__name__}"
    return f"{_written.get(file, file)}, line {line}, class {cls.__name__}"


def _article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "AEIOU" else f"a {noun}"


def place_of(function: Callable[..., Any] | None) -> str:
    """`(tank.py, line 14, dynamics)` for a user's function, nothing for one of ours."""
    code = getattr(function, "__code__", None)
    if code is None or getattr(function, "__module__", "").startswith("adamb."):
        return ""
    file = _written.get(code.co_filename, code.co_filename)
    return f" ({file}, line {code.co_firstlineno}, {code.co_name})"


def checked_outcome(problem: Problem, h: int, outcome: Any) -> tuple[np.ndarray, np.ndarray]:
    """Check what `dynamics` returned; gives arrays.

    A learner fed with NaN or values outside its range fails silently and much later, so stop here.
    """
    where, place = f"step {h} of episode {problem.episode}", place_of(type(problem).dynamics)
    shapes = (problem.n,), (problem.n, problem.d_s)
    if not isinstance(outcome, (tuple, list)) or len(outcome) != 2:
        limit = f"{where}: must return rewards {shapes[0]} and next states {shapes[1]}{place}"
        raise InputError("dynamics", type(outcome).__name__, limit)
    try:
        if any(map(np.iscomplexobj, outcome)):
            raise TypeError("rewards and states must be real numbers")
        rewards, following = (np.asarray(each, dtype=float) for each in outcome)
    except (TypeError, ValueError) as error:
        raise InputError("dynamics", "return", f"{where}: {error}{place}") from None
    if (rewards.shape, following.shape) != shapes:
        given = f"{rewards.shape} and {following.shape}"
        raise InputError("shape", given, f"{where}: must be {shapes[0]} and {shapes[1]}{place}")
    for field, values in (("reward", rewards), ("state", following)):
        if not (values.min() >= 0.0 and values.max() <= 1.0):
            wrong = values[~((values >= 0.0) & (values <= 1.0))]
            raise InputError(field, float(wrong[0]), f"{where}: must be from 0 to 1{place}")
    return rewards, following


def check_actions(agent: Any, h: int, actions: Any) -> None:
    """An InputError where `act` did not return an array (n, d_a)."""
    shape = (agent.n, agent.d_a)
    if getattr(actions, "shape", None) != shape:
        given = getattr(actions, "shape", type(actions).__name__)
        limit = f"step {h}: act must return an array {shape}{place_of(type(agent).act)}"
        raise InputError("action", given, limit)


CALLS = {
    "act": ("h", "states"), "observe": ("h", "rewards", "next_states"), "end_episode": (), "bytes_used": (),
    "bytes_peak": (), "stats": (),
}  # fmt: skip
"""Methods of an agent that a run calls, with their arguments."""


def check_calls(agent: Any) -> None:
    """An InputError where a method of an agent cannot be called as a run calls it."""
    for name, taken in CALLS.items():
        method = getattr(agent, name)
        try:
            inspect.signature(method).bind(*taken)
        except TypeError:
            own = getattr(type(agent), name, method)
            limit = f"must take ({', '.join(('self', *taken))}){place_of(own)}"
            raise InputError(name, str(inspect.signature(own)), limit) from None
        except ValueError:  # a method in C does not tell
            continue


def numbers_of_learners(agent: Any, hook: str, given: Any, name: str = "") -> np.ndarray:
    """Check what a hook of an agent returned: one number of every learner, from 0."""
    place = place_of(getattr(type(agent), hook, None))
    field = f"{hook}[{name!r}]" if name else hook
    values = np.array(given, dtype=None if isinstance(given, np.ndarray) else object)
    try:
        values = values if values.dtype != object else values.astype(float)
        right = values.shape == (agent.n,) and bool((values >= 0).all() and np.isfinite(values).all())
    except (TypeError, ValueError):
        right = False
    if not right:
        shown = given if values.ndim == 0 or values.size <= 3 else f"array {values.shape}"
        raise InputError(field, shown, f"must be {agent.n} numbers from 0, one of every learner{place}")
    return values


def stats_of(agent: Any) -> dict[str, np.ndarray]:
    """The counters of an agent by name."""
    given = agent.stats()
    if not isinstance(given, dict):
        place = place_of(getattr(type(agent), "stats", None))
        limit = f"must return numbers (n,) by name, such as {{'leaves': ...}}{place}"
        raise InputError("stats", type(given).__name__, limit)
    return {name: numbers_of_learners(agent, "stats", values, name) for name, values in given.items()}


def checked_optimum(problem: Problem, found: Any) -> Any:
    """Check what `solve` returned: None, or an object with what an Optimum offers."""
    if found is not None and not all(hasattr(found, name) for name in ("mean", "value", "policy")):
        limit = f"must return None or an Optimum with mean, value and policy{place_of(type(problem).solve)}"
        raise InputError("solve", type(found).__name__, limit)
    return found
