"""What each recorded stream of tests/vectors covers: a configuration and the world it meets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.exact.model import thresholds


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


PAPER = {"mode": 1, "split_counts": 1}
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
        {"d_a": 2, "mode": 1, "share": 1, **GROW},
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
        "three by three: codes of 15 bits, three chunks a level, two in the held step, whose actions get finer",
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
        runs=1,
    ),
    Recipe(
        "detect-1-1-h1",
        "rewards collapse twice: an alarm as soon as one may be, and one as the drop says; held episodes anew",
        {"horizon": 1, "share": 1, "detect": 1, "auto_bonus": 1},
        30,
        230,
        "change",
    ),
    Recipe(
        "random-1-3-h5-freeze",
        "random actions, own samples, full pool without reclaiming",
        {"d_a": 3, "split_counts": 1, "when_full": 1, "random_action": 1, **GROW},
        0,
        40,
    ),
    Recipe(
        "paper-3-1-h16-auto",
        "paper in three state dimensions, sharing on trial",
        {"d_s": 3, "horizon": 16, "mode": 1, "share": 2, **GROW, "bonus": 0},
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
        {"when_full": 1, **GROW, "auto_bonus": 1},
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
        "a world that hardly moves: the finest level, where a count has one bit; one action held again and again",
        {"d_s": 2, "horizon": 3, "share": 1, "thresholds": EAGER, "split_counts": 1, "bonus": 0},
        300,
        75,
        "still",
        runs=1,
    ),
    Recipe(
        "saturate-3-2-h2-paper",
        "the same in paper mode, where halving goes through a chain",
        {"d_s": 3, "d_a": 2, "horizon": 2, "mode": 1, "thresholds": EAGER, "bonus": 0},
        300,
        75,
        "still",
    ),
    Recipe(
        "starved-1-1-h16-freeze",
        "four steps take all units before the others are met: roots without a record",
        {"horizon": 16, "when_full": 1, "thresholds": EAGER, "bonus": 1024},
        0,
        36,
        "late",
    ),
    Recipe(
        "taught-1-1-h5",
        "actions of somebody else in most episodes, in some beside its own",
        {"share": 2, "detect": 1, "auto_bonus": 1, "bonus": 0},
        200,
        120,
        "taught",
    ),
    Recipe(
        "taught-2-2-h3-reclaim",
        "the same with two of each, a tree per step and a full pool",
        {"d_s": 2, "d_a": 2, "horizon": 3, "share": 0, **GROW, "auto_bonus": 1},
        10,
        70,
        "taught",
    ),
    Recipe(
        "taught-1-3-h2-paper",
        "the same in paper mode",
        {"d_a": 3, "horizon": 2, "mode": 1, "share": 1, **GROW},
        60,
        70,
        "taught",
    ),
    Recipe(
        "scan-1-1-h2",
        "a state with more balls than a scan visits",
        {"horizon": 2, "share": 1, "split_counts": 1, "thresholds": [1] * 15, "bonus": 32767},
        700,
        70,
        "still",
    ),
    Recipe(
        "scan-1-2-h2",
        "the same with more than one chunk per level, and at the last step",
        {"d_a": 2, "horizon": 2, "share": 1, "split_counts": 1, "thresholds": [1] * 15, "bonus": 32767},
        900,
        100,
        "still",
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
        "long-calm-1-1-h5",
        "hardly any noise: early splits, also below the thresholds; finer actions spread; glitches are cut",
        {"share": 1, "detect": 1, "auto_bonus": 1, "bonus": 0},
        300,
        0,
        "calm",
        runs=5,
    ),
    Recipe(
        "long-paper-2-1-h5", "paper, long chains of counts, reclaiming", {"d_s": 2, **PAPER, **GROW}, 250, 0, runs=6
    ),
    Recipe(
        "long-tracking-2-2-h5",
        "tracking, reclaiming at a steady full pool, counts that saturate, a bonus that fades",
        {"d_s": 2, "d_a": 2, "share": 1, "auto_bonus": 1, "bonus": 0, **GROW},
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


def recipe_named(name: str) -> Recipe:
    return next(recipe for recipe in RECIPES if recipe.name == name)
