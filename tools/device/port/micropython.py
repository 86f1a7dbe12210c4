"""A MicroPython package sized for one board: bytecode and source, self-test with vectors, control loops, deploying."""

from __future__ import annotations

import ast
import inspect
import json
import sys
from functools import cache, reduce
from pathlib import Path
from typing import Any

import numpy as np

from adamb.budgets.boards import CORE_IMPORT_BYTES, MICROPYTHON_RESERVE_BYTES, Board, load_board
from adamb.firmware_model import _spec, controller
from adamb.firmware_model.config import Config
from adamb.firmware_model.host.errors import BudgetExceeded, InputError
from adamb.firmware_model.host.options import BLOCK_BYTES_MAX, MORE_THAN_A_BLOCK
from adamb.host_sim.problems import make_problem
from adamb.tools.device.emulator.core import HostCore
from adamb.tools.device.extras import DeviceToolFailed, need, run_tool
from adamb.tools.device.latency.meters import import_bytes, package_bytes, start_bytes
from adamb.tools.device.loop.board import PROBE, BoardInfo, board_info
from adamb.tools.device.micropython import builds, costs
from adamb.tools.device.micropython.package import board_files, fast_path
from adamb.tools.device.port import own
from adamb.tools.device.port.c import NAMES
from adamb.tools.device.port.job import (
    PortJob,
    complete,
    fill,
    installed_version,
    plants,
    shared_values,
    suitable_block,
)
from adamb.tools.device.settings import DeviceSettings
from adamb.tools.device.stream import Stream, record
from adamb.tools.terminal import progress

PASS_WORD = "PASS"
SELFTEST_FILES = ("adamb_settings.py", "vectors.bin")
TRAINED = "trained.sav"


def mpremote(port: str, *arguments: str) -> str:
    """Run one mpremote command line on the board at `port`; its output, or its complaint as an error."""
    need("mpremote", "mpremote")
    command = [sys.executable, "-m", "mpremote", "connect", port, *arguments]
    return run_tool(f"mpremote at {port}", command, seconds=300.0)


def install_commands(folder: Path) -> list[list[str]]:
    """The installation as arguments of mpremote: the library by mip, then the files of the self-test."""
    names = [*SELFTEST_FILES, *([TRAINED] if (folder / TRAINED).is_file() else [])]
    files = [str(folder / name) for name in names]
    return [["mip", "install", "--target", "/lib", str(folder / "package.json")], ["fs", "cp", *files, ":"]]


def look(port: str) -> BoardInfo:
    """Ask the board at `port` about its MicroPython."""
    output = mpremote(port, "exec", PROBE)
    try:
        printed = ast.literal_eval(output.strip().splitlines()[-1])
    except (IndexError, SyntaxError, ValueError) as error:
        raise DeviceToolFailed(f"mpremote at {port}", f"the board printed {output[-80:]!r}") from error
    return board_info(printed, "deploy", port)


def check_firmware(found: BoardInfo, port: str, block_bytes: int, *, usermod: bool) -> None:
    """Refuse a board without a file system, a firmware without the C core where it was asked for, and a
    heap that is too small."""
    if not found.has_files:
        raise InputError("deploy", port, "the board has no file system; build a firmware that has one")
    if usermod and not found.native:
        text = "the C core is not on the board; build it as README.md says under Native speed"
        raise InputError("deploy", port, f"{text}, or leave --runtime out for the Python core")
    needed = MICROPYTHON_RESERVE_BYTES + block_bytes + (0 if found.native else CORE_IMPORT_BYTES)
    if found.free_bytes < needed:
        way_out = "take a smaller --budget"
        if not found.native:
            way_out = "add --runtime usermod for a firmware with the C core, which needs no heap, or " + way_out
        text = f"{found.free_bytes} bytes of heap are free, {needed} are needed"
        raise InputError("deploy", port, f"{text}; {way_out}")


