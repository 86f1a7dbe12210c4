"""`make lock` renews requirements/: the exact versions and hashes that `make demo` and `make test` install.

One file for each extra of pyproject.toml, which holds what the extra adds to base.txt, and build.txt for what
builds the C extensions. All are cut from one resolution for every Python that the project takes, so they
agree with each other; every file that a version was published as is listed, so they serve every machine.
No address of a registry gets in: pip takes the files from wherever the user's pip is set to look.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "requirements"
WEST = ROOT / ".ci" / "west.txt"
PYTHONS = ("3.11", "3.12", "3.13")
HEAD = "# Written by `make lock`; install with pip's --require-hashes.\n"
PINNED = re.compile(r"^(?P<name>[a-z0-9][a-z0-9.-]*)==", re.MULTILINE)


def compiled(requirements: list[str], *options: str) -> str:
    """What these requirements resolve to, as the text of a requirements file."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder) / "wanted.in"
        wanted.write_text("".join(line + "\n" for line in requirements), encoding="utf-8")
        command = ["uv", "pip", "compile", "--quiet", "--no-header", "--no-annotate", *options, str(wanted)]
        program = Path(sys.executable).with_name(command[0])
        done = subprocess.run([program, *command[1:]], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"make lock: uv found no versions that fit together:\n{done.stderr.strip()}")
    return done.stdout


def entries(text: str) -> dict[str, list[str]]:
    """Package name → its entries: one, or one for each range of Pythons."""
    found: dict[str, list[str]] = {}
    starts = [match.start() for match in PINNED.finditer(text)]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        entry = text[start:end]
        found.setdefault(entry.partition("==")[0], []).append(entry)
    return found


def wanted_by(project: dict) -> dict[str, list[str]]:
    """Name of a file → requirements: build, base, then one for each extra."""
    extras = project["project"]["optional-dependencies"]
    build, base = project["build-system"]["requires"], project["project"]["dependencies"]
    return {"build": build, "base": base} | extras


def files(project: dict) -> dict[str, str]:
    """Name of a file → its text."""
    wanted = wanted_by(project)
    universal = ("--universal", "--python-version", PYTHONS[0])
    everything = [line for lines in wanted.values() for line in lines]
    whole = compiled(everything, *universal, "--generate-hashes")
    known = entries(whole)
    names = {}
    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder) / "pins.txt"
        pins.write_text(whole, encoding="utf-8")
        for name, lines in wanted.items():
            base = [] if name in ("build", "base") else wanted["base"]
            names[name] = set(entries(compiled([*base, *lines], *universal, "--constraint", str(pins))))
    made = {}
    for name, own in names.items():
        added = own if name in ("build", "base") else own - names["base"]
        first = HEAD if name in ("build", "base") else f"{HEAD}-r base.txt\n"
        made[name] = first + "".join(entry for package in sorted(added) for entry in known[package])
    return made


def west() -> str:
    """Apart from the others: it needs a package without a wheel, and CI alone installs it."""
    return compiled(["west==1.5.0"], "--universal", "--python-version", PYTHONS[0], "--generate-hashes")


def check(python: str) -> None:
    """On this Python every package has a wheel: nothing but our own C is compiled."""
    lines = [f"-r {path}" for path in sorted(FOLDER.glob("*.txt"))]
    compiled(lines, "--python-version", python, "--only-binary", ":all:")


def main() -> int:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    FOLDER.mkdir(exist_ok=True)
    for name, text in files(project).items():
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")
        print(f"requirements/{name}.txt: {len(entries(text))} packages")
    WEST.write_text(HEAD + west(), encoding="utf-8")
    for python in PYTHONS:
        check(python)
        print(f"Python {python}: a wheel of each")
    return 0


if __name__ == "__main__":
    sys.exit(main())
