"""Build the fuzzer of the core and run it: `python tests fuzzing --runs 10000000` is `make fuzz`.

One in thirty executions looks for inputs that reach something new, in a build that counts edges; the rest
mutates what was found, in a build that is three times as fast. Both are built with the address and the
undefined-behaviour sanitizer. With `--engine libfuzzer` (clang) or `--engine afl` (AFL++) their search takes
the place of ours; target and corpus are the same. `--coverage` prints what of the core the corpus runs;
`--keep` adds to the corpus what the last run of our own engine or of libFuzzer found.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile, ZipInfo

from support.drivers import SANITIZERS
from support.paths import CORE, FAULT, ROOT

ARCHIVE = FAULT / "corpus.zip"
WARNINGS = ("-Wall", "-Wextra", "-Werror")


Flags = tuple[str, ...]


def compile_all(
    folder: Path, compiler: str, core: Path, own_main: bool, flags: Flags, trace: Flags = (), link: Flags = ()
) -> Path:
    """The program: core and fuzz.c with `flags`, the core also with `trace`; our main has none of them."""
    folder.mkdir(parents=True, exist_ok=True)
    common = [compiler, "-g", "-O2", *WARNINGS, f"-I{core}", f"-I{FAULT}"]
    work = [([*common, "-std=c99", *flags, *trace], source) for source in sorted(core.glob("*.c"))]
    work.append(([*common, "-std=c11", *flags], FAULT / "fuzz.c"))
    if own_main:
        sanitized = ["-DFUZZ_WITH_SANITIZERS"] if set(SANITIZERS) & set(flags) else []
        work.append(([*common, "-std=c99", *sanitized], FAULT / "fuzz_main.c"))
    objects = []
    for command, source in work:
        target = folder / f"{source.stem}.o"
        _check([*command, "-c", str(source), "-o", str(target)])
        objects.append(str(target))
    program = folder / "fuzz"
    _check([compiler, *flags, *link, *objects, "-o", str(program)])
    return program


def build(folder: Path, *, edges: bool, core: Path = CORE, flags: Flags = SANITIZERS) -> Path:
    """Our own fuzzer; with `edges` it knows when an input reaches something new."""
    trace = ("-fsanitize-coverage=trace-pc",) if edges else ()
    return compile_all(folder, os.environ.get("CC", "gcc"), core, True, flags, trace)


def _check(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")


def coverage(folder: Path, *corpora: Path) -> str:
    """Lines and branches of the core that the inputs of these folders run, by gcov, in a line."""
    folder = folder / "coverage"
    shutil.rmtree(folder, ignore_errors=True)
    program = compile_all(folder, "gcc", CORE, True, (), ("--coverage", "-O0"), ("--coverage",))
    _check([str(program), "replay", *map(str, corpora)])
    objects = [str(path) for path in sorted(folder.glob("adamb_*.o"))]
    command = ["gcov", "--json-format", "--stdout", "--branch-probabilities", *objects]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    lines, branches = {}, {}
    for report in map(json.loads, done.stdout.splitlines()):
        for file in report["files"]:
            for line in file["lines"] if file["file"].endswith(".c") else []:
                place = file["file"], line["line_number"]
                lines[place] = line["count"]
                branches |= {(*place, i): one["count"] for i, one in enumerate(line["branches"])}
    shares = [f"{sum(map(bool, found.values()))} of {len(found)}" for found in (lines, branches)]
    inputs = sum(len(list(corpus.iterdir())) for corpus in corpora)
    return f"{inputs} inputs run {shares[0]} lines and {shares[1]} branches of the core"


def unpacked(folder: Path, archive: Path = ARCHIVE) -> Path:
    """The corpus as files, in a new folder in this one."""
    inputs = folder / "corpus"
    shutil.rmtree(inputs, ignore_errors=True)
    with ZipFile(archive) as files:
        files.extractall(inputs)
    return inputs


def pack(inputs: Path, archive: Path = ARCHIVE) -> None:
    """Write the corpus: the same inputs are the same bytes on every machine, so nothing is compressed."""
    with ZipFile(archive, "w") as files:
        for path in sorted(inputs.iterdir()):
            files.writestr(ZipInfo(path.name), path.read_bytes())


def keep(folder: Path) -> None:
    """Add the last run's inputs to the corpus: the smallest ones that reach all that they reach together."""
    corpus, found = unpacked(folder), folder / "inputs"
    program = build(folder / "edges", edges=True)
    _check([str(program), "merge", str(corpus), str(corpus), str(found)])
    pack(corpus)


