"""A MicroPython package sized for one board: bytecode and source, self-test with vectors, a control loop."""

from __future__ import annotations

import json
import math
from functools import cache

import numpy as np

from adamb.budgets.boards import Board, load_board
from adamb.budgets.errors import BudgetExceeded, InputError
from adamb.host_sim.registry import make_problem
from adamb.tools.device.core import HostCore
from adamb.tools.device.device_python import board_files, fast_path
from adamb.tools.device.measure_micropython import import_bytes, package_bytes, start_bytes
from adamb.tools.device.port_c import installed_version
from adamb.tools.device.port_common import Job, fill
from adamb.tools.device.settings import Settings
from adamb.tools.device.stream import Stream, record

LARGEST_DEFAULT_BYTES = 16 * 1024
#: Set aside for the loop around the controller: its bytecode, buffers and what the REPL needs.
RESERVE_BYTES = 8 * 1024
SELFTEST_EPISODES, SELFTEST_BYTES = 60, 1024

#: ADC and PWM pins that are free on the usual board of a family, for the worked example.
PINS = {
    "rp2040": ("26", "15", "GP26 is ADC0, GP15 any PWM pin"),
    "rp2350": ("26", "15", "GP26 is ADC0, GP15 any PWM pin"),
    "esp32": ("34", "25", "GPIO34 is an input of ADC1, GPIO25 any output"),
    "esp32-c3": ("2", "5", "GPIO2 is an input of ADC1, GPIO5 any output"),
    "stm32f405": ('"X19"', '"X1"', "X19 is an ADC input, X1 a timer output of a pyboard"),
    "nrf52840": ('"P0_2"', '"P0_13"', "P0.02 is AIN0, P0.13 any output"),
    "samd21": ('"A0"', '"D2"', "A0 is an ADC input, D2 a timer output"),
}
#: How the guarded loop gets flash of its own, by family.
STORAGES = {
    "rp2": (
        "    # The end of the flash: make the file system smaller before, by vfs.VfsLfs2.mkfs.\n"
        "    import rp2\n\n"
        "    return BlockStorage(rp2.Flash(), -STORAGE_SECTORS)"
    ),
    "esp32": (
        '    # A partition named "adamb" of type data in the partition table of the firmware.\n'
        "    import esp32\n\n"
        '    return BlockStorage(esp32.Partition.find(esp32.Partition.TYPE_DATA, label="adamb")[0])'
    ),
    "": (
        "    # A block device of your board: EEPROM or flash with readblocks, writeblocks and ioctl.\n"
        "    from board_flash import DEVICE\n\n"
        "    return BlockStorage(DEVICE, -STORAGE_SECTORS)"
    ),
}
DEFAULT_PINS = ("26", "15", "an ADC input and a PWM output")


@cache
def imported_bytes() -> int:
    return import_bytes("mpy")


def block_for_board(name: str, settings: Settings, wanted: int | None) -> int:
    """Bytes of the block on that board; a board that cannot hold the package is refused with the C way."""
    board = load_board(name)
    way_out = f"use the C core instead: adamb port --c --board {board.name} --out DIR"
    heap = board.micropython_heap_bytes
    if heap is None:
        raise InputError("board", board.name, f"does not run MicroPython; {way_out}")
    need = imported_bytes() + 2 * settings.required_words() + RESERVE_BYTES
    if heap < need:
        text = f"its MicroPython leaves {heap} bytes of heap and {need} are needed; {way_out}"
        raise InputError("board", board.name, text)
    room = heap - imported_bytes() - RESERVE_BYTES
    if wanted is not None:
        if wanted > room:
            raise BudgetExceeded(
                wanted + imported_bytes() + RESERVE_BYTES, heap, f"a block of {wanted} bytes"
            )
        return wanted
    quarter = 1 << max(0, int(math.log2(room / 4)))
    return max(min(LARGEST_DEFAULT_BYTES, quarter), 2 * settings.required_words())


def _record_selftest() -> tuple[Settings, Stream, list[bytes]]:
    """A run in a small block, so that reclaiming is tested too, with the block after every episode."""
    problem = make_problem(
        "oil-laplace", [1], instance="random", drift="none", continuing=True,
        episodes=SELFTEST_EPISODES, horizon=None, params={},
    )  # fmt: skip
    settings = Settings(problem.d_s, problem.d_a, problem.horizon)
    config, words = settings.config(), SELFTEST_BYTES // 2
    blocks: list[bytes] = []

    class Keeping(HostCore):
        def end_episode(self) -> None:
            super().end_episode()
            blocks.append(self.block())

    stream = record("selftest", problem, Keeping(config, words), config, words, SELFTEST_EPISODES)
    return settings, stream, blocks


