"""Prove what docs/reliability.md says of the C core with CBMC: `python tests prove`.

The harnesses are tests/proof/*.c; tests/proof/proof.h says how a loop is cut. This module puts the cut points
into a copy of the core, runs the tool, and prints a table.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support.paths import CORE, ROOT, TESTS
from support.proofs import PROOFS, Proof

HARNESSES = TESTS / "proof"
FETCHED = ROOT / "build" / "cbmc" / "cbmc"
MISSING = "cbmc is not installed: apt-get install cbmc (Debian 13 or newer), or run .ci/cbmc to fetch it"
CHECKS = ("--unwinding-assertions", "--pointer-overflow-check")
NO_CHECKS = ("--no-standard-checks", "--no-unwinding-assertions", "-DPROOF_REACHED")
COMMON = ("--slice-formula", "--drop-unused-functions")
LOOP = re.compile(r"\b(?:for|while) \(")


class Stale(Exception):
    """The core has no such loop or function any more: a harness must follow it."""


@dataclass(frozen=True)
class Outcome:
    good: bool
    said: str
    seconds: float


def find_tool() -> str | None:
    return os.environ.get("CBMC") or shutil.which("cbmc") or (str(FETCHED) if FETCHED.exists() else None)


def _span(text: str, function: str) -> tuple[int, int] | None:
    head = re.search(rf"^\w[\w \*]*\b{function}\([^;{{]*\)\n\{{", text, re.MULTILINE)
    return (head.start(), text.index("\n}\n", head.end())) if head else None


def _body(text: str, loop: int) -> int:
    """The place behind the brace that opens the body of the loop."""
    depth, place = 0, text.index("(", loop)
    while True:
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        place += 1
        if depth == 0:
            return text.index("{", place) + 1


def _lines(harness: str) -> Iterator[str]:
    """The lines of a harness, those of the headers beside it in their places."""
    for line in harness.splitlines():
        header = re.fullmatch(r'#include "(\w+\.h)"', line)
        if header and (HARNESSES / header[1]).exists():
            yield from _lines((HARNESSES / header[1]).read_text(encoding="utf-8"))
        yield line


def _with_contracts(sources: dict[str, str], harness: str) -> dict[str, str]:
    """The core with the calls replaced that a harness has replaced before it includes a file."""
    contracts: dict[str, str] = {}
    changed = dict(sources)
    for line in _lines(harness):
        if found := re.fullmatch(r"#define CALL_(\w+) (\w+)", line):
            contracts[found[1]] = found[2]
        elif (found := re.fullmatch(r'#include "(\w+\.c)"', line)) and contracts:
            call = re.compile(rf"\b({'|'.join(contracts)})\(")
            lines = sources[found[1]].splitlines(keepends=True)
            changed[found[1]] = "".join(
                call.sub(lambda name: f"{contracts[name[1]]}(", each) if each[0] in " \t" else each for each in lines
            )
    return changed


def cut(sources: dict[str, str], harness: str) -> dict[str, str]:
    """The core with what a harness defines: contracts for calls, and cut points in the files that it includes."""
    sources = _with_contracts(sources, harness)
    edits: dict[str, list[tuple[int, str]]] = {name: [] for name in sources}
    included = set(re.findall(r'^#include "(\w+\.c)"', harness, re.MULTILINE))
    cuts = re.findall(r"^#define CUT_(\w+)_(\d+)\b", harness, re.MULTILINE)
    befores = re.findall(r"^#define BEFORE_(\w+)\b", harness, re.MULTILINE)
    for function, number in [*cuts, *((name, "") for name in befores)]:
        spans = {name: span for name in included & set(sources) if (span := _span(sources[name], function))}
        if len(spans) != 1:
            raise Stale(f"{function} is defined in {len(spans)} of the files that the harness includes, not in one")
        name, span = spans.popitem()
        if not number:
            edits[name].append((span[0], f"#include BEFORE_{function}\n"))
            continue
        loops = [found.start() for found in LOOP.finditer(sources[name], *span)]
        if len(loops) < int(number):
            raise Stale(f"{function} in {name} has {len(loops)} loops: there is no loop {number}")
        place = loops[int(number) - 1]
        edits[name].append((place, f"int cut_{number} = 1; uint64_t cut_measure_{number}; "))
        edits[name].append((_body(sources[name], place), f" CUT_{function}_{number}"))
    return {name: _edited(text, edits[name]) for name, text in sources.items()}


def _edited(text: str, edits: list[tuple[int, str]]) -> str:
    for place, what in sorted(edits, reverse=True):
        text = text[:place] + what + text[place:]
    return text


def _command(tool: str, proof: Proof, folder: Path, core: Path) -> list[str]:
    harness = HARNESSES / f"{proof.harness}.c"
    sources = {path.name: path.read_text(encoding="utf-8") for path in sorted(core.glob("*.[ch]"))}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in cut(sources, harness.read_text(encoding="utf-8")).items():
        (folder / name).write_text(text, encoding="utf-8")
    dims = [f"-DPROOF_DIMS={proof.d_s | proof.d_a << 4}"] if proof.d_a else []
    places = [f"-I{folder}", f"-I{HARNESSES}", "--function", f"prove_{proof.entry}"]
    return [tool, str(harness), *places, "--unwind", str(proof.rounds), *COMMON, *dims]


def _run(command: list[str]) -> tuple[str, float]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout + done.stderr, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def run(tool: str, proof: Proof, folder: Path, core: Path = CORE) -> Outcome:
    """Proved only if every check holds and the end can be reached under the assumptions."""
    command = _command(tool, proof, folder, core)
    said, seconds = _run([*command, *CHECKS])
    if "VERIFICATION SUCCESSFUL" not in said:
        failed = [line for line in said.splitlines() if line.endswith(": FAILURE")]
        return Outcome(False, "\n".join(failed[:5]) or said[-1000:], seconds)
    reached, more = _run([*command, *NO_CHECKS])
    if "reached: FAILURE" not in reached:
        return Outcome(False, "the assumptions contradict: the end is never reached", seconds + more)
    count = re.search(r"0 of (\d+) failed", said)
    return Outcome(True, f"{count[1] if count else '?'} checks", seconds + more)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="proofs whose function contains this text")
    parser.add_argument("--quick", action="store_true", help="leave out the slow ones")
    options = parser.parse_args()
    tool = find_tool()
    if tool is None:
        print(MISSING, file=sys.stderr)
        return 2
    chosen = [p for p in PROOFS if options.only in p.function and not (options.quick and p.slow)]
    print(f"{'function':28} {'limits':26} {'property':56} result      seconds")
    failures = 0
    for proof in chosen:
        outcome = run(tool, proof, ROOT / "build" / "proof" / f"{proof.harness}-{proof.entry}")
        result = "proved" if outcome.good else "NOT PROVED"
        row = f"{proof.function:28} {proof.limits:26} {proof.what:56}"
        print(f"{row} {result:10} {outcome.seconds:8.1f}", flush=True)
        if not outcome.good:
            failures += 1
            print(outcome.said, file=sys.stderr, flush=True)
    print(f"{len(chosen) - failures} of {len(chosen)} proved")
    return 1 if failures else 0
