"""The problems of the page: a C world as bytes that WebAssembly reads, what is drawn for it, and what may be moved.

A world is the structure that the problem hands to C here. Its numbers are copied; a pointer of 64 bits becomes one of
32, which the page sets to its own copy of what the pointer leads to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv, ndtri

from adamb.firmware_model.host.errors import unknown_name
from adamb.host_sim import draws
from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.compiled import ProblemInC
from adamb.host_sim.problem import make_problem

SEEDS = range(8)
POINTER = 4


@dataclass(frozen=True)
class Playable:
    """A problem of the page: what it is in a sentence, and a number of its world that may be moved."""

    about: str
    axes: tuple[str, ...]
    """Names of the coordinates, state first."""
    knob: str
    field: str
    low: float = 0.0
    high: float = 1.0
    beta: tuple[float, float] | None = None
    """Shape of the noise; normal without one."""
    drift: str = "none"
    """Under which the world has the field; until it is moved the world is the same without."""


_SURVEY = "Survey a map for oil: stay near the deposit, but travel costs."
PLAYABLE = {
    "oil-laplace": Playable(_SURVEY, ("place", "next place"), "deposit", "c"),
    "oil-quadratic": Playable(_SURVEY + " The survey falls off slowly.", ("place", "next place"), "deposit", "c"),
    "oil-noisy": Playable(_SURVEY + " Wind and noise disturb.", ("place", "next place"), "deposit", "c"),
    "oil-authors-noise": Playable(
        "The paper's program: oil lies where place times next place is right, in strong wind.",
        ("place", "next place"), "deposit", "c",
    ),
    "ambulance-1": Playable(
        "Station an ambulance before the next call comes in.",
        ("ambulance", "station"), "where calls come from, moved by", "shift", -0.75, 0.25,
        beta=(5.0, 2.0), drift="walk",
    ),
    "dram-lite": Playable(
        "When to close a row of memory (page timeout): streams come back to it, or do not.",
        ("row locality", "page timeout"), "how much of the locality lasts", "c",
    ),
    "allocation-1x1": Playable(
        "How many servers to keep on before the demand is known.",
        ("last demand", "servers"), "price of servers", "price", 0.0, 0.4,
    ),
    "dram-drain": Playable(
        "When to write out a memory's queue: it delays reads, but the queue must not overflow.",
        ("queue", "read load", "burst"), "writes that come in at each step", "inflow", 0.1, 0.4,
    ),
    "dram-refresh": Playable(
        "When to pay the refresh that a memory owes: now it delays reads, later it may be forced.",
        ("debt", "read load", "share paid"), "debt that a step adds", "debt", 0.05, 0.45,
    ),
}  # fmt: skip


def playable(name: str) -> Playable:
    if name not in PLAYABLE:
        raise unknown_name("problem", name, PLAYABLE, "has no place in the playground")
    return PLAYABLE[name]


def described(name: str) -> dict[str, Any]:
    """All that the page knows of a problem; `worlds` by seed."""
    chosen = playable(name)
    problems = [_made(name, seed, chosen.drift) for seed in SEEDS]
    first, world = problems[0], problems[0].world()
    steps = (each for each in dir(lib) if each.endswith("_step"))
    step = next(each for each in steps if ffi.addressof(lib, each) == world.pointer.step)
    rows = quantiles(chosen.beta, world.numbers, 32 if first.d_s == 1 else 16)
    return {
        "name": name, "about": chosen.about, "axes": list(chosen.axes),
        "dims": [first.d_s, first.d_a], "horizon": first.horizon, "step": step, "numbers": world.numbers,
        "start": None if first.fixed_start is None else first.fixed_start[0].tolist(),
        "beta": chosen.beta, "quantiles": rows.ravel().round(9).tolist(),
        "knob": {"label": chosen.knob, "low": chosen.low, "high": chosen.high},
        "worlds": [Image.of(each).to_json(chosen.field) for each in problems],
    }  # fmt: skip


def _made(name: str, seed: int, drift: str) -> ProblemInC:
    problem = make_problem(name, [seed], drift=drift)
    assert isinstance(problem, ProblemInC)
    return problem


def quantiles(beta: tuple[float, float] | None, numbers: int, count: int) -> np.ndarray:
    """(count, numbers): for every number of a step the middles of equal shares, in another order for each."""
    shares = (np.arange(count) + 0.5) / count
    middles = betaincinv(*beta, shares) if beta else ndtri(shares)
    columns = [middles[np.arange(count) * (14 * k + 1) % count] for k in range(numbers)]
    return np.array(columns).T.reshape(count, numbers)


def streams() -> list[str]:
    """The two generators of every seed: starts, noise; state and increment, low bytes first."""
    return [
        b"".join(_pcg64(draws.stream(seed, purpose)) for purpose in (draws.STREAM_START, draws.STREAM_NOISE)).hex()
        for seed in SEEDS
    ]


def ziggurat() -> str:
    """The table of normal numbers."""
    return bytes(ffi.buffer(draws.ziggurat())).hex()


def _pcg64(generator: np.random.Generator) -> bytes:
    state: Any = generator.bit_generator.state
    assert state["bit_generator"] == "PCG64"
    return b"".join(state["state"][name].to_bytes(16, "little") for name in ("state", "inc"))


class Image:
    """The structure of a world as WebAssembly lays it out."""

    def __init__(self) -> None:
        self.content = bytearray()
        self.arrays: list[np.ndarray] = []
        self.links: list[tuple[int, int]] = []
        """Where a pointer lies, and to which array it leads."""
        self.places: dict[str, tuple[int, int]] = {}
        """Of a field by name: array (-1: the structure itself) and byte in it."""

    @classmethod
    def of(cls, problem: ProblemInC) -> Image:
        made, world = cls(), problem.world()
        structure = world.kept[0]
        known = [*world.kept[1:], *vars(problem).values()]
        made._fields(structure[0], ffi.typeof(structure).item, [each for each in known if isinstance(each, np.ndarray)])
        return made

    def to_json(self, field: str) -> list[Any]:
        arrays = [each.tobytes().hex() for each in self.arrays]
        return [bytes(self.content).hex(), arrays, self.links, self.places[field]]

    def _fields(self, value: Any, kind: Any, known: list[np.ndarray]) -> None:
        self._align(kind)
        for name, field in kind.fields:
            self._put(name, getattr(value, name), field.type, known)
        self._align(kind)

    def _put(self, name: str, value: Any, kind: Any, known: list[np.ndarray]) -> None:
        if kind.kind == "struct":
            self._fields(value, kind, known)
        elif kind.kind == "pointer":
            self._point(name, value, known)
        else:
            self._align(kind)
            self.places[name] = -1, len(self.content)
            self.content += ffi.buffer(ffi.new(ffi.typeof(f"{kind.cname} *"), value))[:]

    def _point(self, name: str, value: Any, known: list[np.ndarray]) -> None:
        self.content += bytes(-len(self.content) % POINTER)
        address = int(ffi.cast("uintptr_t", value))
        if address:
            array = next(each for each in known if 0 <= address - each.ctypes.data < max(each.nbytes, 1))
            if not any(array is each for each in self.arrays):
                self.arrays.append(array)
            index = next(i for i, each in enumerate(self.arrays) if each is array)
            assert address == array.ctypes.data
            self.links.append((len(self.content), index))
            self.places.setdefault(name, (index, 0))
        self.content += bytes(POINTER)

    def _align(self, kind: Any) -> None:
        self.content += bytes(-len(self.content) % alignment(kind))


def alignment(kind: Any) -> int:
    """Bytes to whose multiple WebAssembly aligns a value of a type of C."""
    if kind.kind == "struct":
        return max(alignment(field.type) for _, field in kind.fields)
    return POINTER if kind.kind == "pointer" else int(ffi.sizeof(kind))