def check_words(block: bytes) -> tuple[int, int]:
    """The two sums that selftest.py computes on the board."""
    a, b = 1, 0
    for word in np.frombuffer(block, "<u2").tolist():
        a = (a + word) % 65521
        b = (b + a) % 65521
    return a, b


def vectors() -> bytes:
    """vectors.bin as selftest.py reads it."""
    settings, stream, blocks = _record_selftest()
    fields = settings.fields()
    numbers = [stream.episodes, stream.horizon, settings.d_s, settings.d_a, stream.words]
    numbers += [fields[name] for name in fields if name != "thresholds"]
    numbers += fields["thresholds"]
    for k in range(stream.episodes):
        for h in range(stream.horizon):
            numbers += [
                *stream.states[k, h],
                *stream.actions[k, h],
                stream.rewards[k, h],
                *stream.next_states[k, h],
            ]
        numbers += check_words(blocks[k])
    return np.array(numbers, "<u2").tobytes()


def config_class(fields: dict[str, object]) -> str:
    """The configuration as class attributes."""
    lines = []
    for name, value in fields.items():
        text = "(" + ", ".join(map(str, value)) + ")" if isinstance(value, list) else str(value)
        lines.append(f"    {name} = {text}")
    return "\n".join(lines)


def _values(job: Job, board: Board) -> dict[str, object]:
    adc, pwm, pins = PINS.get(board.name, DEFAULT_PINS)
    names = [name for name in job.settings.fields() if name != "thresholds"]
    heap = board.micropython_heap_bytes or 0
    return {
        "COMMAND": job.command,
        "BOARD_TITLE": board.title,
        "BLOCK_BYTES": job.block_bytes,
        "BLOCK_WORDS": job.block_words,
        "HORIZON": job.settings.horizon,
        "DIMENSIONS": job.dimensions(),
        "CONFIG_FIELDS": config_class(job.settings.fields()),
        "CONFIG_NAMES": ", ".join(names) + ", 15 thresholds",
        "CONFIG_TUPLE": ", ".join(f'"{name}"' for name in names),
        "ADC_PIN": adc,
        "PWM_PIN": pwm,
        "PINS": pins,
        "STORAGE": next(text for family, text in STORAGES.items() if board.name.startswith(family)),
        "STORAGE_SECTORS": 4 * -(-(job.block_bytes + 32) // 4096),
        "MPY_BYTES": package_bytes("mpy", optional=True),
        "PY_BYTES": package_bytes("py", optional=True),
        "HEAP_BYTES": heap,
        "HEAP_SOURCE": board.figures["micropython_heap_bytes"].source,
        "IMPORT_BYTES": imported_bytes(),
        "PEAK_MPY_BYTES": start_bytes("mpy", job.block_bytes).init_bytes,
        "PEAK_PY_BYTES": start_bytes("py", job.block_bytes).init_bytes,
        "LEFT_BYTES": heap - imported_bytes() - job.block_bytes,
    }


def _package_json() -> bytes:
    """For mip: destination on the board, source relative to this file."""
    places = [place.removeprefix("/lib/") for place in board_files("mpy", optional=True)]
    content = {
        "urls": [[place, f"mpy/{place}"] for place in places],
        "deps": [],
        "version": installed_version(),
    }
    return (json.dumps(content, indent=2) + "\n").encode()


def _manifest() -> bytes:
    text = (
        "# Freeze the controller into firmware: include() this file from the board's manifest.\n"
        f'metadata(description="AdaMB controller", version="{installed_version()}")\n'
        'package("adamb", base_path="py")\n'
    )
    return text.encode()


def files(job: Job, board_name: str) -> dict[str, bytes]:
    """Everything that goes into the folder."""
    board = load_board(board_name)
    values = _values(job, board)
    made: dict[str, bytes] = {}
    for kind in ("py", "mpy"):
        for place, path in board_files(kind, optional=True).items():
            made[f"{kind}/{place.removeprefix('/lib/')}"] = path.read_bytes()
    made["fast/fast.py"] = fast_path()
    for name in ("adamb_settings.py", "selftest.py", "main.py", "adamb_storage.py", "main_guarded.py"):
        made[name] = fill(f"{name}.in", values).encode()
    made["README.md"] = fill("README_mpy.md.in", values).encode()
    made["vectors.bin"] = vectors()
    made["package.json"] = _package_json()
    made["manifest.py"] = _manifest()
    return made
