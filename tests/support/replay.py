"""Replay recorded streams on an implementation, and say where it first leaves the exact reference.

    python tests replay tests/vectors/NAME.jsonl --core c        (or python, or exact)

tests/vectors/README.md describes the format.
"""

from __future__ import annotations

import argparse
import json
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adamb.firmware_model.exact import reference as exact
from adamb.firmware_model.exact.memory import CountsUnit, Record, Routing, TableUnit, VNode
from adamb.firmware_model.exact.model import HEADER_WORDS, STEP_WORDS, Config, Model
from adamb.firmware_model.exact.streams import Call, digest, run
from support.paths import VECTORS

TWINS = ("c", "python")
CORES = (*TWINS, "exact")
WORD_NAMES: dict[type, tuple[str, ...]] = {
    Record: ("link", "n", "reward", "counts"),
    Routing: ("slot 0", "slot 1", "slot 2", "slot 3"),
    VNode: ("slot 0", "slot 1", "aux 0", "aux 1"),
    CountsUnit: ("word 0", "word 1", "word 2", "word 3"),
    TableUnit: ("key 0", "outcome 0", "key 1", "outcome 1"),
}


def vector_files() -> list[Path]:
    return sorted(VECTORS.glob("*.jsonl"))


class ExactCore:
    """The reference behind the interface of the twins, whose block is an array."""

    def __init__(self, controller: exact.Exact) -> None:
        self.exact = controller
        self.act = controller.act
        self.observe = controller.observe
        self.end_episode = controller.end_episode

    @property
    def w(self) -> array:
        return array("H", self.exact.words())


def start(core: str, config: Config, words: int) -> Any:
    """A controller of the named implementation in a block of arbitrary words, or its error code."""
    if core == "exact":
        made = exact.init(config, words)
        return made if isinstance(made, int) else ExactCore(made)
    block = array("H", [0xA5A5] * words)
    if core == "c":
        from adamb.firmware_model.host import binding

        return binding.init(config, block)
    from adamb.firmware_model import core as twin

    fields = config.as_dict() | {"thresholds": array("H", config.thresholds)}
    return twin.init(twin.Config(**fields), block)


def field_name(m: Model, index: int) -> str:
    """What a word of the block holds, by the names of SPEC.md."""
    if index < len(HEADER_WORDS):
        return f"header.{HEADER_WORDS[index]}"
    if index < m.steps_at:
        return f"thresholds[{index - len(HEADER_WORDS)}]"
    at = index - m.steps_at
    if at < len(STEP_WORDS) * m.horizon:
        return f"step[{at // len(STEP_WORDS)}].{STEP_WORDS[at % len(STEP_WORDS)]}"
    unit, word = divmod(index, 4)
    if unit < m.pool_at or unit >= m.units:
        return "padding"
    resident = m.pool.residents.get(unit)
    if resident is None:
        return f"unit {unit} ({'free' if unit in m.pool.free else 'not used'}) word {word}"
    kind = type(resident)
    return f"unit {unit} ({kind.__name__}) {WORD_NAMES[kind][word]}"


def first_difference(reference: exact.Exact, block: array) -> str | None:
    """The first word in which a block differs from the reference, named; None if there is none."""
    expected = array("H", reference.words())
    if expected == block:
        return None
    for i, (want, got) in enumerate(zip(expected, block, strict=True)):
        if want != got:
            return f"word {i}, {field_name(reference.m, i)}: exact {want:#06x}, got {got:#06x}"
    raise AssertionError("equal blocks that compare unequal")


class Mismatch(AssertionError):
    """A difference between an implementation and a recorded stream."""


