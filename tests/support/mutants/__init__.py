"""Mutants of the core: `python tests mutants` (make mutants) changes it in small ways and asks who notices.

Every mutant that nothing notices must stand in survivors.toml with the reason why no test can or need notice
it; another one makes the command fail. `--list` shows the mutants without judging them, `--since REVISION`
takes all mutants of the lines that changed since then.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import random
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter
from pathlib import Path
from typing import TextIO

from support.mutants import c_source, python_source
from support.mutants.mutation import INVALID, KILLED, SAME, SURVIVED, Mutation, drawn
from support.paths import CORE, ROOT

SURVIVORS = Path(__file__).with_name("survivors.toml")
FOLDER = ROOT / "build" / "mutants"
SHIPPED = ROOT / "firmware_model"
NOT_CODE = ("_spec.py", "_scratch.py", "__init__.py")
N, SEED = 400, 1
EQUIVALENT = "equivalent"
"""How a reason begins when no test can notice the mutant."""

Key = tuple[str, str, str, int]


def all_mutations() -> list[Mutation]:
    """Of the C core, its internal header, and the Python twin; not of generated files and lists of names."""
    c = [*sorted(CORE.glob("*.c")), CORE / "adamb_internal.h"]
    python = [path for path in sorted(SHIPPED.glob("*.py")) if path.name not in NOT_CODE]
    found = [mutation for path in c for mutation in c_source.mutations(path)]
    return found + [mutation for path in python for mutation in python_source.mutations(path)]


def tree_seed(core: Path = CORE) -> int:
    """A number that the C files of the core decide: each edit gives another sample."""
    content = [path.name.encode() + path.read_bytes() for path in sorted(core.glob("*.[ch]"))]
    return int.from_bytes(hashlib.sha256(b"".join(content)).digest()[:4], "big")


def sampled(mutations: list[Mutation], n: int, seed: int) -> list[Mutation]:
    """Any n of those that `make mutants` draws, which were noticed or had a reason before an edit.

    Of all mutants about one in twenty survives for a reason that nobody has written down yet. A sample of
    them would sooner or later fail for a line that the edit has nothing to do with.
    """
    return random.Random(seed).sample(drawn(mutations, N, SEED), n)


def changed_since(mutations: list[Mutation], revision: str, root: Path = ROOT) -> list[Mutation]:
    """Those in lines that are not as git has them in that revision."""
    lines: dict[Path, set[int]] = {}
    for path in {mutation.path for mutation in mutations}:
        command = ["git", "diff", "--unified=0", revision, "--", str(path)]
        said = subprocess.run(command, cwd=root, capture_output=True, text=True)
        if said.returncode:
            raise ValueError(f"--since {revision}: {said.stderr.strip().splitlines()[0]}")
        added = re.findall(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", said.stdout, re.MULTILINE)
        lines[path] = {int(first) + i for first, many in added for i in range(int(many or 1))}
    return [mutation for mutation in mutations if mutation.line in lines[mutation.path]]


def advice(new: list[str], seed: int) -> str:
    """What to do about survivors without a reason, as `summary` gives them."""
    return (
        f"seed {seed}: write a test that notices the change, or, if none can, add this entry with its reason "
        f"to {SURVIVORS.relative_to(ROOT)}:\n" + "\n".join(new)
    )


def accepted() -> dict[Key, str]:
    """The survivors that have a reason."""
    rows = tomllib.loads(SURVIVORS.read_text(encoding="utf-8")).get("survivor", [])
    return {(row["file"], row["text"], row["change"], row.get("nth", 0)): row["reason"] for row in rows}


def _work(
    mutations: list[Mutation], folder: Path, results: multiprocessing.Queue[tuple[int, str, str]]
) -> None:
    """Judge the mutations one by one; what is printed of a run comes from the caller."""
    from support.mutants.judge import Judge

    languages = {"python" if one.path.suffix == ".py" else "c" for one in mutations}
    judge = Judge(folder, tuple(sorted(languages)))
    for number, mutation in enumerate(mutations):
        scratch = folder / "one"
        language = judge.python if mutation.path.suffix == ".py" else judge.c
        verdict = language(mutation, scratch)
        results.put((number, verdict.outcome, verdict.by))
        shutil.rmtree(scratch, ignore_errors=True)


def judged(
    mutations: list[Mutation], folder: Path, log: TextIO, jobs: int = 1
) -> list[tuple[Mutation, str, str]]:
    """(mutation, outcome, what noticed it) of each, in order; each of `jobs` processes judges a share."""
    context = multiprocessing.get_context("fork")
    found = []
    shares = [mutations[first::jobs] for first in range(jobs)]
    queues = [context.Queue() for _ in shares]
    workers = [
        context.Process(target=_work, args=(share, folder / str(number), queue))
        for number, (share, queue) in enumerate(zip(shares, queues, strict=True))
    ]
    for worker in workers:
        worker.start()
    for i in range(len(mutations)):
        worker, queue = workers[i % jobs], queues[i % jobs]
        while queue.empty() and worker.is_alive():
            time.sleep(0.01)
        if queue.empty() and not worker.is_alive() and worker.exitcode:
            raise RuntimeError(f"the judge ended with exit code {worker.exitcode}")
        _, outcome, by = queue.get()
        found.append((mutations[i], outcome, by))
        print(f"{i + 1} of {len(mutations)}: {outcome} {by}: {mutations[i]}", file=log, flush=True)
    for worker in workers:
        worker.join()
    return found


def summary(found: list[tuple[Mutation, str, str]], known: dict[Key, str]) -> tuple[str, list[str]]:
    """The figures in a line, and an entry to complete for every survivor without a reason.

    What no test can notice is no mutant that tests are measured with.
    """
    outcomes = Counter(outcome for _, outcome, _ in found)
    survivors = [one for one, outcome, _ in found if outcome == SURVIVED]
    new = [one for one in survivors if one.key not in known]
    equivalent = [one for one in survivors if known.get(one.key, "").startswith(EQUIVALENT)]
    left = len(survivors) - len(equivalent)
    line = (
        f"{outcomes[KILLED]} of {outcomes[KILLED] + left} mutants noticed, "
        f"{left - len(new)} survive for a reason, {len(new)} without one; {len(equivalent)} more are "
        f"equivalent, {outcomes[INVALID] + outcomes[SAME]} do not compile or change no machine code"
    )
    return line, [f"SURVIVED {one}\n{_entry(one)}" for one in new]


def _entry(one: Mutation) -> str:
    fields = {"file": one.file, "text": one.text, "change": one.change}
    rows = [f"{name} = {json.dumps(value)}" for name, value in fields.items()]
    return "\n".join(["[[survivor]]", *rows, f"nth = {one.nth}", 'reason = ""', ""])


def _asked(mutations: list[Mutation], options: argparse.Namespace) -> list[Mutation]:
    if options.since is not None:
        return changed_since(mutations, options.since)
    return drawn(mutations, options.n, options.seed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=N, help="how many to draw, at least three of every file")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--jobs", type=int, default=1, choices=(1, 2))
    parser.add_argument("--file", help="only mutants of the file with this name")
    parser.add_argument("--since", metavar="REVISION", help="all mutants of the lines changed since then")
    parser.add_argument("--list", action="store_true", help="show them, do not judge")
    options = parser.parse_args()
    if options.n <= 0:
        print(f"--n {options.n}: must be at least 1", file=sys.stderr)
        return 2
    mutations = [one for one in all_mutations() if options.file in (None, one.file)]
    try:
        mutations = _asked(mutations, options)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if options.list:
        print(*mutations, sep="\n")
        return 0
    begin = time.monotonic()
    FOLDER.mkdir(parents=True, exist_ok=True)
    print(f"judging {len(mutations)} mutants; the verdicts go to {FOLDER / 'log.txt'}", flush=True)
    with (FOLDER / "log.txt").open("w", encoding="utf-8") as log:
        found = judged(mutations, FOLDER, log, options.jobs)
    line, new = summary(found, accepted())
    print(*new, f"{line}; seed {options.seed}, {time.monotonic() - begin:.0f} s", sep="\n")
    return 1 if new else 0