def _own(folder: Path, seed: int, runs: int, seconds: float) -> int:
    grown = folder / "inputs"
    shutil.rmtree(grown, ignore_errors=True)
    grown.mkdir(parents=True)
    corpus = unpacked(folder)
    print(f"building in {folder}", flush=True)
    edges, fast = build(folder / "edges", edges=True), build(folder / "fast", edges=False)
    for program, share, corpora in ((edges, 1 / 30, [corpus]), (fast, 29 / 30, [corpus, grown])):
        limits = [str(seed), str(round(runs * share)), str(seconds * share)]
        if subprocess.run([str(program), "run", *limits, str(grown), *map(str, corpora)]).returncode:
            return 1
    return 0


def _libfuzzer(folder: Path, seed: int, runs: int, seconds: float) -> int:
    flags = ("-fsanitize=fuzzer-no-link", *SANITIZERS)
    program = compile_all(folder / "libfuzzer", "clang", CORE, False, flags, link=("-fsanitize=fuzzer",))
    grown = folder / "inputs"
    grown.mkdir(parents=True, exist_ok=True)
    limits = [f"-seed={seed}", "-max_len=512", f"-artifact_prefix={folder}/"]
    limits += [f"-runs={runs}"] if runs else []
    limits += [f"-max_total_time={round(seconds)}"] if seconds else []
    return subprocess.run([str(program), *limits, str(grown), str(unpacked(folder))]).returncode


def _afl(folder: Path, seed: int, runs: int, seconds: float) -> int:
    for name in ("AFL_SKIP_CPUFREQ", "AFL_NO_UI", "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES"):
        os.environ.setdefault(name, "1")
    shutil.rmtree(folder / "afl-out", ignore_errors=True)
    program = compile_all(folder / "afl", "afl-clang-fast", CORE, True, SANITIZERS)
    limits = ["-s", str(seed)]
    limits += ["-E", str(runs)] if runs else []
    limits += ["-V", str(round(seconds))] if seconds else []
    folders = ["-i", str(unpacked(folder)), "-o", str(folder / "afl-out")]
    command = ["afl-fuzz", *folders, *limits, "--", str(program), "-"]
    code = subprocess.run(command).returncode
    return 1 if list((folder / "afl-out").glob("*/crashes/id*")) else code


# Name: function, the program it needs, and where Debian has that.
ENGINES = {
    "own": (_own, "gcc", "gcc"),
    "libfuzzer": (_libfuzzer, "clang", "clang and libclang-rt-14-dev"),
    "afl": (_afl, "afl-fuzz", "afl++"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzz the core. Exit code 1: something was found.")
    parser.add_argument("--engine", choices=list(ENGINES), default="own")
    parser.add_argument("--runs", type=int, default=0, help="executions; 0: no limit")
    parser.add_argument("--seconds", type=float, default=0, help="0: no limit")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "fuzz")
    parser.add_argument("--coverage", action="store_true", help="only print what the corpus runs")
    parser.add_argument("--keep", action="store_true", help="only add to the corpus what the last run found")
    options = parser.parse_args()
    if options.keep:
        keep(options.folder)
    if options.keep or options.coverage:
        print(coverage(options.folder, unpacked(options.folder)))
        return 0
    run, program, package = ENGINES[options.engine]
    if shutil.which(program) is None:
        print(f"--engine {options.engine} needs {program}; Debian has it in {package}", file=sys.stderr)
        return 2
    if options.runs <= 0 and options.seconds <= 0:
        print("give --runs or --seconds", file=sys.stderr)
        return 2
    code = run(options.folder, options.seed, options.runs, options.seconds)
    if code == 0 and options.seconds:
        print(f"no find in {options.seconds:.0f} s of {options.engine}, seed {options.seed}")
    if shutil.which("gcov"):
        print(f"corpus: {coverage(options.folder, unpacked(options.folder))}")
    return code