@dataclass
class Replay:
    """One file on one implementation; `deep` compares every word with the reference after each call."""

    path: Path
    core: str
    deep: bool = False
    start: Callable[[Config, int], Any] | None = None
    """In place of a named implementation: a controller, which may have the code of its init as `code`."""

    def __post_init__(self) -> None:
        self.line = 0
        self.step = 0
        self.config = Config()
        self.controller: Any = None
        self.reference: exact.Exact | None = None

    def fail(self, what: str) -> None:
        raise Mismatch(
            f"{self.path.name}, line {self.line}, call {self.step}, core {self.core}: {what}\n"
            f"replay: python tests replay {self.path} --core {self.core}"
        )

    def expect(self, what: str, want: Any, got: Any) -> None:
        if want != got:
            self.fail(f"{what}: recorded {want}, got {got}")

    def begin(self, head: dict[str, Any]) -> None:
        self.config = Config(**head["config"])
        made = self.start(self.config, head["words"]) if self.start else start(self.core, self.config, head["words"])
        self.controller = getattr(made, "code", 0) or made
        if isinstance(self.controller, int):
            self.fail(f"init: recorded 0, got {self.controller}")
        if self.deep:
            made = exact.init(self.config, head["words"])
            assert isinstance(made, exact.Exact)
            self.reference = made
        self.compare("init")
        self.expect("digest after init", head["digest"], digest(self.controller.w))

    def compare(self, what: str) -> None:
        if self.reference:
            difference = first_difference(self.reference, self.controller.w)
            if difference:
                self.fail(f"after {what}: {difference}")

    def after(self, call: Call) -> None:
        self.step += 1
        self.compare(f"{call.name} of step {call.h}")

    def one(self, call: Call, want_code: int, want_action: list[int]) -> None:
        code, action = call.apply(self.controller, self.config.d_a)
        if self.reference:
            call.apply(self.reference, self.config.d_a)
        self.expect(f"result of {call.name} of step {call.h}", want_code, code)
        self.expect("action", want_action, action)
        self.after(call)

    def long_run(self, seed: int, episodes: int) -> None:
        mine = run(self.controller, self.config, seed, episodes)
        theirs = run(self.reference, self.config, seed, episodes) if self.reference else None
        for call, code, action in mine:
            self.expect(f"result of {call.name} of step {call.h}", 0, code)
            if theirs:
                self.expect("action", next(theirs)[2], action)
            self.after(call)

    def play(self) -> int:
        """Replay the whole file; the number of calls. Raises Mismatch at the first difference."""
        for line in self.path.read_text().splitlines():
            self.line += 1
            row = json.loads(line)
            if isinstance(row, dict):
                self.begin(row)
                continue
            kind, *rest = row
            if kind == "act":
                h, state, code, action = rest
                self.one(Call("act", h, point=tuple(state)), code, action)
            elif kind == "given":
                h, state, action, code = rest
                self.one(Call("given", h, point=tuple(state), action=tuple(action)), code, [])
            elif kind == "observe":
                h, reward, next_state, code = rest
                self.one(Call("observe", h, reward, tuple(next_state)), code, [])
            elif kind == "end":
                code, crc = rest
                self.one(Call("end"), code, [])
                self.expect("digest after end_episode", crc, digest(self.controller.w))
            else:
                seed, episodes, crc = rest
                self.long_run(seed, episodes)
                self.expect("digest after run", crc, digest(self.controller.w))
        return self.step


def replay(path: Path, core: str) -> int:
    """Replay a file; on a mismatch replay again beside the reference, to name the first word that differs."""
    try:
        return Replay(path, core).play()
    except Mismatch as shallow:
        if core == "exact":
            raise Mismatch(f"{shallow}\nthe recorded file is stale: make core") from None
        Replay(path, "exact").play()
        Replay(path, core, deep=True).play()
        raise


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="default: every file of tests/vectors")
    parser.add_argument("--core", choices=CORES, default="c")
    options = parser.parse_args()
    for path in options.files or vector_files():
        try:
            print(f"{path.name}: {replay(path, options.core)} calls agree")
        except Mismatch as difference:
            print(difference)
            return 1
    return 0
