"""Recorded streams of the exact reference: calls with their results, and the digest of the block after each episode.

`make core` writes them; tests/vectors/README.md describes the format.
"""

from __future__ import annotations

import json
import random
import sys
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.exact.model import Config
from adamb.firmware_model.exact.numbers import xorshift
from adamb.firmware_model.exact.recipes import RECIPES, Recipe
from adamb.firmware_model.exact.reference import Exact, init, required_words

RUN_EPISODES = 100


def digest(words: Any) -> str:
    """CRC-32 of the block, low byte of every word first."""
    block = words if isinstance(words, array) else array("H", words)
    if sys.byteorder == "big":
        block = array("H", block)
        block.byteswap()
    return f"{zlib.crc32(block.tobytes()):08x}"


@dataclass
class Call:
    """One call: its arguments and everything that can be seen of its result."""

    name: str
    h: int = 0
    reward: int = 0
    point: tuple[int, ...] = ()
    action: tuple[int, ...] = ()

    def apply(self, controller: Any, d_a: int) -> tuple[int, list[int]]:
        action = array("H", [0] * d_a)
        if self.name == "given":
            return controller.given(self.h, self.point, self.action), []
        if self.name == "act":
            code = controller.act(self.h, self.point, action)
            return code, list(action) if code == 0 else []
        if self.name == "observe":
            return controller.observe(self.h, self.reward, self.point), []
        return controller.end_episode(), []


def run(controller: Any, config: Config, seed: int, episodes: int) -> Iterator[tuple[Call, int, list[int]]]:
    """Drive a controller through a `run` line; every call with its result."""
    x = seed
    state = [32768] * config.d_s
    for _ in range(episodes):
        for h in range(config.horizon):
            act = Call("act", h, point=tuple(state))
            code, action = act.apply(controller, config.d_a)
            yield act, code, action
            reward = 65535 - abs(action[0] - state[0])
            for i in range(config.d_s):
                x = xorshift(x)
                state[i] = (state[i] >> 1) + (x >> 1)
            observe = Call("observe", h, reward, tuple(state))
            yield observe, *observe.apply(controller, config.d_a)
        end = Call("end")
        yield end, *end.apply(controller, config.d_a)


class World:
    """What follows an action. Draws with `random()` alone, which every Python version computes alike."""

    def __init__(self, recipe: Recipe, config: Config) -> None:
        self.kind = recipe.world
        self.episodes = recipe.episodes
        self.config = config
        self.random = random.Random(recipe.name).random
        self.state = self.point()

    def below(self, n: int) -> int:
        return int(self.random() * n)

    def point(self) -> tuple[int, ...]:
        if self.kind == "narrow":
            return tuple(30000 + self.below(4000) for _ in range(self.config.d_s))
        if self.kind == "still":
            return tuple(40000 + (self.below(6) == 0) * 2000 for _ in range(self.config.d_s))
        if self.below(4) == 0:
            return tuple((0, 16384, 49151, 65535)[self.below(4)] for _ in range(self.config.d_s))
        return tuple(self.below(65536) for _ in range(self.config.d_s))

    def follow(self, episode: int, h: int, action: list[int]) -> tuple[int, tuple[int, ...]]:
        reward = 65535 - abs(action[0] - self.state[0])
        if self.kind == "steps":
            reward = reward if h % 2 else 65535 - reward
        if self.kind == "change" and (50 <= episode < 90 or episode >= 170):
            reward //= 8
        if self.kind not in ("steps", "still", "calm") and self.below(5) == 0:
            reward = self.below(65536)
        if self.kind == "calm":
            self.state = tuple(action[: self.config.d_s]) if self.below(8) else self.point()
            return (reward if self.below(40) else 0), self.state
        there = self.point()
        if self.kind != "still" and self.below(8):
            there = tuple((x >> 1) + (y >> 1) for x, y in zip(self.state, there, strict=True))
        self.state = there
        return reward, self.state


def called(controller: Exact, call: Call, d_a: int) -> tuple[list[Any], list[int]]:
    """The line of a call, and the action it returned."""
    code, action = call.apply(controller, d_a)
    if call.name == "act":
        return ["act", call.h, list(call.point), code, action], action
    if call.name == "given":
        return ["given", call.h, list(call.point), list(call.action), code], list(call.action)
    return ["observe", call.h, call.reward, list(call.point), code], action


def episode_lines(controller: Exact, world: World, episode: int) -> Iterator[list[Any]]:
    config = world.config
    for h in range(config.horizon):
        if world.kind == "late" and h >= 4 and episode < world.episodes - 6:
            break
        if world.kind == "disorder":
            yield from disorder(controller, world, h)
            if world.below(6) == 0:
                continue
        act = Call("act", h, point=world.state)
        if world.kind == "taught" and episode % 40 < 25 and not (episode % 8 == 7 and h > 0):
            act = Call("given", h, point=world.state, action=tuple(world.below(65536) for _ in range(config.d_a)))
        line, action = called(controller, act, config.d_a)
        yield line
        reward, after = world.follow(episode, h, action)
        yield called(controller, Call("observe", h, reward, after), config.d_a)[0]
    yield ["end", controller.end_episode(), digest(controller.words())]


def disorder(controller: Exact, world: World, h: int) -> Iterator[list[Any]]:
    """Now and then a call that is refused, or one more than a well-behaved caller makes."""
    config = world.config
    which = world.below(8)
    if which == 0:
        yield called(controller, Call("observe", h, 1000, world.point()), config.d_a)[0]
    elif which == 1:
        yield called(controller, Call("act", config.horizon, point=world.point()), config.d_a)[0]
    elif which == 2:
        yield called(controller, Call("observe", -1, 1000, world.point()), config.d_a)[0]
    elif which == 3:
        yield called(controller, Call("act", h, point=world.point()), config.d_a)[0]
        yield called(controller, Call("observe", h, world.below(65536), world.point()), config.d_a)[0]
    elif which == 4:
        yield called(controller, Call("act", h, point=world.point()), config.d_a)[0]


def lines(recipe: Recipe) -> Iterator[Any]:
    """The file of a recipe, line by line."""
    config = Config(**recipe.config)
    words = required_words(config) + spec.UNIT_WORDS * recipe.spare
    controller = init(config, words)
    assert isinstance(controller, Exact), f"{recipe.name}: init gives {controller}"
    yield {
        "name": recipe.name,
        "covers": recipe.covers,
        "format": spec.FORMAT_VERSION,
        "spec_hash": spec.SPEC_HASH,
        "config": config.as_dict(),
        "words": words,
        "digest": digest(controller.words()),
    }
    world = World(recipe, config)
    for episode in range(recipe.episodes):
        yield from episode_lines(controller, world, episode)
    for i in range(recipe.runs):
        seed = 1 + 7 * i
        for _ in run(controller, config, seed, RUN_EPISODES):
            pass
        yield ["run", seed, RUN_EPISODES, digest(controller.words())]


def text(recipe: Recipe) -> str:
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines(recipe))


def write_all(folder: Path) -> None:
    for old in folder.glob("*.jsonl"):
        old.unlink()
    entries = {}
    for recipe in RECIPES:
        content = text(recipe)
        (folder / f"{recipe.name}.jsonl").write_text(content)
        last = json.loads(content.splitlines()[-1])[-1]
        entries[f"{recipe.name}.jsonl"] = {"covers": recipe.covers, "last_digest": last}
        print(f"{recipe.name}: {len(content.splitlines())} lines, {len(content)} bytes", flush=True)
    manifest = {"format": spec.FORMAT_VERSION, "spec_hash": spec.SPEC_HASH, "files": entries}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
