"""One search finds both twins: the same file stems, and the same function names behind them."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

FIRMWARE = Path(__file__).parents[2] / "firmware_model"
#: Python only: generated numbers, the words that C keeps on its stack, the package itself.
NOT_CODE = {"__init__", "_scratch", "_spec"}
STEMS = sorted(path.stem for path in FIRMWARE.glob("*.py") if path.stem not in NOT_CODE)
#: C only: Python has `//`, defaults where its Config is defined, and too few bits for a path.
ONLY_C = {"number_divide", "config_default", "code_path"}
FUNCTION = re.compile(r"^(?!static)[a-z][\w *]*[ *]adamb_(\w+)\(", re.MULTILINE)


def functions(stem: str) -> list[str]:
    """What other C files may call of this one, without the prefix."""
    return FUNCTION.findall((FIRMWARE / "c" / f"adamb_{stem}.c").read_text())


def test_every_c_file_has_a_python_file_of_its_name_and_the_reverse():
    assert sorted(path.stem.removeprefix("adamb_") for path in (FIRMWARE / "c").glob("*.c")) == STEMS


@pytest.mark.parametrize("stem", STEMS)
def test_what_c_calls_adamb_x_y_python_calls_x_y(stem):
    module = import_module(f"adamb.firmware_model.{stem}")
    names = functions(stem)
    assert names, "a file without functions tells nothing"
    for name in names:
        if name in ONLY_C:
            continue
        short = name.removeprefix(f"{stem}_")
        owners = [module, *(item for item in vars(module).values() if isinstance(item, type))]
        assert any(hasattr(owner, short) for owner in owners), f"{stem}.py has no {short}"


def test_a_function_that_only_c_has_would_be_noticed():
    names = [name for stem in STEMS for name in functions(stem)]
    assert len(names) == len(set(names)) > 60
    assert set(names) >= ONLY_C
    assert not hasattr(import_module("adamb.firmware_model.number"), "divide")
