"""What `make` installs is pinned and hashed, fits the ranges of pyproject.toml, and names no registry."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from support.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
WANTED = {
    "demo": PROJECT["build-system"]["requires"] + PROJECT["project"]["dependencies"],
    "device": EXTRAS["device"],
    "test": EXTRAS["dev"] + EXTRAS["web"] + EXTRAS["cluster"] + EXTRAS["site"],
    "chip": EXTRAS["chip"],
}
"""File in requirements/ → what it must hold, beside the files before it."""
BEFORE = {"demo": (), "device": ("demo",), "test": ("demo", "device"), "chip": ("demo", "device")}
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def locked(name: str) -> list[tuple[Requirement, int]]:
    """The pins of a file, with the number of their hashes."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    lines = text.replace("\\\n", " ").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    return [(Requirement(line.partition("--hash")[0]), len(HASH.findall(line))) for line in pins]


def pins(*names: str) -> dict[str, list[Requirement]]:
    found: dict[str, list[Requirement]] = {}
    for name in names:
        for pin, _ in locked(name):
            found.setdefault(canonicalize_name(pin.name), []).append(pin)
    return found


def holds(pin: Requirement, python: str) -> bool:
    versions = {"python_version": python, "python_full_version": f"{python}.0"}
    return pin.marker is None or pin.marker.evaluate(versions)


@pytest.mark.parametrize("name", WANTED)
def test_every_entry_is_one_version_with_hashes_and_no_address(name):
    for pin, hashes in locked(name):
        assert re.fullmatch(r"==[^*,]+", str(pin.specifier)) and pin.url is None, pin
        assert hashes >= 1, f"{pin}: no hash"
    assert "://" not in (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("name", WANTED)
def test_the_pins_fit_the_ranges_of_pyproject_on_every_python(name, python):
    found = pins(*BEFORE[name], name)
    for line in WANTED[name]:
        wanted = Requirement(line)
        here = [pin for pin in found.get(canonicalize_name(wanted.name), []) if holds(pin, python)]
        assert len(here) == 1, f"{line} on Python {python}: {here}; run make lock"
        (exact,) = here[0].specifier
        assert wanted.specifier.contains(exact.version), f"{here[0]} is outside {line}; run make lock"


def test_make_installs_nothing_without_hashes():
    """Into .venv, that is: the campaign `floor` asks for the lowest versions, with uv, in a place of its own."""
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    installs = [line.strip() for line in lines if line.startswith("\t$(INSTALL)") or "-m pip install" in line]
    loose = [line for line in installs if "--require-hashes" not in line and not line.startswith("INSTALL")]
    assert loose == ["$(INSTALL) --no-build-isolation --no-deps -e ."], loose
    assert "$(LOCKED)/demo.txt" in [line.strip() for line in lines]


def test_ci_installs_nothing_without_hashes():
    text, locked = ((ROOT / ".ci" / name).read_text(encoding="utf-8") for name in ("run", "west.txt"))
    assert text.count("pip install") == 1 and "pip install -q --require-hashes" in text
    assert {"west==", "docopt=="} <= {*re.findall(r"^[a-z][\w.-]*==", locked, re.MULTILINE)}


def test_there_is_a_file_for_every_extra():
    assert {path.stem for path in (ROOT / "requirements").glob("*.txt")} == set(WANTED)
    assert all(any({*lines} <= {*wanted} for wanted in WANTED.values()) for lines in EXTRAS.values())
