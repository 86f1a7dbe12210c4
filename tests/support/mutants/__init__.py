"""Mutants of the core: `python tests mutants` changes it in small ways and asks who notices.

Every mutant that nothing notices must stand in survivors.toml with the reason why no test can or need notice
it; another one makes the command fail. `--since REVISION` takes all mutants of the lines that changed since then.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, TextIO

from support.mutants import c_source, python_source
from support.mutants.mutation import INVALID, KILLED, SAME, SURVIVED, Mutation, drawn
from support.paths import CORE, ROOT

SURVIVORS = Path(__file__).with_name("survivors.toml")
FOLDER = ROOT / "build" / "mutants"
SHIPPED = ROOT / "firmware_model"
NOT_CODE = ("_spec.py", "_scratch.py", "__init__.py")
N, SEED = 400, 1
_judge: Any = None
EQUIVALENT = "equivalent"
"""How a reason begins when no test can notice the mutant."""


def all_mutations() -> list[Mutation]:
    """Of the C core, its internal header, and the Python twin; not of generated files and lists of names."""
    c = [*sorted(CORE.glob("*.c")), CORE / "adamb_internal.h"]
    python = [path for path in sorted(SHIPPED.glob("*.py")) if path.name not in NOT_CODE]
    found = [mutation for path in c for mutation in c_source.mutations(path)]
    return found + [mutation for path in python for mutation in python_source.mutations(path)]


def changed_since(mutations: list[Mutation], revision: str) -> list[Mutation]:
    """Those in lines that are not as git has them in that revision."""
    lines: dict[Path, set[int]] = {}
    for path in {mutation.path for mutation in mutations}:
        command = ["git", "diff", "--unified=0", revision, "--", str(path)]
        said = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
        added = re.findall(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", said, re.MULTILINE)
        lines[path] = {int(first) + i for first, many in added for i in range(int(many or 1))}
    return [mutation for mutation in mutations if mutation.line in lines[mutation.path]]


def accepted() -> dict[str, str]:
    """The reasons of the survivors that have one."""
    reasons = tomllib.loads(SURVIVORS.read_text(encoding="utf-8"))
    return {name: reason for reason, names in reasons.items() for name in names}


def _begin(folder: Path, languages: tuple[str, ...]) -> None:
    """Each process has a judge of its own."""
    global _judge
    from support.mutants.judge import Judge

    _judge = Judge(folder / str(os.getpid()), languages)


def _one(mutation: Mutation) -> tuple[str, str]:
    scratch = _judge.folder / "one"
    verdict = (_judge.python if mutation.path.suffix == ".py" else _judge.c)(mutation, scratch)
    shutil.rmtree(scratch, ignore_errors=True)
    return verdict.outcome, verdict.by


def judged(mutations: list[Mutation], folder: Path, log: TextIO, jobs: int = 1) -> list[tuple[Mutation, str, str]]:
    """(mutation, outcome, what noticed it) of each, in order."""
    languages = tuple(sorted({"python" if one.path.suffix == ".py" else "c" for one in mutations}))
    found = []
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(jobs, fork, _begin, (folder, languages)) as executor:
        for mutation, (outcome, by) in zip(mutations, executor.map(_one, mutations), strict=True):
            found.append((mutation, outcome, by))
            print(f"{len(found)} of {len(mutations)}: {outcome} {by}: {mutation}", file=log, flush=True)
    return found


def summary(found: list[tuple[Mutation, str, str]], known: dict[str, str]) -> tuple[str, list[str]]:
    """The figures in a line, and the names of the survivors without a reason.

    What no test can notice is no mutant that tests are measured with.
    """
    outcomes = Counter(outcome for _, outcome, _ in found)
    survivors = [one for one, outcome, _ in found if outcome == SURVIVED]
    new = [one for one in survivors if one.name not in known]
    equivalent = [one for one in survivors if known.get(one.name, "").startswith(EQUIVALENT)]
    left = len(survivors) - len(equivalent)
    line = (
        f"{outcomes[KILLED]} of {outcomes[KILLED] + left} mutants noticed, "
        f"{left - len(new)} survive for a reason, {len(new)} without one; {len(equivalent)} more are "
        f"equivalent, {outcomes[INVALID] + outcomes[SAME]} do not compile or change no machine code"
    )
    return line, [f"line {one.line}: {json.dumps(one.name)}" for one in new]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=N, help="how many to draw, at least three of every file")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--jobs", type=int, default=1, choices=(1, 2))
    parser.add_argument("--since", metavar="REVISION", help="all mutants of the lines changed since then")
    options = parser.parse_args()
    if options.n <= 0:
        print(f"--n {options.n}: must be at least 1", file=sys.stderr)
        return 2
    mutations = all_mutations()
    if options.since is None:
        mutations = drawn(mutations, options.n, options.seed)
    else:
        mutations = changed_since(mutations, options.since)
    begin = time.monotonic()
    FOLDER.mkdir(parents=True, exist_ok=True)
    print(f"judging {len(mutations)} mutants; the verdicts go to {FOLDER / 'log.txt'}", flush=True)
    with (FOLDER / "log.txt").open("w", encoding="utf-8") as log:
        found = judged(mutations, FOLDER, log, options.jobs)
    line, new = summary(found, accepted())
    print(*new, f"{line}; seed {options.seed}, {time.monotonic() - begin:.0f} s", sep="\n")
    return 1 if new else 0
