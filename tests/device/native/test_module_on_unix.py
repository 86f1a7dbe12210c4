"""MicroPython's unix port, built from its sources with the C core in it, or loading it as a .mpy file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from adamb.host_sim import make_problem, simulate
from adamb.tools.device.micropython import builds
from adamb.tools.device.settings import DeviceSettings
from support.native import CALLS, NATIVE, UnixBoard, differences, heap_growth, needs_unix, replayed, selftest
from support.paths import VECTORS

pytestmark = needs_unix
STREAMS = sorted(path for path in VECTORS.glob("*.jsonl") if not path.name.startswith("long-"))


@pytest.fixture(scope="module", params=["module", "mpy"])
def board(request, tmp_path_factory: pytest.TempPathFactory) -> UnixBoard:
    """No Python core is on it."""
    folder = tmp_path_factory.mktemp("board")
    made = UnixBoard(builds.unix_program(native=request.param == "module"), folder)
    if request.param == "mpy":
        made.put({"/adamb.mpy": builds.native_mpy("x64")})
    return made


def test_the_self_test_passes_with_the_c_core(board: UnixBoard, pico: Path) -> None:
    assert selftest(board, pico) == "PASS\n"
    script = f"from adamb import core\n{NATIVE}"
    assert board.run(script).require_success().output == "True\n"


def test_the_self_test_passes_with_the_python_core(python_board: UnixBoard, pico: Path) -> None:
    assert selftest(python_board, pico) == "PASS\n"
    assert python_board.run(f"from adamb import core\n{NATIVE}").output == "False\n"


def test_every_call_right_or_wrong_gives_what_the_python_core_gives(board, python_board) -> None:
    here, there = (each.run(CALLS).require_success().output for each in (board, python_board))
    assert here.count("\n") > 100 and not differences(here, there)


def test_the_programs_of_the_export_run_unchanged_and_learn_the_same(board, python_board, pico) -> None:
    names = ("main.py", "plant.py", "adamb_settings.py")
    outputs = []
    for each in (board, python_board):
        each.put({f"/{name}": pico / name for name in names})
        outputs.append(each.run((pico / "simulate.py").read_text()).require_success().output)
    assert outputs[0] == outputs[1] and "episodes 501 to 600" in outputs[0]


@pytest.mark.parametrize("stream", STREAMS, ids=lambda path: path.stem)
def test_the_recorded_streams_hold(board: UnixBoard, stream: Path) -> None:
    assert replayed(board, stream) > 100


@pytest.mark.parametrize("options", [{}, {"mode": "paper", "phi": 1}, {"when_full": "freeze"}])
def test_many_steps_with_the_heap_locked_take_not_one_byte(board: UnixBoard, options) -> None:
    assert heap_growth(board, DeviceSettings(1, 1, 5, **options).fields(), 1024, 20_000) == 0
    assert heap_growth(board, DeviceSettings(2, 3, 5, **options).fields(), 4096, 5_000) == 0


def test_collections_of_garbage_leave_the_module_alone(board: UnixBoard) -> None:
    script = (
        "import gc\nfrom adamb import core, guard, unit\nfrom array import array\n"
        "for k in range(50):\n    gc.collect()\n    made = [bytearray(4000) for _ in range(40)]\n"
        "    controller = core.init(core.Config(), array('H', bytes(2048)))\n"
        "    assert controller.act(0, [k], array('H', [0])) == 0 and unit.init(0, 9).code(9) == 65535\n"
        "print('alive')"
    )
    assert board.run(script).require_success().output == "alive\n"


def test_a_run_in_the_loop_takes_the_c_core_of_the_program() -> None:
    program = builds.unix_program(native=True)
    results = []
    for core in (f"micropython:{program}", "c"):
        problem = make_problem("oil-laplace", [0], episodes=8)
        results.append(simulate(problem, "adamb", budget_bytes="1KiB", core=core))
    there, here = results
    assert there.digest == here.digest and np.array_equal(there.returns, here.returns)
    assert there.target["software"].endswith("C core")
