"""The partition of any learner as boxes with a Q, for pictures of one state and one action dimension.

AdaMB's partition is read from its block, that of a compiled tree by asking for the balls at points. A grid is
watched from outside while it plays. (Grids with a model renew a state's other actions as well; the picture
shows each cell as it was when last played.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim.agent import Agent
from adamb.host_sim.blocks.view import BlockView
from adamb.host_sim.runner import simulate


@dataclass(frozen=True)
class Box:
    """A ball or cell: its lower corner, its side, its Q, and whether it was ever played."""

    state: float
    action: float
    side: float
    q: float
    visited: bool


def play_and_view(problem: Any, make: Callable[[], Agent]) -> Callable[[int], list[Box]]:
    """Let one learner play all episodes; the answer gives the boxes of a step."""
    if (problem.d_s, problem.d_a, problem.n) != (1, 1, 1):
        raise InputError("dims", f"{problem.d_s}+{problem.d_a}", "a partition is drawn for 1+1 and one seed")
    agent = make()
    blocks = getattr(agent, "blocks", None)
    if blocks is not None:
        simulate(problem, agent)
        return lambda h: _block_boxes(BlockView(blocks[0]), h)
    if hasattr(agent, "balls"):
        simulate(problem, agent)
        return lambda h: _tree_boxes(agent, h)
    watcher = Watcher(agent)
    simulate(problem, watcher)
    return watcher.boxes


def _block_boxes(view: BlockView, h: int) -> list[Box]:
    found = []
    for ball in view.balls(h):
        (state, action), side = view.box(ball)
        found.append(Box(state, action, side, view.q(ball, h), ball.visited))
    return found


def _tree_boxes(agent: Any, h: int) -> list[Box]:
    """From the whole square down: a part whose ball is smaller has four parts."""
    found: list[Box] = []
    corners, level = np.zeros((1, 2)), 0
    while len(corners):
        side = 0.5**level
        middles = corners + side / 2
        balls = agent.balls(0, h, middles[:, :1], middles[:, 1:])
        whole = balls[:, 1] == level
        for (state, action), (q, _, n) in zip(corners[whole], balls[whole], strict=True):
            found.append(Box(float(state), float(action), side, float(q), bool(n)))
        parts = [corners[~whole] + np.array((i, j)) * side / 2 for i in (0, 1) for j in (0, 1)]
        corners, level = np.concatenate(parts), level + 1
    return found


class Watcher(Agent):
    """Stands between a problem and one grid, and writes down what is played."""

    def __init__(self, agent: Any) -> None:
        super().__init__(agent.shape)
        if not hasattr(agent, "played") or not hasattr(agent, "offset"):
            raise InputError("agent", agent.name, "has no partition to draw")
        self.agent, self.name = agent, agent.name
        self.seen: list[dict[tuple[int, int], float]] = [{} for _ in range(agent.horizon)]
        self._at: list[tuple[float, float]] = [(0.0, 0.0)] * agent.horizon

    def act(self, h: int, states: np.ndarray) -> np.ndarray:
        actions = self.agent.act(h, states)
        self._at[h] = float(states[0, 0]) + self.agent.offset, float(actions[0, 0]) + self.agent.offset
        return actions

    def observe(self, h: int, rewards: np.ndarray, next_states: np.ndarray) -> None:
        self.agent.observe(h, rewards, next_states)
        size = self.agent.size
        state, action = (min(int(at * size), size - 1) for at in self._at[h])
        self.seen[h][state, action] = self.agent.played(0, h)[0]

    def end_episode(self) -> None:
        self.agent.end_episode()

    def stats(self) -> dict[str, np.ndarray]:
        return self.agent.stats()

    def boxes(self, h: int) -> list[Box]:
        size, most = self.agent.size, float(self.horizon - h)
        seen, offset = self.seen[h], self.agent.offset
        return [
            Box(i / size - offset, j / size - offset, 1 / size, seen.get((i, j), most), (i, j) in seen)
            for i in range(size)
            for j in range(size)
        ]
