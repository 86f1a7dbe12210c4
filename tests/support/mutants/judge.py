"""Whether a mutant is noticed: scenarios in a process of its own, then, for C, the drivers under sanitizers
and its stores in other orders.

A scenario is over at its first result that differs from that of the sound core, and every scenario has a
limit of processor time, so that an endless loop counts as noticed. A C mutant whose machine code is that of
the sound core is no mutant; neither is one that does not compile.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from support.drivers import SANITIZERS, Orders
from support.fuzz import unpacked
from support.mutants.borders import counters, judgements, planted, refusals, sealed, texts, units
from support.mutants.in_place import interface, silent, use_library, use_module
from support.mutants.mutation import INVALID, KILLED, SAME, SURVIVED, Mutation
from support.mutants.scenarios import LIVED, calls, corners, recorded, used_block, verdicts
from support.mutants.storage import guards, snapshots, stores
from support.paths import CORE, FAULT
from support.twins import CTwin, PythonTwin

OPTIMISED = ("gcc", "-std=c99", "-O2", "-fPIC")
SANITIZED = ("gcc", "-std=c99", "-O1", "-fPIC", *SANITIZERS)
PLAIN = ("gcc", "-O2")
SIZES = {"c": 1.5, "python": 0.45}
# In the order of how soon they notice a slip.
ALL = [
    recorded, refusals, units, texts, planted, verdicts, corners, calls, counters, judgements, sealed, snapshots,
    stores, guards,
]  # fmt: skip
# Scenarios that a file's slips show in first.
FIRST = {
    "check": ("planted", "verdicts", "texts"), "guard": ("guards", "verdicts"), "unit": ("units",),
    "number": ("units",), "store": ("stores",), "snapshot": ("snapshots",), "config": ("refusals",),
}  # fmt: skip
MEMORY = 2 << 30
# Program: its sources, and its arguments where the corpus is unpacked.
DRIVERS: dict[str, tuple[list[str], list[object]]] = {
    "edges": (["edges.c"], []),
    "fuzz": (["fuzz.c", "fuzz_main.c"], ["replay", "corpus"]),
}


@dataclass
class Verdict:
    outcome: str
    by: str = ""


class Judge:
    """Sound results, and the objects that mutated ones are linked with; processes that fork use them."""

    def __init__(self, folder: Path, languages: tuple[str, ...] = ("c", "python")) -> None:
        self.folder = folder = folder.resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for name, steps in LIVED:
            used_block(name, steps)
        self.sound: dict[str, list[tuple[list[Any], float]]] = {}
        for language in languages:
            self.sound[language] = []
            for scenario in ALL:
                begin = time.process_time()
                results = list(scenario(CTwin(), SIZES[language]))
                self.sound[language].append((results, time.process_time() - begin))
        if "c" in languages:
            self._objects("fast", OPTIMISED)
            interface()

    # --- C -------------------------------------------------------------------------------------------------

    def _objects(self, kind: str, command: tuple[str, ...]) -> None:
        (self.folder / kind).mkdir(exist_ok=True)
        for source in sorted(CORE.glob("*.c")):
            _compile(command, source, self.folder / kind / f"{source.stem}.o")

    @cached_property
    def expected(self) -> dict[str, tuple[object, str]]:
        """What the drivers print of the sound core; built when the first mutant gets so far."""
        checked = self.folder / "checked"
        self._objects("checked", SANITIZED)
        self._checked_library(checked, {})
        unpacked(checked)
        for name, (sources, _) in DRIVERS.items():
            mains = [checked / f"main_{Path(source).stem}.o" for source in sources]
            for source, target in zip(sources, mains, strict=True):
                command = PLAIN if source == "fuzz_main.c" else (*SANITIZED, "-std=c11")
                _compile(command, FAULT / source, target)
            line = ["gcc", *SANITIZERS, *mains, checked / "core.so", "-o", checked / f"run_{name}"]
            subprocess.run(line, check=True)
        return dict(self._drive(checked, limit=300))

    def _checked_library(self, folder: Path, replaced: dict[str, Path]) -> None:
        """What the drivers are linked with; they find the one in the folder that they are run with."""
        checked = self.folder / "checked"
        core = {path.name: path for path in sorted(checked.glob("adamb_*.o"))} | replaced
        line = ["gcc", "-shared", *SANITIZERS, "-Wl,-soname,core.so"]
        subprocess.run([*line, *core.values(), "-o", folder / "core.so"], check=True)

    def _drive(self, folder: Path, limit: float) -> Any:
        """Run every driver with the library in the folder; what each run printed, or its fate."""
        for name, (_, arguments) in DRIVERS.items():
            command = [str(self.folder / "checked" / f"run_{name}"), *map(str, arguments)]
            yield name, _printed(command, self.folder / "checked", folder, limit)

    def c(self, mutation: Mutation, folder: Path) -> Verdict:
        folder.mkdir(parents=True, exist_ok=True)
        sources = self._mutated_sources(mutation, folder)
        replaced = {}
        for source in sources:
            target = folder / f"{source.stem}.o"
            if not _compile(OPTIMISED, source, target):
                return Verdict(INVALID)
            replaced[target.name] = target
        sound = self.folder / "fast"
        if all(path.read_bytes() == (sound / name).read_bytes() for name, path in replaced.items()):
            return Verdict(SAME)
        objects = {path.name: path for path in sorted(sound.glob("*.o"))} | replaced
        library = folder / "core.so"
        subprocess.run(["gcc", "-shared", *objects.values(), "-o", library], check=True)
        verdict = self._in_process(mutation, lambda: use_library(library))
        if verdict.outcome != KILLED:
            verdict = self._under_sanitizers(sources, folder)
        return verdict if verdict.outcome == KILLED else self._in_other_orders(mutation, folder)

    def _mutated_sources(self, mutation: Mutation, folder: Path) -> list[Path]:
        """The changed file; for a header all files, beside the changed header."""
        if mutation.path.suffix == ".h":
            for path in CORE.glob("*.[ch]"):
                shutil.copy(path, folder)
        (folder / mutation.file).write_text(mutation.applied(), encoding="utf-8")
        return sorted(folder.glob("adamb_*.c"))

    def _under_sanitizers(self, sources: list[Path], folder: Path) -> Verdict:
        replaced = {f"{source.stem}.o": folder / f"checked_{source.stem}.o" for source in sources}
        for source, target in zip(sources, replaced.values(), strict=True):
            _compile(SANITIZED, source, target)
        expected = self.expected
        self._checked_library(folder, replaced)
        for name, result in self._drive(folder, limit=30):
            if result != expected[name]:
                return Verdict(KILLED, name)
        return Verdict(SURVIVED)

    @cached_property
    def orders(self) -> Orders:
        return Orders(self.folder / "orders")

    def _in_other_orders(self, mutation: Mutation, folder: Path) -> Verdict:
        """What no call sees alone: an interrupt between two stores, after a compiler has moved them."""
        code, _ = self.orders.run(folder / "orders", {mutation.file: mutation.applied()})
        return Verdict(KILLED, "orders") if code else Verdict(SURVIVED)

    # --- Python ---------------------------------------------------------------------------------------------

    def python(self, mutation: Mutation, folder: Path) -> Verdict:
        try:
            code = compile(mutation.applied(), str(mutation.path), "exec")
        except SyntaxError:
            return Verdict(INVALID)
        return self._in_process(mutation, lambda: use_module(mutation.path.stem, code))

    # --- both -----------------------------------------------------------------------------------------------

    def _in_process(self, mutation: Mutation, prepare: Callable[[], None]) -> Verdict:
        """Fork, put the mutant in place, run the scenarios; the child's last words say what noticed it."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            silent()
            try:
                prepare()
                by = self._noticed(mutation, writer)
            except BaseException as error:  # whatever a mutant raises, it was noticed
                by = type(error).__name__
            os.write(writer, by.encode())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            words = pipe.read().split("\n")
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            return Verdict(KILLED, f"{words[-2] if len(words) > 1 else ''}: {signal.Signals(os.WTERMSIG(status)).name}")
        return Verdict(KILLED if words[-1] else SURVIVED, words[-1])

    def _noticed(self, mutation: Mutation, writer: int) -> str:
        """The scenario that differs, "" when none does."""
        language = "python" if mutation.path.suffix == ".py" else "c"
        first = FIRST.get(mutation.path.stem.removeprefix("adamb_"), ())
        work = list(zip(ALL, self.sound[language], strict=True))
        work.sort(key=lambda one: one[0].__name__ not in first)
        twin = CTwin() if language == "c" else PythonTwin()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        slower = 3 if language == "c" else 40  # the sound results were made by C
        for scenario, (expected, seconds) in work:
            os.write(writer, f"{scenario.__name__}\n".encode())
            limit = int(time.process_time() + 2 + slower * seconds) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
            results = scenario(twin, SIZES[language])
            for value in expected:
                if next(results, None) != value:
                    return scenario.__name__
        return ""


def _compile(command: tuple[str, ...], source: Path, target: Path) -> bool:
    """From the folder of the source and by its name alone: where it lies must not show in the object."""
    folders = [f"-I{folder}" for folder in (source.parent, CORE, FAULT)]
    line = [*command, "-w", *folders, "-c", source.name, "-o", str(target)]
    return subprocess.run(line, cwd=source.parent, capture_output=True).returncode == 0


def _printed(command: list[str], folder: Path, library: Path, limit: float) -> tuple[object, str]:
    def prepare() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), resource.RLIM_INFINITY))

    surroundings = os.environ | {"LD_LIBRARY_PATH": str(library)}
    done = subprocess.run(
        command, cwd=folder, env=surroundings, capture_output=True, text=True, errors="replace", preexec_fn=prepare
    )
    return done.returncode, done.stdout
