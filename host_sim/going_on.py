"""What a process leaves of a run so that another one goes on with it, as if nothing had happened.

Random numbers are drawn again from the seeds, which takes a small part of the time that playing took. The
rest is arrays: `changing` of the problem and of the agent names those that a run changes and that the next
episode depends on. It speaks for its class alone, because a subclass may remember more, and for classes of
this program, because a file of the user may change in between. What an agent has in compiled memory is one
more array, of bytes, which it gives and takes itself. Where there is no `changing`, the state is in Python
objects, and a run can only start again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim.provenance import version

if TYPE_CHECKING:
    from adamb.host_sim.agent import Agent
    from adamb.host_sim.problem import Problem
    from adamb.host_sim.runner import Loop

PROGRAM = {".py", ".so", ".pyd", ".dylib", ".c", ".h"}
Arrays = dict[str, np.ndarray]
MEMORY = "memory"
"""The array of what an agent has in compiled memory: as long as it was when it was kept."""


def changing(thing: Problem | Agent) -> Arrays | None:
    """The arrays of a problem or an agent, for reading and for filling; None where they are not all."""
    kind = type(thing)
    hook = vars(kind).get("changing") if kind.__module__.startswith("adamb.") else None
    return None if hook is None else hook(thing)


def hindrance(problem: Problem, agent: Agent | None = None) -> str | None:
    """Why a run, or a problem alone, cannot go on in another process; None where it can."""
    if agent is not None and agent.lanes:
        return f"core {agent.core} keeps what it learns on its target"
    if changing(problem) is None:
        return f"problem {problem.name} cannot be saved between two episodes"
    if agent is not None and changing(agent) is None:
        kind = f"agent {agent.name}" if agent.core is None else f"core {agent.core}"
        return f"{kind} cannot be saved between two episodes"
    return None


def run_key(problem: Problem, agent: Agent, **more: Any) -> str:
    """A hash of all that decides a run, before its first episode: the next process must have the same."""
    described = [problem.describe(), agent.name, agent.core, agent.budget_bytes, agent.describe()]
    return key_of(described, files_named(problem.params), more)


def key_of(*decisive: Any) -> str:
    """A hash of what decides a measurement, with this program and the source of its random numbers."""
    text = json.dumps([decisive, version(), version("numpy"), program_hash()], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=1)
def program_hash() -> str:
    """Of all files that a run is played with, compiled ones too: another build may count otherwise."""
    from adamb import budgets, firmware_model, host_sim

    found = hashlib.sha256()
    for package in (budgets, firmware_model, host_sim):
        folder = Path(package.__path__[0])
        for path in sorted(path for path in folder.rglob("*") if path.suffix in PROGRAM):
            name = str(path.relative_to(folder)).encode()
            found.update(name + b"\n" + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def files_named(parameters: Mapping[str, Any]) -> list[Any]:
    """Size and time of the files that parameters name, such as traces; they are too large to be read."""
    words = [word for value in parameters.values() if isinstance(value, str) for word in value.split(",")]
    paths = [Path(word.strip()) for word in words if word.strip()]
    states = [(str(path), path.stat()) for path in paths if path.is_file()]
    return [(name, state.st_size, state.st_mtime_ns) for name, state in states]


def keep(loop: Loop, seconds: float) -> Arrays | None:
    """All that `go_on` needs, after any episode; the arrays are those of the run, not copies.

    But for bytes of compiled memory: where there is no room for them, nothing is kept.
    """
    problem, agent, progress = loop.problem, loop.agent, loop.progress
    if hindrance(problem, agent) is not None:
        return None
    loop.read_optima()
    done, n = progress.done, problem.n
    times = np.array([loop.agent_ns, loop.environment_ns, round(1e9 * seconds)], dtype=np.int64)
    kept = {"done": np.array(done, dtype=np.int64), "times": times, "returns": progress.returns[:, :done]}
    kept["recorded"] = np.array(loop.recorded, dtype=np.int64).reshape(len(loop.recorded), n)
    if progress.optimal is not None:
        kept["optimal"] = progress.optimal[:, :done]
    if agent.in_memory:
        try:
            kept[f"agent_{MEMORY}"] = agent.memory()
        except MemoryError:
            return None
    return kept | dict(_named(problem, agent))


def _named(problem: Problem, agent: Agent) -> Iterator[tuple[str, np.ndarray]]:
    for word, thing in (("problem", problem), ("agent", agent)):
        for name, array in (changing(thing) or {}).items():
            yield f"{word}_{name}", array


def check(
    problem: Problem, agent: Agent, points: np.ndarray, kept: Mapping[str, np.ndarray], *, optimum: bool
) -> int:
    """How many episodes are done; an InputError where the arrays are not such as `keep` makes for this run.

    Nothing is changed, so that the run can start at its beginning instead. `points` are those at which memory
    is recorded, the last of them the end of the run.
    """
    done = done_of(kept, int(points[-1]))
    wanted: dict[str, Any] = {name: (array.shape, array.dtype) for name, array in _named(problem, agent)}
    if agent.in_memory:
        name = f"agent_{MEMORY}"
        wanted[name] = (kept[name].size if name in kept else 0,), "u1"
    recorded = int(np.searchsorted(points, done, side="right"))
    wanted |= {"times": ((3,), "i8"), "recorded": ((recorded, problem.n), "i8")}
    wanted |= dict.fromkeys(("returns", "optimal") if optimum else ("returns",), ((problem.n, done), "f8"))
    check_arrays(kept, wanted)
    reason = hindrance(problem, agent) or agent.refuses(_of_agent(kept))
    if reason is not None:
        raise InputError("kept", agent.name, reason)
    return done


def _of_agent(kept: Mapping[str, np.ndarray]) -> Arrays:
    return {name.removeprefix("agent_"): kept[name] for name in kept if name.startswith("agent_")}


def done_of(kept: Mapping[str, np.ndarray], episodes: int) -> int:
    """How many episodes were done of so many."""
    check_arrays(kept, {"done": ((), "i8")})
    done = int(kept["done"])
    if not 0 < done <= episodes:
        raise InputError("kept", done, f"must be from 1 to {episodes} episodes")
    return done


def check_arrays(kept: Mapping[str, np.ndarray], wanted: Mapping[str, Any]) -> None:
    """That arrays of these names have these shapes and kinds."""
    for name, (shape, kind) in wanted.items():
        found = kept.get(name)
        if found is None or found.shape != shape or found.dtype != np.dtype(kind):
            raise InputError("kept", name, f"must be {np.dtype(kind).name} of shape {shape}")


def go_on(loop: Loop, kept: Mapping[str, np.ndarray]) -> float:
    """Put a run that has not begun behind the episodes that were kept; the seconds that they took."""
    progress = loop.progress
    done = check(loop.problem, loop.agent, loop.points, kept, optimum=progress.optimal is not None)
    loop.problem.skip(done)
    for name, array in _named(loop.problem, loop.agent):
        array[...] = kept[name]
    loop.agent.go_on(done, _of_agent(kept))
    progress.done, progress.returns[:, :done] = done, kept["returns"]
    if progress.optimal is not None:
        progress.optimal[:, :done] = kept["optimal"]
    loop.recorded = list(kept["recorded"])
    loop.agent_ns, loop.environment_ns, total = kept["times"].tolist()
    return total / 1e9
