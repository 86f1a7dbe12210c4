"""Build the fuzzer of the core and run it: `python tests fuzz`.

It is built with the address and the undefined-behaviour sanitizer, and mutates the inputs of the corpus. With
`--engine libfuzzer` (clang) a search that follows what an input reaches takes the place of ours; target and corpus
are the same. `--keep` adds to the corpus what the last run of libFuzzer found.
"""

from __future__ import annotations

import argparse
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
RUNS = 10_000_000


Flags = tuple[str, ...]


def compile_all(folder: Path, compiler: str, own_main: bool, flags: Flags, link: Flags = ()) -> Path:
    """The program: core and fuzz.c with `flags`; our main has none of them."""
    folder.mkdir(parents=True, exist_ok=True)
    common = [compiler, "-g", "-O2", *WARNINGS, f"-I{CORE}", f"-I{FAULT}"]
    work = [([*common, "-std=c99", *flags], source) for source in sorted(CORE.glob("*.c"))]
    work.append(([*common, "-std=c11", *flags], FAULT / "fuzz.c"))
    if own_main:
        work.append(([*common, "-std=c99"], FAULT / "fuzz_main.c"))
    objects = []
    for command, source in work:
        target = folder / f"{source.stem}.o"
        _check([*command, "-c", str(source), "-o", str(target)])
        objects.append(str(target))
    program = folder / "fuzz"
    _check([compiler, *flags, *link, *objects, "-o", str(program)])
    return program


def build(folder: Path) -> Path:
    """Our own fuzzer."""
    return compile_all(folder, os.environ.get("CC", "gcc"), True, SANITIZERS)


def _check(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")


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
    """Add the last run's inputs to the corpus: few that reach all that they reach together."""
    corpus, found = unpacked(folder), folder / "inputs"
    _check([str(_with_libfuzzer(folder)), "-merge=1", str(corpus), str(found)])
    pack(corpus)


def _own(folder: Path, seed: int, runs: int, seconds: float) -> int:
    limits = [str(seed), str(runs), str(seconds)]
    return subprocess.run([str(build(folder / "own")), "run", *limits, str(folder), str(unpacked(folder))]).returncode


def _with_libfuzzer(folder: Path) -> Path:
    flags = ("-fsanitize=fuzzer-no-link", *SANITIZERS)
    return compile_all(folder / "libfuzzer", "clang", False, flags, link=("-fsanitize=fuzzer",))


def _libfuzzer(folder: Path, seed: int, runs: int, seconds: float) -> int:
    program = _with_libfuzzer(folder)
    grown = folder / "inputs"
    grown.mkdir(parents=True, exist_ok=True)
    limits = [f"-seed={seed}", "-max_len=512", f"-artifact_prefix={folder}/"]
    limits += [f"-runs={runs}"] if runs else []
    limits += [f"-max_total_time={round(seconds)}"] if seconds else []
    return subprocess.run([str(program), *limits, str(grown), str(unpacked(folder))]).returncode


# Name: function, the program it needs, and where Debian has that.
ENGINES = {"own": (_own, "gcc", "gcc"), "libfuzzer": (_libfuzzer, "clang", "clang and libclang-rt-14-dev")}


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzz the core. Exit code 1: something was found.")
    parser.add_argument("--engine", choices=list(ENGINES), default="own")
    parser.add_argument("--runs", type=int, help="executions; without a limit in seconds ten million, 20 minutes")
    parser.add_argument("--seconds", type=float, default=0, help="0: no limit")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "fuzz")
    parser.add_argument("--keep", action="store_true", help="only add to the corpus what the last run found")
    options = parser.parse_args()
    if options.keep:
        keep(options.folder)
        return 0
    run, program, package = ENGINES[options.engine]
    if shutil.which(program) is None:
        print(f"--engine {options.engine} needs {program}; Debian has it in {package}", file=sys.stderr)
        return 2
    runs = options.runs or (0 if options.seconds else RUNS)
    code = run(options.folder, options.seed, runs, options.seconds)
    if code == 0 and options.seconds:
        print(f"no find in {options.seconds:.0f} s of {options.engine}, seed {options.seed}")
    return code