def deploy_folder(folder: Path, port: str, block_bytes: int, *, usermod: bool = False) -> int:
    """Look, copy, then test on the board; 0 when the board prints PASS, else 1."""
    with progress(f"looking at the board at {port}"):
        check_firmware(look(port), port, block_bytes, usermod=usermod)
    with progress(f"copying to {port}"):
        for arguments in install_commands(folder):
            mpremote(port, *arguments)
    with progress(f"testing on {port}, for about a minute"):
        output = mpremote(port, "run", str(folder / "selftest.py"))
    print(output, end="")
    return 0 if output.strip().endswith(PASS_WORD) else 1


SELFTEST_EPISODES, SELFTEST_BYTES = 60, 1024
WATCHDOG_MS = 8300
"""Of the exported loops: the most that an RP2040 can count, in hundreds."""
SAVE_MS_PER_BYTE = 0.25
"""Estimate of a save by the Python core: a CRC, a check, a file, and reading that back."""
PROGRAMS = (
    "adamb_settings.py", "selftest.py", "main.py", "simulate.py", "adamb_board.py", "adamb_storage.py",
    "main_guarded.py",
)  # fmt: skip

OWN = {
    "adamb_settings.py": "adamb_settings.py.in", "selftest.py": "selftest.py.in", "main.py": "own_main.py.in",
    "plant.py": "own_plant.py.in",
}  # fmt: skip
"""The programs for a problem that has no plant here, with their templates."""

ATTENUATION = ", atten=ADC.ATTN_11DB"
"""Of an ESP32: without it, on older firmware, all above about 1 V is the end of the range."""
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
    way_out = f"use the C core instead: adamb port --runtime c --board {board.name} --out DIR"
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
    if job.plant is None or job.usermod or job.block_bytes * SAVE_MS_PER_BYTE <= WATCHDOG_MS:
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
            numbers += [*stream.states[k, h], *stream.actions[k, h], stream.rewards[k, h], *stream.next_states[k, h]]
        numbers += check_words(blocks[k])
    return np.array(numbers, "<u2").tobytes()


def settings_texts(job: PortJob) -> dict[str, str]:
    """The arguments of Controller: its shape, its bytes, and what differs from the defaults."""
    fields, usual = job.settings.fields(), Config()
    shape = {"states": fields.pop("d_s"), "actions": fields.pop("d_a"), "horizon": fields.pop("horizon")}
    lines = [f'    "{name}": {value},' for name, value in {**shape, "bytes": job.block_bytes}.items()]
    used = []
    for name, value in fields.items():
        default = getattr(usual, name)
        if isinstance(value, list):
            if value != list(default):
                lines.append(f'    "{name}": ({", ".join(map(str, value))}),')
        elif value != default:
            used += [NAMES[name][value].removeprefix("ADAMB_")] if name in NAMES else []
            lines.append(f'    "{name}": {used[-1] if name in NAMES else value},')
    imported = f"from adamb import {', '.join(sorted(used))}\n\n" if used else ""
    return {"SETTINGS": "\n".join(lines), "SETTINGS_IMPORT": imported}


def _values(job: PortJob, board: Board) -> dict[str, object]:
    names = [name for name in job.settings.fields() if name != "thresholds"]
    heap = board.micropython_heap_bytes or 0
    kept_bytes = costs.module_heap_bytes() if job.usermod else imported_bytes()
    return {
        "BOARD_TITLE": board.title,
        **settings_texts(job),
        **own.in_python(job),
        "CONFIG_NAMES": ", ".join(names) + ", 15 thresholds",
        "CONFIG_TUPLE": ", ".join(f'"{name}"' for name in names),
        "WATCHDOG_MS": WATCHDOG_MS,
        "ADC_PIN": json.dumps(board.pins.adc),
        "ADC_RANGE": ATTENUATION if board.flash == "esp32" else "",
        "PWM_PIN": json.dumps(board.pins.pwm),
        "PINS": board.pins.note,
        "SNAPSHOT_HEAD_BYTES": _spec.SNAPSHOT_HEAD_BYTES,
        "START": _TRAINED if job.trained else "",
        **shared_values(job),
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
        "LEFT_BYTES": heap - kept_bytes - job.block_bytes,
        "NATIVE": _native_section(job, board),
    }


