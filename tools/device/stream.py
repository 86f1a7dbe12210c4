"""A recorded stream: what a controller saw, so that every target can replay the same run.

States and rewards are fixed in the stream; actions are not replayed but compared, and after every episode the
whole block is compared by its CRC-32. A target that computes one bit differently is found in the episode
where it happens.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from adamb.firmware_model.host.errors import AdambError
from adamb.host_sim.problem import Problem

FULL_SCALE = 65536


class TargetCore(Protocol):
    """A controller on some target, driven one call at a time."""

    def act(self, h: int, state: Sequence[int]) -> tuple[int, ...]: ...
    def observe(self, h: int, reward: int, next_state: Sequence[int]) -> None: ...
    def end_episode(self) -> None: ...
    def block(self) -> bytes: ...


class Diverged(AdambError):
    """A target computed another word than the C core of this computer."""


@dataclass(frozen=True)
class Stream:
    """Q0.16 words: states and next states (K, H, d_s), rewards (K, H), actions (K, H, d_a).

    `config` is the configuration structure as the C core lays it out (bytes and half-words only, so the same
    on every little-endian target), `words` the length of the block.
    """

    title: str
    config: bytes
    words: int
    states: np.ndarray
    rewards: np.ndarray
    next_states: np.ndarray
    actions: np.ndarray
    digests: tuple[int, ...]

    @property
    def episodes(self) -> int:
        return int(self.states.shape[0])

    @property
    def horizon(self) -> int:
        return int(self.states.shape[1])

    def first(self, episodes: int) -> Stream:
        """The stream as far as these episodes."""
        arrays = ("states", "rewards", "next_states", "actions", "digests")
        return replace(self, **{name: getattr(self, name)[:episodes] for name in arrays})

    def inputs(self) -> bytes:
        """Per step: state, reward, next state, as half-words; what the programs on a target read."""
        rewards = self.rewards[:, :, None]
        joined = np.concatenate([self.states, rewards, self.next_states], axis=2)
        return joined.astype("<u2").tobytes()


def to_words(values: np.ndarray) -> np.ndarray:
    """[0, 1] as Q0.16, rounded down; 1 becomes the largest word."""
    return np.minimum(values * FULL_SCALE, FULL_SCALE - 1).astype(np.uint16)


def digest(block: bytes) -> int:
    return zlib.crc32(block)


def record(title: str, problem: Problem, core: TargetCore, config: bytes, words: int, episodes: int) -> Stream:
    """Let `core` play instance 0 of `problem` and write down what happened."""
    shape = (episodes, problem.horizon)
    states = np.zeros((*shape, problem.d_s), np.uint16)
    next_states = np.zeros_like(states)
    rewards = np.zeros(shape, np.uint16)
    actions = np.zeros((*shape, problem.d_a), np.uint16)
    digests = []
    for k in range(episodes):
        current = problem.begin_episode()
        for h in range(problem.horizon):
            states[k, h] = to_words(current[0])
            actions[k, h] = core.act(h, states[k, h].tolist())
            chosen = np.repeat(actions[k, h][None, :] / FULL_SCALE, problem.n, axis=0)
            reward, current = problem.step(h, chosen)
            # Rounded to the nearest, as the simulator does.
            rewards[k, h] = to_words(reward[:1] + 0.5 / FULL_SCALE)[0]
            next_states[k, h] = to_words(current[0])
            core.observe(h, int(rewards[k, h]), next_states[k, h].tolist())
        core.end_episode()
        digests.append(digest(core.block()))
    return Stream(title, config, words, states, rewards, next_states, actions, tuple(digests))


def replay(stream: Stream, core: TargetCore, *, stop: Callable[[], bool] = lambda: False) -> None:
    """Replay the stream on a target; the first difference is an exception that names episode and step."""
    for k in range(stream.episodes):
        for h in range(stream.horizon):
            played = tuple(core.act(h, stream.states[k, h].tolist()))
            recorded = tuple(stream.actions[k, h].tolist())
            if played != recorded:
                text = f"action {played}, recorded {recorded}"
                raise Diverged(f"{stream.title}: episode {k} step {h}: {text}")
            core.observe(h, int(stream.rewards[k, h]), stream.next_states[k, h].tolist())
        core.end_episode()
        found = digest(core.block())
        if found != stream.digests[k]:
            text = f"block {found:#010x}, recorded {stream.digests[k]:#010x}"
            raise Diverged(f"{stream.title}: episode {k}: {text}")
        if stop():
            return
