"""Board profiles: complete, sourced, checked, and found by any reasonable name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adamb.budgets.boards import (
    C_PROGRAM_BYTES,
    CORE_IMPORT_BYTES,
    FOLDER,
    MICROPYTHON_RESERVE_BYTES,
    board_names,
    load_board,
    read_profile,
)
from adamb.firmware_model.host.errors import InputError
from support.command import adamb

EXPECTED = {
    "rp2040": ("cortex-m0plus", 264, "pico"),
    "rp2350": ("cortex-m33", 520, "pico2"),
    "esp32": ("xtensa-lx6", 520, "esp32"),
    "pico-w": ("cortex-m0plus", 264, "picow"),
    "pico-2-w": ("cortex-m33", 520, "pico2w"),
    "esp32-s3": ("xtensa-lx7", 512, "esp32s3"),
    "esp32-c3": ("riscv-rv32imc", 400, "esp32c3"),
    "stm32f405": ("cortex-m4", 192, "pyboard"),
    "nrf51": ("cortex-m0", 16, "microbit"),
    "nrf52840": ("cortex-m4", 256, "nrf52840"),
    "samd21": ("cortex-m0plus", 32, "samd21"),
    "generic-cortex-m0-8k": ("cortex-m0", 8, "m0-8k"),
    "mega2560": ("avr", 8, "mega"),
    "uno": ("avr", 2, "arduino-uno"),
}


def test_all_promised_boards_are_there_smallest_first():
    assert set(EXPECTED) <= set(board_names())
    sizes = [load_board(name).ram_bytes for name in board_names()]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize("name", EXPECTED)
def test_core_memory_and_alias_are_the_boards_own(name):
    core, kib, alias = EXPECTED[name]
    board = load_board(name)
    assert board.core.name == core
    assert board.ram_bytes == kib * 1024
    assert load_board(alias) is board


@pytest.mark.parametrize("name", board_names())
def test_times_and_energies_are_ranges_in_the_right_order(name):
    board = load_board(name)
    low, high = board.cycles_per_instruction
    assert 0 < low <= high < 12
    slow, fast = board.seconds(1000), board.energy_uj(1000)
    assert slow == (pytest.approx(1000 * low / board.clock_hz), pytest.approx(1000 * high / board.clock_hz))
    current = board.figures["active_current_ua"]
    volts = board.figures["supply_mv"].low / 1000
    assert fast == (pytest.approx(slow[0] * current.low * volts), pytest.approx(slow[1] * current.high * volts))


def test_memory_for_a_controller_depends_on_the_runtime():
    board = load_board("nrf51")
    assert board.available_bytes("micropython") == 0, "the core alone takes more than its heap"
    assert board.available_bytes() == board.available_bytes("c") == 14 * 1024
    pico = load_board("pico")
    beside = CORE_IMPORT_BYTES + MICROPYTHON_RESERVE_BYTES
    assert pico.available_bytes() == pico.available_bytes("micropython") == 209_936 - beside
    small = load_board("generic-cortex-m0-8k")
    assert small.micropython_heap_bytes is None
    assert small.available_bytes() == 6 * 1024
    uno, code = load_board("uno"), load_board("uno").core.code
    assert code is not None and code.stack + code.tables > uno.ram_bytes // 2 - 64, "half is no reserve there"
    assert uno.available_bytes() == 2048 - code.stack - code.tables - C_PROGRAM_BYTES
    assert load_board("mega2560").available_bytes() == 6 * 1024
    with pytest.raises(InputError, match="does not run MicroPython"):
        small.available_bytes("micropython")
    with pytest.raises(InputError, match="must be one of"):
        small.available_bytes("rust")


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("rp2004", "rp2040"), ("microbitt", "microbit"), ("esp32-c33", "esp32-c3"), ("samd12", "samd21")],
)
def test_an_unknown_name_suggests_the_nearest(wrong, meant):
    with pytest.raises(InputError) as caught:
        load_board(wrong)
    assert f"did you mean {meant}?" in str(caught.value)


def test_case_and_underscores_do_not_matter():
    assert load_board("ESP32_C3").name == "esp32-c3"


@pytest.fixture
def own(tmp_path: Path):
    """Write a profile that differs from ours in one line."""

    def write(old: str = "", new: str = "") -> Path:
        text = (FOLDER / "nrf51.toml").read_text(encoding="utf-8")
        assert old in text
        path = tmp_path / "mine.toml"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return path

    return write


def test_an_own_profile_is_read_by_path(own):
    path = own("value = 16_384", "value = 12_288")
    for given in (path, str(path)):
        board = load_board(given)
        assert (board.name, board.ram_bytes) == ("mine", 12_288)


FLASH_AND_PINS = [
    ('flash = "tape"', "flash", "one of file, esp32"),
    ("pins = 3", "pins", "a table with adc, pwm, note"),
    ('pins = { adc = 2, pwm = "GP1" }', "pins.note", "is missing"),
    ('pins = { adc = 2, note = "two" }', "pins.pwm", "a pin: a number from 0 to 255 or a name"),
    ('pins = { adc = true, pwm = 1, note = "two" }', "pins.adc", "a pin: a number"),
    ('pins = { adc = 256, pwm = 1, note = "two" }', "pins.adc", "a pin: a number"),
    ("pins = { adc = 2, pwm = '1); import os; (', note = 'two' }", "pins.pwm", "a pin: a number"),
    ('pins = { adc = 2, pwm = 3, note = "two\\nlines" }', "pins.note", "of one line"),
    ('pins = { adc = 2, pwm = 3, led = 4, note = "two" }', "pins.led", "unknown key, known: adc, pwm"),
]


@pytest.mark.parametrize(
    ("old", "new", "key", "expectation"),
    [
        ("value = 16_000_000", "value = 0", "clock_hz.value", "whole number of hertz from 1,000"),
        ("value = 16_000_000", 'value = "fast"', "clock_hz.value", "whole number of hertz"),
        ("value = 16_000_000", "value = 16.5e6", "clock_hz.value", "whole number of hertz"),
        ("value = 16_000_000", "value = true", "clock_hz.value", "whole number of hertz"),
        ("value = 16_000_000", "value = [1, 2]", "clock_hz.value", "whole number of hertz"),
        ("value = [4_100, 4_400]", "value = [4_400, 4_100]", "active_current_ua.value", "lowest value first"),
        ("value = [4_100, 4_400]", "value = [4_400]", "active_current_ua.value", "[lowest, highest]"),
        ("value = [4_100, 4_400]", "value = nan", "active_current_ua.value", "a number of microamperes"),
        ("value = 10_048", "value = 99_999", "micropython_heap_bytes.value", "at most ram_bytes"),
        ("value = 10_048", 'value = "some"', "micropython_heap_bytes.value", 'or "none"'),
        ('core = "cortex-m0"', 'core = "cortex-m00"', "core", "did you mean cortex-m0?"),
        ('core = "cortex-m0"', "core = 0", "core", "a text"),
        ('core = "cortex-m0"\n', "", "core", "is missing"),
        ("[ram_bytes]", "[ram_byte]", "ram_byte", "did you mean ram_bytes?"),
        ('basis = "data sheet"', 'basis = "rumour"', "clock_hz.basis", "one of data sheet, measured, estimate"),
        ("aliases = [", "aliases = [3, ", "aliases", "a list of texts"),
        ("value = 16_384", "size = 16_384", "ram_bytes.size", "known: value, basis, source"),
        ("[supply_mv]", "[nowhere]", "nowhere", "unknown key, known: "),
        *(("[clock_hz]", f"{line}\n\n[clock_hz]", key, expectation) for line, key, expectation in FLASH_AND_PINS),
    ],
)
def test_a_malformed_profile_names_file_key_and_expectation(own, old, new, key, expectation):
    path = own(old, new)
    with pytest.raises(InputError) as caught:
        load_board(path)
    message = str(caught.value)
    assert str(path) in message
    assert key in message
    assert expectation in message


def test_a_missing_source_is_refused(own):
    path = own('source = "nRF51822 Product Specification v3.1, chapter CPU: 16 MHz"\n', "")
    with pytest.raises(InputError, match=r"clock_hz\.source"):
        load_board(path)


def test_a_figure_without_its_table_is_refused(tmp_path):
    text = (FOLDER / "nrf51.toml").read_text(encoding="utf-8")
    start = text.index("[supply_mv]")
    rest = text[start:].split("\n\n", 1)[1]
    path = tmp_path / "mine.toml"
    path.write_text("supply_mv = 3000\n" + text[:start] + rest, encoding="utf-8")
    with pytest.raises(InputError, match=r"supply_mv = 3000: expected a table with value"):
        load_board(path)


@pytest.mark.parametrize(
    ("content", "expectation"),
    [(b"core = ", "valid TOML"), (b"\xff\xfe\x00", "UTF-8"), (b"", "title"), (b"[[[", "valid TOML")],
)
def test_a_file_that_is_no_profile_says_so(tmp_path, content, expectation):
    path = tmp_path / "odd.toml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=expectation):
        read_profile(path)


def test_a_file_that_is_not_there_or_a_folder_says_so(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load_board(str(tmp_path / "none.toml"))
    with pytest.raises(InputError, match="cannot be read"):
        load_board(f"{tmp_path}/")


def test_every_board_that_can_hold_the_python_package_names_its_pins():
    for name in board_names():
        board = load_board(name)
        if (board.micropython_heap_bytes or 0) > 16 * 1024:
            assert board.pins is not type(board).pins, name


@pytest.fixture
def boards(capsys):
    """Exit code, standard output and standard error of `adamb list boards`."""
    return lambda *arguments: adamb(capsys, "list", "boards", *arguments)


def test_the_table_fits_80_columns_and_shows_every_board(boards):
    code, shown, _ = boards()
    assert code == 0
    assert max(map(len, shown.splitlines())) <= 80
    for name, (core, _, _) in EXPECTED.items():
        assert name in shown and core in shown
    assert "…" not in shown


def test_json_holds_every_figure_with_its_source(boards, tmp_path):
    content = json.loads(boards("--json", "-")[1])["boards"]
    assert [board["name"] for board in content] == list(board_names())
    for board in content:
        assert all(figure["source"] for figure in board["figures"].values())
        model = board["cycles_per_instruction"]
        assert model["model"] and model["low"] <= model["high"]
    target = tmp_path / "boards.json"
    boards("pico", "--json", target)
    assert [board["name"] for board in json.loads(target.read_text())["boards"]] == ["rp2040"]