def _native_section(job: PortJob, board: Board) -> str:
    """Of the README: how to build the C core in, or how to get it."""
    template = f"sections.md.in:{'native' if job.usermod else 'native_hint'}"
    dims = f"{job.settings.d_s}+{job.settings.d_a}"
    values = {"COSTS": costs.report(costs.kept()), "TIMES": costs.board_times(board, dims)}
    return fill(template, {"NATIVE_PLACE": builds.PLACE, **values}).rstrip()


_TRAINED = f"""        # What was learnt before; version and checksum are verified.
        with open("{TRAINED}", "rb") as file:
            self.controller.restore(file)
"""

#: What a program on the board calls; everything else is internal.
API = (
    "Controller", "Controller.act", "Controller.given", "Controller.observe", "Controller.end_episode",
    "Controller.stats", "Controller.save", "Controller.restore", "Controller.tick", "Unit", "Unit.code", "Unit.value",
)  # fmt: skip


def api_table() -> str:
    """The calls with the first line of what they say of themselves."""
    rows = ["| call | does |", "|---|---|"]
    for name in API:
        call: Any = reduce(getattr, name.split("."), controller)
        shown = str(inspect.signature(call)).replace("(self, ", "(").replace("(self)", "()")
        line = (inspect.getdoc(call) or "").splitlines()[0]
        rows.append(f"| `{name}{shown}` | {line} |")
    return "\n".join(rows)


def _package_json() -> bytes:
    """For mip: destination on the board, source relative to this file."""
    places = [place.removeprefix("/lib/") for place in board_files("mpy", optional=True)]
    content = {"urls": [[place, f"mpy/{place}"] for place in places], "deps": [], "version": installed_version()}
    return (json.dumps(content, indent=2) + "\n").encode()


def _manifest() -> bytes:
    text = (
        "# Freeze the controller into firmware: include() this file from the board's manifest.\n"
        f'metadata(description="AdaMB controller", version="{installed_version()}")\n'
        'package("adamb", base_path="py")\n'
    )
    return text.encode()


def _readme(job: PortJob, values: dict[str, object]) -> str:
    """What is in the folder and how to use it; of a problem's own loop without what comes with plants alone."""
    if job.plant is not None:
        return fill("README_mpy.md.in", values)
    use = fill("sections.md.in:own_mpy", values).rstrip()
    parts = fill("README_mpy.md.in", {**values, "MORE_COORDINATES": f"\n\n{use}"}).split("\n\n")
    kept = [
        "\n".join(line for line in part.split("\n") if not line.startswith("| ") or not _gone(line)) for part in parts
    ]
    return "\n\n".join(part for part in kept if not _gone(part))


def _gone(text: str) -> bool:
    return any(name in text for name in ("simulate.py", "against a simulated", "adamb_board", "guarded", "plants/"))


def files(job: PortJob, board_name: str) -> dict[str, bytes]:
    """Everything that goes into the folder."""
    board = load_board(board_name)
    values = _values(job, board)
    made: dict[str, bytes] = {}
    for kind in ("py", "mpy"):
        for place, path in board_files(kind, optional=True).items():
            made[f"{kind}/{place.removeprefix('/lib/')}"] = path.read_bytes()
    made["fast/fast.py"] = fast_path()
    for name, template in OWN.items() if job.plant is None else ((name, f"{name}.in") for name in PROGRAMS):
        made[name] = fill(template, values).encode()
    if job.plant is not None:
        made |= plants(job.plant, ".py")
    made["README.md"] = _readme(job, values).encode()
    made["vectors.bin"] = vectors()
    made["package.json"] = _package_json()
    made["manifest.py"] = _manifest()
    if job.trained is not None:
        made[TRAINED] = job.trained
    if job.usermod:
        made |= {f"{builds.PLACE}/{name}": content for name, content in builds.module_files().items()}
    return complete("adamb-controller-micropython", made)
