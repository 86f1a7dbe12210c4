"""The C core as a folder to drop into a firmware project."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from adamb.budgets.controller import BLOCK_BYTES_MAX
from adamb.budgets.cores import CORES
from adamb.firmware_model.host import binding
from adamb.tools.device.emulator import core
from adamb.tools.device.emulator.compile import TARGETS
from adamb.tools.device.port.common import (
    PLANTS,
    TEMPLATES,
    PortJob,
    complete,
    fill,
    installed_version,
    plants,
)

#: Members whose values have names in adamb.h, by value.
NAMES = {
    "paper": ("ADAMB_MODE_TRACKING", "ADAMB_MODE_PAPER"),
    "share": ("ADAMB_SHARE_OFF", "ADAMB_SHARE_ON", "ADAMB_SHARE_TESTING"),
    "freeze": ("ADAMB_WHEN_FULL_RECLAIM", "ADAMB_WHEN_FULL_FREEZE"),
}


def config_lines(fields: dict[str, Any]) -> str:
    """C statements that turn the default configuration into this one: nothing where nothing differs."""
    usual = binding.ffi.new("adamb_config *")
    binding.lib.adamb_config_default(usual, fields["d_s"], fields["d_a"], fields["horizon"])
    lines = []
    for name, value in fields.items():
        if name == "thresholds":
            changed = [level for level, samples in enumerate(value) if samples != usual.thresholds[level]]
            lines += [f"    config->thresholds[{level}] = {value[level]};" for level in changed]
        elif value != getattr(usual, name):
            lines.append(f"    config->{name} = {NAMES[name][value] if name in NAMES else value};")
    return "".join(line + "\n" for line in lines)


def sizes_table(block_bytes: int) -> str:
    """Flash and stack by processor, from images compiled now; without the compiler, how to get them."""
    if importlib.util.find_spec("ziglang") is None or importlib.util.find_spec("capstone") is None:
        return "Not measured: `pip install adamb[device]` and generate this folder again."
    from adamb.tools.device.emulator.callgraph import stack_report

    lines = [
        "| processor | flash (size) | flash (speed) | adamb_check adds | stack of act | stack of observe "
        "| RAM with the block |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, target in TARGETS.items():
        small, fast = core.flash(name, "size"), core.flash(name, "speed")
        row = [name, f"{small.running_bytes:,}", f"{fast.running_bytes:,}", f"{small.check_bytes:,}"]
        if target.is_arm:
            image = core.core_image(name, "size")
            act, observe = (stack_report(image, [root]).bytes for root in ("adamb_act", "adamb_observe"))
            row += [str(act), str(observe), f"{block_bytes + observe:,}"]
        else:
            row += ["–", "–", "–"]
        lines.append("| " + " | ".join(row) + " |")
    note = (
        "Bytes, with the helpers that the compiler adds (division), measured on images linked from exactly\n"
        "these files. Flash of every function but the diagnostic adamb_check, which costs nothing unless it\n"
        "is called, for size or for speed; the stack is the worst case over every path, for size."
    )
    return "\n".join([*lines, "", note])


_NEW = """/* The configuration is needed only here; the block keeps it. */
static int start(void)
{
    adamb_config config;
    adamb_settings(&config);
    return adamb_init(&config, block, ADAMB_BLOCK_WORDS);
}"""
_TRAINED = """/* What was learnt before; version, length and checksum are verified. */
static int start(void)
{
    adamb_config config;
    adamb_settings(&config);
    return adamb_snapshot_restore(adamb_trained, sizeof adamb_trained, &config, block, ADAMB_BLOCK_WORDS);
}"""

_GUARDED_TRAINED = """    /* Without a save: what was learnt before becomes the first. */
    if (code == ADAMB_GUARD_REINITIALISED) {
        int error = adamb_snapshot_restore(adamb_trained, sizeof adamb_trained, &config, block,
                                           ADAMB_BLOCK_WORDS);
        if (error < 0) {
            return error;
        }
        /* Not while a save may be there that could not be read: a newer one would hide it. */
        if (store.scanned) {
            (void)adamb_guard_save(&guard); /* a flash that refuses does so again, and is counted then */
        }
    }
