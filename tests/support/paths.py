"""The repository as a whole: its folders and files, and copies of it to change, build or run elsewhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "firmware_model" / "c"
TESTS = ROOT / "tests"
FAULT = TESTS / "fault"
VECTORS = TESTS / "vectors"


FOLDERS = ("firmware_model", "budgets", "host_sim", "tools")
"""The folders that are packages; each may use those before it."""

NEVER = (".git", ".venv", "build", "dist", "runs", "__pycache__", ".*_cache", ".hypothesis", "*.egg-info")
COMPILED = ("*.so", "*.dll", "*.o", "_core.c", "_sim.c")


def copy_sources(target: Path) -> Path:
    """Everything a fresh checkout holds, nothing that was built from it."""
    return Path(shutil.copytree(ROOT, target, ignore=shutil.ignore_patterns(*NEVER, *COMPILED)))


class Copy:
    """The packages, built extensions included, and the tests in a folder where anything may be changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        ignore = shutil.ignore_patterns(*NEVER)
        for name in FOLDERS:
            shutil.copytree(ROOT / name, folder / "adamb" / name, ignore=ignore)
        shutil.copytree(ROOT / "tests", folder / "tests", ignore=ignore)
        shutil.copy(ROOT / "pyproject.toml", folder)

    def write(self, path: str, text: str) -> None:
        """Add one file, named as in the repository; to change one that is there is not adding."""
        target = self.folder / ("" if path.startswith("tests/") else "adamb") / path
        assert target.parent.is_dir(), f"{target.parent.name}/ is not there; one file is not enough"
        with target.open("x", encoding="utf-8") as file:
            file.write(text)

    def python(self, *arguments: str, code: int = 0) -> str:
        """Run Python on the copy; returns what it printed."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": str(self.folder), "COLUMNS": "100"},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def adamb(self, *arguments: str, code: int = 0) -> str:
        return self.python("-m", "adamb.tools.cli", *arguments, code=code)

    def pytest(self, *arguments: str) -> str:
        return self.python("-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments)


def python_files(*folders: str) -> Iterator[Path]:
    """Our Python files, generated and built ones left out."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "__pycache__" not in path.parts:
                yield path


def texts(*suffixes: str) -> Iterator[tuple[str, str]]:
    """Name and text of every written (not compiled) file, by its suffix: documents, code, settings."""
    paths = [*ROOT.glob("*.*")]
    for folder in (*FOLDERS, "docs", "tests"):
        paths += (ROOT / folder).rglob("*.*")
    for path in sorted(paths):
        if path.suffix in suffixes and not any(path.match(pattern) for pattern in COMPILED):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
