"""Calls of an environment, which is the user's or a stranger's: a mistake there becomes one line."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any, NoReturn

import gymnasium as gym

from adamb.budgets.errors import AdambError, InputError
from adamb.host_sim.user_code import blamed

STEP = "observation, reward, terminated, truncated, info"


def reset(name: str, env: gym.Env, seed: int | None) -> Any:
    """The first observation; `name` is the problem, for messages."""
    try:
        answer = env.reset(seed=seed)
    except Exception as error:
        refuse(name, "reset", error)
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise InputError("reset", type(answer).__name__, f"of {name} must return observation, info")
    return answer[0]


def step(name: str, env: gym.Env, action: Any) -> tuple[Any, float, bool, bool]:
    """One step: observation, reward, and whether the episode was terminated or truncated."""
    try:
        answer = env.step(action)
    except Exception as error:
        refuse(name, "step", error)
    if not isinstance(answer, tuple) or len(answer) != 5:
        raise InputError("step", type(answer).__name__, f"of {name} must return {STEP}")
    observation, reward, terminated, truncated, _ = answer
    try:
        return observation, float(reward), bool(terminated), bool(truncated)
    except (TypeError, ValueError):
        raise InputError("reward", reward, f"step of {name} must return a number") from None


def space(name: str, env: gym.Env, kind: str) -> gym.Space:
    """`action_space` or `observation_space`, which an environment may have forgotten."""
    found = getattr(env, kind, None)
    if not isinstance(found, gym.Space):
        raise InputError(kind, found, f"{name} must have a space of gymnasium.spaces there")
    return found


def refuse(name: str, call: str, error: Exception) -> NoReturn:
    """The error as one line with its cause and the file and line that raised it."""
    found = blamed(error)
    if isinstance(found, AdambError):
        raise found
    frame = traceback.extract_tb(error.__traceback__)[-1]
    path = Path(frame.filename)
    file = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    cause = " ".join(str(error).split())
    raise AdambError(
        f"{name}, {call}: {type(error).__name__}: {cause} ({file}, line {frame.lineno}, {frame.name})"
    ) from error
