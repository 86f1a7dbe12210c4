"""Write the recorded streams of this folder from the exact reference: `make vectors`.

    python tests/vectors/generate.py            write every file and manifest.json
    python tests/vectors/generate.py --list     names and what each covers
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exact_model import Config, thresholds
from exact_reference import Exact, init, required_words
from replay import HERE, Call, digest, run

from adamb.firmware_model import _spec as spec


@dataclass(frozen=True)
class Recipe:
    """A configuration and the stream it is recorded on; `spare` is in units beyond the least block."""

    name: str
    covers: str
    config: dict[str, Any]
    spare: int
    episodes: int
    world: str = "follow"
    runs: int = 0


PAPER = {"paper": 1, "own": 1}
GROW = {"thresholds": thresholds(1, 1, 1)}
EAGER = [1, 2, 2, 3, 3, 4, 4] + [spec.THRESHOLD_NEVER] * 8

RECIPES = [
    Recipe(
        "default-1-1-h5",
        "the defaults of the command line on a world whose steps differ: the sharing test ends in a restart",
        {"share": 2, "detect": 1, "auto_bonus": 1, "bonus": 0},
        200,
        70,
        "steps",
    ),
    Recipe(
        "paper-1-1-h5",
        "paper, own samples, thresholds of gamma 3",
        {**PAPER, "thresholds": thresholds(3, 2, 1), "bonus": 2048},
        100,
        60,
    ),
    Recipe(
        "paper-1-2-h5-reclaim",
        "paper, inherited samples, one tree for all steps, a pool that is always full",
        {"d_a": 2, "paper": 1, "share": 1, **GROW},
        4,
        40,
        runs=2,
    ),
    Recipe(
        "tracking-2-1-h16-reclaim",
        "tracking, a tree per step, full pool; chunks of two and one bits",
        {"d_s": 2, "horizon": 16, **GROW, "auto_bonus": 1},
        6,
        15,
        runs=2,
    ),
    Recipe(
        "tracking-2-2-h1",
        "one step only: no next values; an automatic sharing test that never ends",
        {"d_s": 2, "d_a": 2, "horizon": 1, "share": 2, "bonus": 300},
        60,
        160,
        runs=2,
    ),
    Recipe(
        "paper-2-2-h5-reclaim",
        "paper, own samples, full pool: chains of counts, folding, V nodes given back",
        {"d_s": 2, "d_a": 2, **PAPER, **GROW, "bonus": 512},
        20,
        35,
        runs=2,
    ),
    Recipe(
        "tracking-3-3-h5-shared",
        "three by three: codes of 15 bits, three chunks a level",
        {"d_s": 3, "d_a": 3, "share": 1, **GROW, "seed": 0},
        120,
        30,
        runs=2,
    ),
    Recipe(
        "tracking-1-2-h31-auto",
        "the longest horizon, ten fraction bits",
        {"d_a": 2, "horizon": 31, "share": 2, "bonus": 32767, "auto_bonus": 0},
        40,
        8,
    ),
    Recipe(
        "detect-1-1-h1",
        "rewards collapse twice: an alarm as soon as one may be, and one as soon as the drop says so",
        {"horizon": 1, "detect": 1, "auto_bonus": 1},
        30,
        170,
        "change",
    ),
    Recipe(
        "random-1-3-h5-freeze",
        "random actions, own samples, full pool without reclaiming",
        {"d_a": 3, "own": 1, "freeze": 1, "random_action": 1, **GROW},
        0,
        40,
    ),
    Recipe(
        "paper-3-1-h16-auto",
        "paper in three state dimensions, sharing on trial",
        {"d_s": 3, "horizon": 16, "paper": 1, "share": 2, **GROW, "bonus": 0},
        30,
        12,
        runs=2,
    ),
    Recipe(
        "paper-1-1-h31-random",
        "paper with random actions and the given bonus",
        {"horizon": 31, **PAPER, "random_action": 1, "bonus": 4096},
        60,
        8,
    ),
    Recipe(
        "tracking-1-1-h5-freeze",
        "full pool without reclaiming: samples go to parents and to nearest cells",
        {"freeze": 1, **GROW, "auto_bonus": 1},
        2,
        55,
        "narrow",
    ),
    Recipe(
        "order-2-1-h5",
        "wrong order, steps out of range, steps left out or repeated: codes, and what they leave alone",
        {"d_s": 2, "share": 1, "detect": 1},
        40,
        45,
        "disorder",
    ),
    Recipe(
        "saturate-2-1-h3",
        "a world that hardly moves: the finest level, where a count has one bit; halving in tracking",
        {"d_s": 2, "horizon": 3, "thresholds": EAGER, "own": 1, "bonus": 0},
        300,
        75,
        "still",
    ),
    Recipe(
        "saturate-3-2-h2-paper",
        "the same in paper mode, where halving goes through a chain",
        {"d_s": 3, "d_a": 2, "horizon": 2, "paper": 1, "thresholds": EAGER, "bonus": 0},
        300,
        75,
        "still",
    ),
    Recipe(
        "starved-1-1-h16-freeze",
        "four steps take all units before the others are met: roots without a record",
        {"horizon": 16, "freeze": 1, "thresholds": EAGER, "bonus": 1024},
        0,
        36,
        "late",
    ),
    Recipe(
        "long-default-1-1-h5",
        "the defaults where steps do not differ: the sharing test ends and its table returns",
        {"share": 2, "detect": 1, "auto_bonus": 1, "bonus": 0},
        180,
        0,
        runs=12,
    ),
    Recipe(
        "long-paper-2-1-h5",
        "paper, long chains of counts, reclaiming",
        {"d_s": 2, **PAPER, **GROW},
        250,
        0,
        runs=6,
    ),
    Recipe(
        "long-tracking-2-2-h5",
        "tracking, reclaiming at a steady full pool, counts that saturate",
        {"d_s": 2, "d_a": 2, "share": 1, **GROW},
        150,
        0,
        runs=6,
    ),
    Recipe(
        "long-one-ball-h1",
        "a ball that never splits, until its 13-bit count stops",
        {"horizon": 1, "thresholds": [65535] * 15, "bonus": 1024},
        0,
        0,
        runs=90,
    ),
]
RUN_EPISODES = 100


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
        if self.kind == "change" and (50 <= episode < 66 or episode >= 145):
            reward //= 8
        if self.kind not in ("steps", "still") and self.below(5) == 0:
            reward = self.below(65536)
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
        line, action = called(controller, Call("act", h, point=world.state), config.d_a)
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


def recipe_named(name: str) -> Recipe:
    return next(recipe for recipe in RECIPES if recipe.name == name)


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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="names and what each covers")
    if parser.parse_args().list:
        for recipe in RECIPES:
            print(f"{recipe.name}: {recipe.covers}")
        return 0
    write_all(HERE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
