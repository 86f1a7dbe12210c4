"""A MicroPython package sized for one board: bytecode and source, self-test with vectors, a control loop."""

from __future__ import annotations

import inspect
import json
from functools import cache, reduce
from importlib import import_module
from typing import Any

import numpy as np

from adamb.budgets.boards import Board, load_board
from adamb.budgets.boards.profile import CORE_IMPORT_BYTES, MICROPYTHON_RESERVE_BYTES
from adamb.budgets.controller import BLOCK_BYTES_MAX, MORE_THAN_A_BLOCK
from adamb.budgets.errors import BudgetExceeded, InputError
from adamb.firmware_model import _spec
from adamb.host_sim.registry import make_problem
from adamb.tools.device.emulator.core import HostCore
from adamb.tools.device.latency.meter_micropython import import_bytes, package_bytes, start_bytes
from adamb.tools.device.micropython import costs, native
from adamb.tools.device.micropython.package import board_files, fast_path
from adamb.tools.device.port.common import (
    PLANTS,
    PortJob,
    complete,
    fill,
    installed_version,
    plants,
    suitable_block,
)
from adamb.tools.device.port.deploy import SELFTEST_FILES, TRAINED
from adamb.tools.device.settings import DeviceSettings
from adamb.tools.device.stream import Stream, record

SELFTEST_EPISODES, SELFTEST_BYTES = 60, 1024
WATCHDOG_MS = 8300
"""Of the exported loops: the most that an RP2040 can count, in hundreds."""
SAVE_MS_PER_BYTE = 0.25
"""Estimate of a save by the Python core: a CRC, a check, a file, and reading that back."""
PROGRAMS = (
    "adamb_settings.py", "selftest.py", "main.py", "simulate.py", "adamb_board.py", "adamb_storage.py",
    "main_guarded.py",
)  # fmt: skip

#: Where the guarded loop keeps its saves, by what the board's profile says: what to import, and the code.
STORAGES = {
    "file": ("FileSaves", "    return FileSaves(words)"),
    "esp32": (
        "FileSaves, partition_saves",
        '    # A partition named "adamb" of type data, if the firmware has one; stock firmware has none.\n'
        "    import esp32\n\n"
        '    found = esp32.Partition.find(esp32.Partition.TYPE_DATA, label="adamb")\n'
        "    return partition_saves(found[0], words) if found else FileSaves(words)",
    ),
}


@cache
def imported_bytes() -> int:
    return import_bytes("mpy")


def block_for_board(name: str, settings: DeviceSettings, wanted: int | None, *, usermod: bool = False) -> int:
    """Bytes of the block on that board; a board that cannot hold the package is refused with the C way.

    The C core in the firmware takes no heap, so the block has the room of the Python core, too.
    """
    board = load_board(name)
    way_out = f"use the C core instead: adamb port --c --board {board.name} --out DIR"
    heap = board.micropython_heap_bytes
    if heap is None:
        raise InputError("board", board.name, f"does not run MicroPython; {way_out}")
    beside = MICROPYTHON_RESERVE_BYTES + (0 if usermod else CORE_IMPORT_BYTES)
    room = board.available_bytes("usermod" if usermod else "micropython")
    need = 2 * settings.required_words()
    if room < need:
        text = f"its MicroPython leaves {heap} bytes of heap and {beside + need} are needed; {way_out}"
        raise InputError("board", board.name, text)
    if wanted is not None:
        if wanted > room:
            raise BudgetExceeded(beside + wanted, heap, f"a block of {wanted} bytes")
        if wanted > BLOCK_BYTES_MAX:
            raise InputError("budget", wanted, MORE_THAN_A_BLOCK)
        return wanted
    return suitable_block(room, need)


def slow_save(job: PortJob) -> str:
    """A warning where a save by the Python core is likely to take longer than the watchdog allows."""
    if job.usermod or job.block_bytes * SAVE_MS_PER_BYTE <= WATCHDOG_MS:
        return ""
    most = int(WATCHDOG_MS / SAVE_MS_PER_BYTE) // 1024
    return (
        f"warning: a save of main_guarded.py may take {job.block_bytes * SAVE_MS_PER_BYTE / 1000:.0f} s, "
        f"and the watchdog resets the board after {WATCHDOG_MS / 1000:g} s; take --budget {most}KiB or less"
    )


def _record_selftest() -> tuple[DeviceSettings, Stream, list[bytes]]:
    """A run in a small block, so that reclaiming is tested too, with the block after every episode."""
    problem = make_problem(
        "oil-laplace", [1], instance="random", drift="none", continuing=True,
        episodes=SELFTEST_EPISODES, horizon=None, params={},
    )  # fmt: skip
    settings = DeviceSettings(problem.d_s, problem.d_a, problem.horizon)
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


