"""`python -m build` makes a wheel and an sdist that work where there is no checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from support.campaigns import few
from support.paths import COMPILED, FOLDERS, ROOT, copy_sources


def call(*command: str | Path, folder: Path, code: int = 0) -> str:
    """Run a program outside the checkout, with nothing of this process's Python in its environment."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == code, f"{command}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout


def build(folder: Path, place: str, mask: str = "022") -> dict[str, Path]:
    """Both archives; the wheel is built from the sdist, as `python -m build` does."""
    copy_sources(folder / place)
    words = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", folder / place]
    call("sh", "-c", f'umask {mask}; exec "$@"', "build", *words, folder=folder)
    (wheel,), (sdist,) = (list((folder / "dist").glob(pattern)) for pattern in ("*.whl", "*.tar.gz"))
    return {"wheel": wheel, "sdist": sdist}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> dict[str, Path]:
    return build(tmp_path_factory.mktemp("build"), "adamb")


def test_a_second_build_elsewhere_gives_the_same_bytes(built, tmp_path, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    again = build(tmp_path, "another/and deeper place", mask="077")
    for kind, path in again.items():
        assert path.read_bytes() == built[kind].read_bytes(), f"the two builds of the {kind} differ"


def sources(*folders: str) -> set[str]:
    """The files of the repository, from what is on disk: an sdist has no git to ask."""
    found = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())
    made = (*COMPILED, "*.pyc")
    return {path.relative_to(ROOT).as_posix() for path in found if not any(path.match(pattern) for pattern in made)}


def test_the_archives_hold_every_file_and_nothing_that_was_built_here(built):
    with tarfile.open(built["sdist"]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    top = {"README.md", "LICENSE", "Makefile", "MANIFEST.in", "CITATION.cff", "requirements/demo.txt"}
    assert top | sources(*FOLDERS, "tests", "docs", "requirements", ".ci", ".github") <= names
    assert not [name for name in names if name.endswith((".so", ".pyc")) or "__pycache__" in name]

    with zipfile.ZipFile(built["wheel"]) as archive:
        inside = {name.removeprefix("adamb/") for name in archive.namelist() if name.startswith("adamb/")}
    extensions = {name for name in inside if name.endswith((".so", ".pyd"))}
    settings = {name for name in sources(*FOLDERS) if "/." in name}  # of tools that look at sources
    assert inside - extensions == sources(*FOLDERS) - settings
    assert len(extensions) == 2
    assert "abi3" in built["wheel"].name, "one wheel for every Python"


@pytest.mark.parametrize("kind", few(["wheel", "sdist"]))
def test_an_empty_environment_runs_the_commands_and_sees_the_types(kind, built, tmp_path):
    venv.create(tmp_path / "environment", with_pip=True)
    programs = tmp_path / "environment" / "bin"
    pip = [programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if kind == "wheel":  # beside the libraries that are here; for the sdist everything is downloaded
        (site,) = (tmp_path / "environment").glob("lib/*/site-packages")
        (site / "libraries.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")))
        call(*pip, "--no-deps", built[kind], folder=tmp_path)
    else:
        call(*pip, built[kind], "mypy", folder=tmp_path)
    check_commands(programs, tmp_path)
    if kind == "sdist":
        check_types(programs, tmp_path)


def check_commands(programs: Path, folder: Path) -> None:
    """Run, report, plan and port, from the installed package alone."""

    def adamb(words: str) -> str:
        return call(programs / "adamb", *words.split(), folder=folder)

    program = "import adamb.tools.cli as cli; print(cli.__file__)"
    where = Path(call(programs / "python", "-c", program, folder=folder).strip())
    assert where.is_relative_to(programs.parent)
    assert adamb("--version").startswith("adamb ")
    run = "run oil-laplace --budget 4KiB --episodes 50 --seeds 2"
    assert "oil-laplace" in adamb(f"{run} --record --out first")
    assert "adaql" in adamb(f"{run} --agent adaql")
    adamb("report first --out first.html")
    assert "<html" in (folder / "first.html").read_text(encoding="utf-8")
    assert "rp2040" in adamb("list boards")
    assert "fits" in adamb("plan --dims 1+1 --horizon 5 --episodes 2000 --board microbit --no-costs")
    adamb("port --runtime c --out controller")
    assert (folder / "controller" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    call("make", "-C", "controller", folder=folder)


def check_types(programs: Path, folder: Path) -> None:
    (folder / "mine.py").write_text(
        "from adamb.firmware_model.host.sizes import parse_size\nhalf: str = parse_size('4KiB')\n", encoding="utf-8"
    )
    shown = call(programs / "python", "-m", "mypy", "mine.py", folder=folder, code=1)
    assert 'has type "int"' in shown and "Found 1 error" in shown
