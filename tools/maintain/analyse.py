"""`make lint`: gcc -fanalyzer and -Wconversion, clang-tidy and cppcheck over all C; a finding is an error.

The C of all packages is read. CROSS and EXCUSED are the files that this computer's compiler cannot read, with
what is done instead or why nothing is. What clang-tidy leaves out is in .clang-tidy, with the reason; where
the core deviates from MISRA C:2012 is in docs/misra.md. A compiler that is not gcc has no -fanalyzer: that
part is skipped, and the output says so.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("firmware_model", "host_sim", "budgets", "tools")
INCLUDES = (
    "firmware_model/c", "firmware_model/host/batch", "host_sim/c",
    "tools/device/emulator/c", "tools/device/loop",
)  # fmt: skip
GENERATED = ("_core.c", "_sim.c")
# Written for one processor, with its assembly, or for WebAssembly: clang-tidy reads them for that target, the others
# cannot. The addresses that the chip's build defines are any numbers here.
PLACES = (
    "COMMAND", "STEP", "REWARD", "POINT", "REPLY", "MARK", "ACTION", "BLOCK_AT", "MAILBOX_AT", "STACK_AT",
)  # fmt: skip
CROSS = {
    "tools/chip/harness/program.c": [
        "--target=riscv32", "-ffreestanding", *(f"-DCHIP_{name}=64" for name in PLACES),
    ],
    "tools/playground/playground.c": ["--target=wasm32", "-ffreestanding", "-Itools/playground/include"],
}  # fmt: skip
_MODULE = "needs headers that MicroPython's own build generates; tests/device/native builds it"
EXCUSED = {
    **{f"tools/device/micropython/module/adamb_module{part}.c": _MODULE for part in ("", "_class", "_core", "_keep")},
    "tools/device/emulator/c/avr.c": "needs headers of simavr; tests/device/test_avr.py builds it",
}
LANGUAGE = ["-std=c99", *(f"-I{folder}" for folder in INCLUDES)]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Wvla"]
STRICT = [*WARNINGS, "-Werror", "-fanalyzer"]
CPPCHECK = [
    "--std=c99", "--quiet", "--error-exitcode=1", "--enable=warning,performance,portability",
    # False: nodes of a path are written down to the depth to which they are read; zeros would cost a memset.
    "--suppress=uninitvar:firmware_model/c/adamb_core.c",
]  # fmt: skip
MISRA = ["--addon=misra", "--enable=style", "--template={id} {file}:{line}: {code}"]
RULE = re.compile(r"^misra-c2012-(\d+\.\d+) (.*)$", re.MULTILINE)
AT_ONCE = 2


def sources(root: Path = ROOT) -> list[str]:
    """The C files of the packages, relative to the root."""
    found = [path for folder in FOLDERS for path in (root / folder).rglob("*.c") if path.name not in GENERATED]
    return [name for path in sorted(found) if (name := path.relative_to(root).as_posix()) not in EXCUSED]


def beside(name: str) -> str:
    """A program of this Python's environment."""
    return str(Path(sys.executable).with_name(name))


def commands(files: list[str]) -> dict[str, list[list[str]]]:
    """Tool → its command lines."""
    near = [file for file in files if file not in CROSS]
    tidy = [beside("clang-tidy"), "--quiet"]
    gcc = shutil.which("gcc")
    compile_ = [gcc or "gcc", *LANGUAGE, "-O2", *STRICT, "-c", "-o", "/dev/null"]
    return {
        "gcc -fanalyzer -Wconversion": [[*compile_, file] for file in near] if gcc else [],
        "clang-tidy": [
            *([[*tidy, *near, "--", *LANGUAGE]] if near else []),
            *([*tidy, file, "--", *LANGUAGE, *CROSS[file]] for file in files if file in CROSS),
        ],
        "cppcheck": [[beside("cppcheck"), *CPPCHECK, *LANGUAGE[1:], *near]] if near else [],
    }


def findings(command: list[str], root: Path = ROOT) -> str:
    """What the tool says, or nothing when it is content."""
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    return "" if done.returncode == 0 else (done.stdout + done.stderr).strip() or f"exit {done.returncode}"


def deviations(root: Path = ROOT) -> set[str]:
    """The rules of MISRA C:2012 that the document gives a reason for."""
    text = (root / "docs" / "misra.md").read_text(encoding="utf-8")
    return set(re.findall(r"^\| (\d+\.\d+) \|", text, re.MULTILINE))


def misra(root: Path = ROOT) -> dict[str, list[str]]:
    """Rule → places in the core that deviate from it."""
    core = INCLUDES[0]
    command = [beside("cppcheck"), "--std=c99", "--quiet", *MISRA, f"-I{core}", core]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    found: dict[str, list[str]] = {}
    for rule, place in RULE.findall(done.stdout + done.stderr):
        found.setdefault(rule, []).append(place)
    return found


def undocumented(root: Path = ROOT) -> list[str]:
    """Deviations without a reason, one line a rule."""
    known = deviations(root)
    rules = {rule: places for rule, places in misra(root).items() if rule not in known}
    return [f"rule {rule} is not in docs/misra.md: {places[0]}" for rule, places in sorted(rules.items())]


def main(_: list[str]) -> int:
    files = sources()
    work = commands(files)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        said = {tool: [pool.submit(findings, line) for line in lines] for tool, lines in work.items()}
        rules = pool.submit(undocumented)
        found = {tool: [text for job in jobs if (text := job.result())] for tool, jobs in said.items()}
    for tool, texts in found.items():
        state = "no finding" if work[tool] else "skipped: gcc is not installed"
        read = files if tool == "clang-tidy" else [file for file in files if file not in CROSS]
        print(f"{tool}: {len(read)} files, {f'{len(texts)} with findings' if texts else state}")
        print("".join(text + "\n" for text in texts), end="")
    for file, reason in EXCUSED.items():
        print(f"not read: {file}: {reason}")
    new = rules.result()
    print(f"MISRA C:2012: {len(deviations())} rules with documented deviations, {len(new)} without")
    print("".join(line + "\n" for line in new), end="")
    return 1 if new or any(found.values()) else 0