def _values(job: PortJob, board: Board) -> dict[str, object]:
    names = [name for name in job.settings.fields() if name != "thresholds"]
    heap = board.micropython_heap_bytes or 0
    kept_bytes = costs.module_heap_bytes() if job.usermod else imported_bytes()
    return {
        "COMMAND": job.command,
        "BOARD_TITLE": board.title,
        "BLOCK_BYTES": job.block_bytes,
        "BLOCK_WORDS": job.block_words,
        "HORIZON": job.settings.horizon,
        "DIMENSIONS": job.dimensions(),
        "MORE_COORDINATES": job.more_coordinates(),
        "CONFIG_FIELDS": config_class(job.settings.fields()),
        "CONFIG_NAMES": ", ".join(names) + ", 15 thresholds",
        "CONFIG_TUPLE": ", ".join(f'"{name}"' for name in names),
        "WATCHDOG_MS": WATCHDOG_MS,
        "ADC_PIN": json.dumps(board.pins.adc),
        "PWM_PIN": json.dumps(board.pins.pwm),
        "PINS": board.pins.note,
        **{name: getattr(_spec, name) for name in ("ERR_DEVICE", "ERR_EMPTY", "SNAPSHOT_HEAD_BYTES")},
        "TRAINED_IMPORT": "snapshot, " if job.trained else "",
        "START": _TRAINED if job.trained else _NEW,
        "PLANTS": ", ".join(PLANTS),
        "WHEN_NOT": fill("when_not.md.in", {}).rstrip(),
        "SAFE_OUTPUT": fill("safe_output.md.in", {}).rstrip(),
        "RESTARTS": fill("restarts.md.in", {}).rstrip(),
        "FILES": " ".join([*SELFTEST_FILES, *([TRAINED] if job.trained else [])]),
        "API": api_table(),
        "STORAGE_IMPORT": STORAGES[board.flash][0],
        "STORAGE": STORAGES[board.flash][1],
        "MPY_BYTES": package_bytes("mpy", optional=True),
        "PY_BYTES": package_bytes("py", optional=True),
        "HEAP_BYTES": heap,
        "HEAP_SOURCE": board.figures["micropython_heap_bytes"].source,
        "IMPORT_WHAT": "the C core of your firmware" if job.usermod else "the controller from bytecode",
        "IMPORT_BYTES": kept_bytes,
        "PEAK_MPY_BYTES": start_bytes("mpy", job.block_bytes).init_bytes,
        "PEAK_PY_BYTES": start_bytes("py", job.block_bytes).init_bytes,
        "LEFT_BYTES": heap - kept_bytes - job.block_bytes,
        "NATIVE": _native_section(job, board),
    }


def _native_section(job: PortJob, board: Board) -> str:
    """Of the README: how to build the C core in, or how to get it."""
    template = "native.md.in" if job.usermod else "native_hint.md.in"
    dims = f"{job.settings.d_s}+{job.settings.d_a}"
    values = {"COSTS": costs.report(costs.kept()), "TIMES": costs.board_times(board, dims)}
    return fill(template, {"NATIVE_PLACE": native.PLACE, **values}).rstrip()


_NEW = "        controller = core.init(adamb_settings.CONFIG, block)"
_TRAINED = f"""        # What was learnt before; version and checksum are verified.
        with open("{TRAINED}", "rb") as file:
            code = snapshot.restore(file.read(), adamb_settings.CONFIG, block)
        controller = code or core.attach(block)"""

#: What a program on the board calls; everything else is internal.
API = {
    "core": ("init", "attach", "Controller.act", "Controller.observe", "Controller.end_episode"),
    "check": ("check", "stats"),
    "snapshot": ("bytes", "save", "restore"),
    "store": ("open", "Store.save", "Store.restore"),
    "guard": ("open", "Guard.handle", "Guard.tick", "Guard.save"),
    "unit": ("init", "Unit.code", "Unit.value"),
}


def api_table() -> str:
    """The calls of each module with the first line of what they say of themselves."""
    rows = ["| call | does |", "|---|---|"]
    for stem, names in API.items():
        module = import_module(f"adamb.firmware_model.{stem}")
        for name in names:
            call: Any = reduce(getattr, name.split("."), module)
            shown = str(inspect.signature(call)).replace("(self, ", "(").replace("(self)", "()")
            line = (inspect.getdoc(call) or "").splitlines()[0]
            rows.append(f"| `{stem}.{name}{shown}` | {line} |")
    return "\n".join(rows)


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


def files(job: PortJob, board_name: str) -> dict[str, bytes]:
    """Everything that goes into the folder."""
    board = load_board(board_name)
    values = _values(job, board)
    made: dict[str, bytes] = {}
    for kind in ("py", "mpy"):
        for place, path in board_files(kind, optional=True).items():
            made[f"{kind}/{place.removeprefix('/lib/')}"] = path.read_bytes()
    made["fast/fast.py"] = fast_path()
    for name in PROGRAMS:
        made[name] = fill(f"{name}.in", values).encode()
    made |= plants(job.plant, ".py")
    made["README.md"] = fill("README_mpy.md.in", values).encode()
    made["vectors.bin"] = vectors()
    made["package.json"] = _package_json()
    made["manifest.py"] = _manifest()
    if job.trained is not None:
        made[TRAINED] = job.trained
    if job.usermod:
        made |= {f"{native.PLACE}/{name}": content for name, content in native.module_files().items()}
    return complete("adamb-controller-micropython", made)