"""


def trained_header(snapshot: bytes) -> bytes:
    """The snapshot as a constant of the firmware."""
    rows = [", ".join(f"0x{byte:02x}" for byte in snapshot[i : i + 16]) for i in range(0, len(snapshot), 16)]
    text = (
        "/* A trained controller: restore it with adamb_snapshot_restore. */\n#ifndef ADAMB_TRAINED_H\n"
        "#define ADAMB_TRAINED_H\n\n#include <stdint.h>\n\n"
        f"static const uint8_t adamb_trained[{len(snapshot)}] = {{\n    " + ",\n    ".join(rows)
    )
    return (text + ",\n};\n\n#endif\n").encode()


DESCRIPTION = "A controller that learns while it runs, inside a fixed number of bytes"


def headers() -> list[Path]:
    return sorted([*core.c_folder().glob("*.h"), *core.c_folder().glob("*.hpp")])


def template_values(job: PortJob, folder: str) -> dict[str, object]:
    """What the templates take; `folder`: where the sources are, seen from the folder that is written."""
    sources, fields = core.sources(), job.settings.fields()
    public = [path.name for path in headers() if path.name != "adamb_internal.h"]
    public += ["adamb_settings.h"] + (["adamb_trained.h"] if job.trained else [])
    return {
        "DESCRIPTION": DESCRIPTION,
        "URL": "https://arxiv.org/abs/2007.00717",
        "SOURCE_FOLDER": folder,
        "EXCLUDED": ' EXCLUDE_SRCS "example_main.c"' if folder == "." else "",
        "CMAKE_HEADERS": "\n".join(f"    {_inside(folder, name)}" for name in public),
        "CMAKE_EXAMPLE": fill("cmake_example.in", {}).rstrip() if folder == "." else "",
        "ZEPHYR_SOURCES": "\n".join(f"        ../{_inside(folder, path.name)}" for path in sources),
        "REQUIRED_BYTES": job.required_bytes,
        "LARGEST_BYTES": BLOCK_BYTES_MAX,
        "FREEZE": "y" if fields["freeze"] else "n",
        "DETECT": "y" if fields["detect"] else "n",
        "COMMAND": job.command,
        "VERSION": installed_version(),
        "BLOCK_BYTES": job.block_bytes,
        "BLOCK_WORDS": job.block_words,
        "REQUIRED_WORDS": job.settings.required_words(),
        "HORIZON": job.settings.horizon,
        "DIMENSIONS": job.dimensions(),
        "MORE_COORDINATES": job.more_coordinates(),
        "STATE_DIMS": job.settings.d_s,
        "ACTION_DIMS": job.settings.d_a,
        "CONFIG_LINES": config_lines(fields),
        "TRAINED_INCLUDE": '#include "adamb_snapshot.h"\n#include "adamb_trained.h"\n' if job.trained else "",
        "START": _TRAINED if job.trained else _NEW,
        "GUARDED_START": _GUARDED_TRAINED if job.trained else "",
        "CMAKE_SOURCES": "\n".join(f"    {_inside(folder, path.name)}" for path in sources),
        "MAKE_OBJECTS": " ".join(f"{path.stem}.o" for path in sources),
        "MAKE_HEADERS": " ".join(path.name for path in headers()),
        "PLANTS": ", ".join(PLANTS),
        "WHEN_NOT": fill("when_not.md.in", {}).rstrip(),
        "SAFE_OUTPUT": fill("safe_output.md.in", {}).rstrip(),
        "RESTARTS": fill("restarts.md.in", {}).rstrip(),
        "AVR": _on_avr(job.trained),
        "SIZES": sizes_table(job.block_bytes),
    }


def _on_avr(trained: bytes | None) -> str:
    """Of the README: what a processor of 8 bits, whose constants lie in RAM, asks for."""
    code = CORES["avr"].code
    assert code is not None
    values = {
        "TABLES_BYTES": code.tables,
        "TRAINED_RAM": f" and `adamb_trained.h` {len(trained)}" if trained else "",
        "STACK_BYTES": code.stack,
        "LOOP_BYTES": code.flash,
        "SKETCH_BYTES": code.sketch,
        "CHECK_BYTES": code.check,
    }
    return fill("avr.md.in", values).rstrip()


def _inside(folder: str, name: str) -> str:
    return name if folder == "." else f"{folder}/{name}"


def files(job: PortJob) -> dict[str, bytes]:
    """Everything that goes into the folder."""
    values = template_values(job, ".")
    made = {path.name: path.read_bytes() for path in [*core.sources(), *headers()]}
    for name, template in (
        ("CMakeLists.txt", "CMakeLists.txt.in"),
        ("Makefile", "Makefile.in"),
        ("adamb_settings.h", "adamb_settings.h.in"),
        ("example_main.c", "example_main.c.in"),
        ("guarded/guarded_main.c", "guarded_main.c.in"),
        ("README.md", "README_c.md.in"),
    ):
        made[name] = fill(template, values).encode()
    made |= plants(job.plant, ".h")
    made["plants/board.h"] = (TEMPLATES / "plants/board.h.in").read_bytes()
    if job.trained is not None:
        made["adamb_trained.h"] = trained_header(job.trained)
    return complete("adamb-controller-c", made)
