"""Drive the C core and the Python twin side by side and compare every word of their blocks after every call.

    python tests lockstep --seed 1 --cases 20 --steps 2000
    python tests lockstep --case '{"d_s": 2, ...}'

A difference names the step, the call, the word and what the word is, and prints the command that repeats it.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from array import array
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from random import Random
from typing import Any

from adamb.firmware_model import core as twin
from adamb.firmware_model.host import binding
from adamb.tools.inspect.word_names import word_name
from support.worlds import KINDS, World


class TwinsDiverged(Exception):
    """The twins do not hold the same words, or answered differently."""


@dataclass(frozen=True)
class Case:
    """All that a run depends on: a configuration, a budget above the smallest one, and an environment."""

    d_s: int = 1
    d_a: int = 1
    horizon: int = 5
    mode: int = 0
    split_counts: int = 0
    share: int = 2
    when_full: int = 0
    random_action: int = 0
    detect: int = 1
    auto_bonus: int = 1
    bonus: int = 0
    seed: int = 1
    gamma: int = 2
    phi_num: int = 1
    phi_den: int = 1
    extra_words: int = 1000
    world: str = "peak"
    world_seed: int = 1
    disorder: bool = False
    steps: int = 1000

    def config(self) -> Any:
        fields = {name: getattr(self, name) for name in binding.FIELDS}
        table = twin.thresholds(self.gamma, self.phi_num, self.phi_den)
        return twin.Config(thresholds=table, **fields)

    def command(self) -> str:
        """The shell command that repeats this run."""
        return "python tests lockstep --case " + shlex.quote(json.dumps(asdict(self)))


# For every counter and every turn of the controller that random cases and recorded streams seldom take.
CORNERS = {
    "deep": Case(gamma=1, extra_words=8000, steps=3000),
    "deep-2+2": Case(d_s=2, d_a=2, gamma=1, extra_words=8000, steps=2000),
    "deep per step": Case(d_s=2, gamma=1, share=0, horizon=2, extra_words=8000, steps=1500),
    "late splits": Case(gamma=1, phi_num=70, share=1, extra_words=3000, steps=1500),
    "steps-differ": Case(world="steps", share=2, steps=2000),
    "steps-alike": Case(world="pieces", share=2, horizon=12, steps=3000),
    "change": Case(world="jump", horizon=2, steps=4000),
    "held": Case(world="noise", d_s=2, d_a=3, share=1, horizon=3, steps=3000),
    "held-reclaim": Case(world="sweep", d_a=2, share=1, extra_words=60, steps=4000),
    "saturation": Case(world="burst", d_s=3, gamma=1, horizon=2, share=0, steps=3000),
    "saturation-paper": Case(world="burst", d_s=3, gamma=1, horizon=2, mode=1, steps=3000),
    "full-count": Case(world="burst", gamma=5, phi_num=60000, share=0, horizon=1, steps=9000, detect=0),
    "starved": Case(world="noise", d_s=2, d_a=3, extra_words=0, steps=2000),
    "starved-paper": Case(world="noise", mode=1, extra_words=0, steps=2000),
    "reclaim": Case(world="sweep", share=0, extra_words=300, steps=4000),
    "reclaim-3+3": Case(world="sweep", d_s=3, d_a=3, extra_words=600, steps=3000),
    "reclaim-one-step": Case(world="edges", horizon=1, gamma=1, share=0, extra_words=1600, steps=4000),
    "reclaim-paper": Case(world="sweep", mode=1, extra_words=300, steps=2000),
    "late-paper": Case(world="sweep", mode=1, phi_num=5, extra_words=300, steps=800),
    "own-paper": Case(world="noise", d_a=3, mode=1, split_counts=1, share=2, horizon=16, extra_words=900, steps=2000),
    "own": Case(
        world="noise", d_s=3, d_a=2, split_counts=1, random_action=1, share=1, horizon=8, extra_words=400, steps=2000
    ),
    "frozen": Case(world="pieces", when_full=1, extra_words=100, horizon=31, random_action=1, steps=2000),
    "disorder": Case(world="edges", disorder=True, d_s=2, steps=2000),
    "largest-block": Case(world="noise", extra_words=140_000, steps=60),
    "largest-bonus": Case(world="noise", auto_bonus=0, bonus=32767, horizon=1, d_a=2, steps=1500),
}


def draw_case(seed: int, steps: int) -> Case:
    """A random case; the same seed gives the same one."""
    rng = Random(seed)
    some = rng.randint
    return Case(
        d_s=some(1, 3), d_a=some(1, 3), horizon=rng.choice((1, 2, 3, 5, 7, 8, 12, 16, 31)),
        mode=int(rng.random() < 0.4), split_counts=some(0, 1), share=some(0, 2), when_full=int(rng.random() < 0.3),
        random_action=int(rng.random() < 0.2), detect=int(rng.random() < 0.7), auto_bonus=some(0, 1),
        bonus=rng.choice((0, 1, 400, 4096, some(0, 32767), 32767)), seed=some(0, 65535),
        gamma=rng.choice((1, 2, 2, 2, 3, 5)), phi_num=rng.choice((1, 1, 2, 7)), phi_den=rng.choice((1, 1, 3)),
        extra_words=rng.choice((0, 3, 40, 200, 1000, 4000, 16000)), world=rng.choice(list(KINDS)),
        world_seed=some(0, 2**32), disorder=rng.random() < 0.2, steps=steps,
    )  # fmt: skip


class Pair:
    """Both twins on one case; every call goes to both and is compared."""

    def __init__(self, case: Case) -> None:
        self.case, self.done = case, 0
        config = case.config()
        words = [twin.required_words(config), binding.required_words(config)]
        if words[0] != words[1]:
            raise TwinsDiverged(f"required_words: Python {words[0]}, C {words[1]}; {case.command()}")
        self.python_block = array("H", bytes(2 * (words[0] + case.extra_words)))
        self.c_block = array("H", self.python_block)
        self._python = binding.ffi.buffer(binding.ffi.from_buffer(self.python_block))
        self._c = binding.ffi.buffer(binding.ffi.from_buffer(self.c_block))
        self.python: Any = twin.init(config, self.python_block)
        self.c: Any = binding.init(config, self.c_block)
        self.python_action = array("H", bytes(2 * case.d_a))
        self.c_action = array("H", self.python_action)
        self.compare("init", 0, 0)

    def compare(self, call: str, python: int, c: int) -> int:
        if python != c:
            self.fail(call, f"Python returned {python}, C returned {c}")
        if self._python != self._c:
            pairs = zip(self.python_block, self.c_block, strict=True)
            i = next(i for i, (ours, theirs) in enumerate(pairs) if ours != theirs)
            what = word_name(self.c_block, i)
            self.fail(call, f"word {i} ({what}): Python {self.python_block[i]}, C {self.c_block[i]}")
        return python

    def fail(self, call: str, text: str) -> None:
        raise TwinsDiverged(f"step {self.done}, {call}: {text}\nrepeat: {self.case.command()}")

    def act(self, h: int, state: list[int]) -> int:
        python = self.python.act(h, state, self.python_action)
        c = self.c.act(h, state, self.c_action)
        if self.python_action != self.c_action:
            self.fail(f"act({h}, {state})", f"Python plays {self.python_action}, C {self.c_action}")
        return self.compare(f"act({h}, {state})", python, c)

    def given(self, h: int, state: list[int], action: list[int]) -> int:
        python, c = self.python.given(h, state, action), self.c.given(h, state, action)
        return self.compare(f"given({h}, {state}, {action})", python, c)

    def observe(self, h: int, reward: int, state: list[int]) -> int:
        python, c = self.python.observe(h, reward, state), self.c.observe(h, reward, state)
        return self.compare(f"observe({h}, {reward}, {state})", python, c)

    def end_episode(self) -> int:
        return self.compare("end_episode", self.python.end_episode(), self.c.end_episode())


def _disturb(pair: Pair, rng: Random, state: list[int]) -> None:
    """A call out of order, or for a step that does not exist."""
    h = rng.choice((-1, 0, pair.case.horizon - 1, pair.case.horizon, 255, rng.randrange(pair.case.horizon)))
    what = rng.randrange(7)
    if what == 0:
        pair.act(h, state)
    elif what <= 2:
        pair.observe(h, rng.randrange(65536), state)
    elif what == 3:
        pair.end_episode()
    elif what >= 5:
        pair.given(h, state, [rng.randrange(65536) for _ in range(pair.case.d_a)])
    else:
        pair.act(h, state)
        pair.act(h, state)


def _play(pair: Pair) -> Iterator[int]:
    case = pair.case
    world = World(case.world, case.world_seed, case.d_s, case.d_a, case.horizon)
    rng = Random(case.world_seed)
    state = world.start()
    while True:
        for h in range(case.horizon):
            if case.disorder and rng.random() < 0.1:
                _disturb(pair, rng, state)
            pair.act(h, state)
            reward, state = world.step(h, state, list(pair.python_action))
            yield pair.observe(h, reward, state)
        pair.end_episode()
        state = world.start() if rng.random() < 0.5 else state


def run_case(case: Case, changes: dict[int, int] | None = None) -> Pair:
    """Run one case to its end; raises TwinsDiverged at the first difference, or when the block is damaged.

    `changes` are words to set in both blocks before the first step, to start near the end of a range.
    """
    pair = Pair(case)
    for index, word in (changes or {}).items():
        pair.python_block[index] = pair.c_block[index] = word
    for _ in _play(pair):
        pair.done += 1
        if pair.done >= case.steps:
            break
    if pair.c.check() != 0:
        pair.fail("check", "the block is damaged")
    return pair


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--case", type=json.loads, help="one case as JSON, as a difference prints it")
    parser.add_argument("--seed", type=int, default=1, help="of the first random case")
    parser.add_argument("--cases", type=int, default=10, help="how many random cases")
    parser.add_argument("--steps", type=int, default=1000, help="steps of each")
    options = parser.parse_args()
    drawn = [draw_case(options.seed + i, options.steps) for i in range(options.cases)]
    try:
        done = sum(run_case(case).done for case in ([Case(**options.case)] if options.case else drawn))
    except TwinsDiverged as difference:
        print(difference, file=sys.stderr)
        return 1
    print(f"{done} steps, all words equal")
    return 0
