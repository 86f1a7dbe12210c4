"""Small simulated environments in integers, for driving two controllers side by side.

None of them is a task worth learning; together they reach the corners: deep balls, full pools, saturated
counts, steps that differ, sudden changes, borders of cells and of ranges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

FULL = 65535
EDGES = (0, 1, 255, 256, 2047, 2048, 16383, 16384, 32767, 32768, 49151, 49152, 65279, 65280, 65534, 65535)


def _clip(value: float) -> int:
    return max(0, min(FULL, int(value)))


@dataclass
class World:
    """Rewards and next states from a seed; `step` may look at everything that happened so far."""

    kind: str
    seed: int
    d_s: int
    d_a: int
    horizon: int
    rng: Random = field(init=False)
    count: int = 0

    def __post_init__(self) -> None:
        self.rng = Random(self.seed)
        self.points = [[self.rng.randrange(FULL + 1) for _ in range(self.d_s)] for _ in range(5)]
        self.targets = [self.rng.randrange(FULL + 1) for _ in range(self.horizon)]
        self.pieces = [self.rng.randrange(FULL + 1) for _ in range(64)]
        self.scale = self.rng.choice((1, 3, 10))

    def point(self) -> list[int]:
        return [self.rng.randrange(FULL + 1) for _ in range(self.d_s)]

    def start(self) -> list[int]:
        if self.kind in ("burst", "pieces"):
            return list(self.points[0])
        if self.kind == "edges":
            return [self.rng.choice(EDGES) for _ in range(self.d_s)]
        return self.point() if self.rng.random() < 0.3 else list(self.rng.choice(self.points))

    def step(self, h: int, state: list[int], action: list[int]) -> tuple[int, list[int]]:
        self.count += 1
        return KINDS[self.kind](self, h, state, action)

    def moved(self, state: list[int], action: list[int], noise: int) -> list[int]:
        """A quarter of the way towards the action, shaken."""
        shake = self.rng.randint
        return [_clip((3 * x + action[i % self.d_a]) / 4 + shake(-noise, noise)) for i, x in enumerate(state)]


def _peak(world: World, h: int, state: list[int], action: list[int]) -> tuple[int, list[int]]:
    """The same sharp peak at every step, hardly any noise: deep and narrow partitions."""
    distance = abs(action[0] - world.targets[0]) + abs(state[-1] - action[-1]) // 4
    return _clip(FULL - world.scale * distance), world.moved(state, action, 40)


def _steps(world: World, h: int, state: list[int], action: list[int]) -> tuple[int, list[int]]:
    """Every step pays for another action and moves another way: sharing must end."""
    reward = _clip(FULL - 2 * abs(action[0] - world.targets[h]))
    return reward, [_clip((x + world.targets[h]) // 2) for x in state]


def _pieces(world: World, h: int, state: list[int], action: list[int]) -> tuple[int, list[int]]:
    """A piecewise constant reward with noise."""
    reward = world.pieces[(state[0] >> 13) * 8 + (action[0] >> 13)]
    return _clip(reward + world.rng.gauss(0, 6000)), world.moved(state, action, 4000)


def _noise(world: World, h: int, state: list[int], action: list[int]) -> tuple[int, list[int]]:
    """Nothing depends on anything: balls everywhere, counts in every cell."""
    return world.rng.randrange(FULL + 1), world.point()


def _edges(world: World, h: int, state: list[int], action: list[int]) -> tuple[int, list[int]]:
    """Only values beside a border of cells or of the range."""
    return world.rng.choice(EDGES), [world.rng.choice(EDGES) for _ in state]


def _burst(world: World, h: int, state: list[int], action: list[int]) -> tuple[int, list[int]]:
    """One state again and again, three ways out: full sample counts and halved next-state counts."""
    reward = FULL if world.count // 1000 % 2 else _clip(action[0] - world.rng.randrange(999))
    return reward, list(world.points[world.rng.choice((0, 0, 0, 1, 2))])


def _jump(world: World, h: int, state: list[int], action: list[int]) -> tuple[int, list[int]]:
    """The best action changes every few hundred steps: alarms and restarts."""
    target = world.targets[0] if world.count // 700 % 2 else FULL - world.targets[0]
    reward = FULL - 3 * abs(action[0] - target) if world.count % 1400 < 900 else 0
    return _clip(reward), world.moved(state, action, 1)


def _sweep(world: World, h: int, state: list[int], action: list[int]) -> tuple[int, list[int]]:
    """States wander slowly through the space: what was learnt before must make room."""
    place = world.count * 37 & FULL
    state = [_clip(place + world.rng.randrange(-1500, 1500)) for _ in state]
    return _clip(FULL - 4 * abs(action[0] - place)), state


KINDS: dict[str, Callable[[World, int, list[int], list[int]], tuple[int, list[int]]]] = {
    "peak": _peak,
    "steps": _steps,
    "pieces": _pieces,
    "noise": _noise,
    "edges": _edges,
    "burst": _burst,
    "jump": _jump,
    "sweep": _sweep,
}
