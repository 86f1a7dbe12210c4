"""The C core as a folder to drop into a firmware project, or as a library for every toolchain."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

from adamb.budgets.cores import CORES
from adamb.firmware_model.host import binding
from adamb.firmware_model.host.options import BLOCK_BYTES_MAX
from adamb.tools.device.emulator import core
from adamb.tools.device.emulator.compile import TARGETS
from adamb.tools.device.port import own
from adamb.tools.device.port.job import (
    PLANTS,
    TEMPLATES,
    PortJob,
    complete,
    fill,
    installed_version,
    plants,
    sections,
    shared_values,
    with_licence,
)

#: Members whose values have names in adamb.h, by value.
NAMES = {
    "mode": ("ADAMB_MODE_TRACKING", "ADAMB_MODE_PAPER"),
    "split_counts": ("ADAMB_SPLIT_COUNTS_INHERITED", "ADAMB_SPLIT_COUNTS_OWN"),
    "share": ("ADAMB_SHARE_OFF", "ADAMB_SHARE_ON", "ADAMB_SHARE_TESTING"),
    "when_full": ("ADAMB_WHEN_FULL_RECLAIM", "ADAMB_WHEN_FULL_FREEZE"),
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


OWN = ("adamb_spec.h", "adamb_internal.h")
"""Headers of the core that a program does not include, in the order in which they need each other."""
_LOCAL = re.compile(r'^#include "adamb\w*\.h"\n', re.MULTILINE)


def headers() -> list[Path]:
    return sorted([*core.c_folder().glob("*.h"), *core.c_folder().glob("*.hpp")])


def core_files(*, one_file: bool) -> dict[str, bytes]:
    """The C core with its headers; as one file, adamb.c, with those that a program includes."""
    if not one_file:
        return {path.name: path.read_bytes() for path in [*core.sources(), *headers()]}
    public = [path for path in headers() if path.name not in OWN]
    includes = "".join(f'#include "{path.name}"\n' for path in public if path.suffix == ".h")
    own = [core.c_folder() / name for name in OWN]
    parts = [f"\n/* ---- {path.name} */\n{_LOCAL.sub('', path.read_text())}" for path in [*own, *core.sources()]]
    return {"adamb.c": with_licence(includes + "".join(parts)).encode()} | {
        path.name: path.read_bytes() for path in public
    }


def template_values(job: PortJob, folder: str) -> dict[str, object]:
    """Values for the templates; `folder`: that of the sources, relative to the folder that is written."""
    names, fields = list(core_files(one_file=job.one_file)), job.settings.fields()
    sources = [name for name in names if name.endswith(".c")]
    public = [name for name in names if name.endswith((".h", ".hpp")) and name != "adamb_internal.h"]
    public += ["adamb_settings.h"] + (["adamb_trained.h"] if job.trained else [])
    return {
        "DESCRIPTION": DESCRIPTION,
        "URL": "https://arxiv.org/abs/2007.00717",
        "SOURCE_FOLDER": folder,
        "EXCLUDED": ' EXCLUDE_SRCS "example_main.c"' if folder == "." else "",
        "CMAKE_HEADERS": "\n".join(f"    {_inside(folder, name)}" for name in public),
        "CMAKE_EXAMPLE": fill("CMakeLists.txt.in:example", {}).rstrip() if folder == "." else "",
        "ZEPHYR_SOURCES": "\n".join(f"        ../{_inside(folder, name)}" for name in sources),
        "REQUIRED_BYTES": job.required_bytes,
        "LARGEST_BYTES": BLOCK_BYTES_MAX,
        "FREEZE": "y" if fields["when_full"] else "n",
        "DETECT": "y" if fields["detect"] else "n",
        "VERSION": installed_version(),
        "REQUIRED_WORDS": job.settings.required_words(),
        "STATE_DIMS": job.settings.d_s,
        "ACTION_DIMS": job.settings.d_a,
        "CONFIG_LINES": config_lines(fields),
        "TRAINED_INCLUDE": '#include "adamb_snapshot.h"\n#include "adamb_trained.h"\n' if job.trained else "",
        "START": _TRAINED if job.trained else _NEW,
        "GUARDED_START": _GUARDED_TRAINED if job.trained else "",
        "CMAKE_SOURCES": "\n".join(f"    {_inside(folder, name)}" for name in sources),
        "MAKE_OBJECTS": " ".join(f"{Path(name).stem}.o" for name in sources),
        "MAKE_HEADERS": " ".join(name for name in names if name not in sources),
        **shared_values(job),
        "AVR": _on_avr(job.trained),
        "EXAMPLE_NAMES": "the loop as a sketch" if job.plant is None else ", ".join(PLANTS),
        **{part.upper(): _section(job, part) for part in ("use", "examples", "calibration", "power_cuts")},
        **own.in_c(job),
        "SIZES": sizes_table(job.block_bytes),
    }


def _section(job: PortJob, part: str) -> str:
    """Of the READMEs: what differs between the plants and the loop of a problem that has none."""
    return fill(f"sections.md.in:{'own' if job.plant is None else 'plants'}_{part}", shared_values(job)).rstrip()


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
    return fill("sections.md.in:avr", values).rstrip()


def _inside(folder: str, name: str) -> str:
    return name if folder == "." else f"{folder}/{name}"


WITH_PLANTS = (
    ("Makefile", "Makefile.in:plants"),
    ("example_main.c", "example_main.c.in"),
    ("guarded/guarded_main.c", "guarded_main.c.in"),
)
OWN_LOOP = (("Makefile", "Makefile.in:own"), ("example_main.c", "own_main.c.in"), ("plant.h", "own_plant.h.in"))
"""The loop of a problem that has no plant here, as a skeleton."""


def files(job: PortJob) -> dict[str, bytes]:
    """Everything that goes into the folder."""
    values = template_values(job, ".")
    made = core_files(one_file=job.one_file)
    for name, template in (
        ("CMakeLists.txt", "CMakeLists.txt.in:library"),
        ("adamb_settings.h", "adamb_settings.h.in"),
        ("README.md", "README_c.md.in"),
        *(OWN_LOOP if job.plant is None else WITH_PLANTS),
    ):
        made[name] = fill(template, values).encode()
    if job.plant is not None:
        made |= plants(job.plant, ".h")
        made["plants/board.h"] = (TEMPLATES / "plants/board.h.in").read_bytes()
    if job.trained is not None:
        made["adamb_trained.h"] = trained_header(job.trained)
    return complete("adamb-controller-c", made)


def ramulator_files(job: PortJob) -> dict[str, bytes]:
    """The core, and a row policy of Ramulator 2 that uses it."""
    made = core_files(one_file=False)
    sources = "\n".join(f"       adamb/{name}" for name in made if name.endswith(".c"))
    values = {**template_values(job, "."), "RAMULATOR_SOURCES": sources}
    for name, template in (
        ("adamb_settings.h", "adamb_settings.h.in"),
        ("adamb_timeout.cpp", "ramulator2.cpp.in"),
        ("README.md", "README_ramulator2.md.in"),
    ):
        made[name] = fill(template, values).encode()
    return complete("adamb-row-policy", made)


SAVING = "saving"
"""The sketch that keeps what it learns: the loop of the export's plant."""
_WISH = """
// A second analog input: the knob.
int32_t board_wish(int32_t reading) {
  (void)reading;
  return map(analogRead(KNOB_PIN), 0, ADC_LAST, 0, 1000);
}
"""
_SKETCH_NEW = """  adamb_config config;
  adamb_settings(&config);
  must(controller.begin(config));"""
_SKETCH_TRAINED = """  // What was learnt before; version, length, checksum and dimensions are verified.
  adamb_config config;
  adamb_settings(&config);
  must(controller.restore(adamb_trained, sizeof adamb_trained, config));"""


def package_files(job: PortJob) -> dict[str, bytes]:
    """Everything that goes into the folder."""
    values = template_values(job, "src")
    made = {f"src/{name}": content for name, content in core_files(one_file=False).items()}
    made["src/adamb_settings.h"] = fill("adamb_settings.h.in", values).encode()
    if job.trained is not None:
        made["src/adamb_trained.h"] = trained_header(job.trained)
    made["CMakeLists.txt"] = fill("CMakeLists.txt.in:library", values).encode()
    made["README.md"] = fill("README_package.md.in", values).encode()
    for name in sections("manifests.in"):  # what each toolchain reads
        made[name] = fill(f"manifests.in:{name}", values).encode()
    if job.plant is None:
        lines = _starts(trained=job.trained is not None)
        made["examples/loop/loop.ino"] = fill("own_sketch.ino.in", {**values, **lines}).encode()
        made["examples/loop/plant.h"] = fill("own_plant.h.in", values).encode()
        return complete("adamb-controller-library", made)
    for plant in PLANTS:
        made |= _sketch(plant, plant, values, trained=job.trained is not None and plant == job.plant)
    made |= _sketch(SAVING, job.plant, values, trained=False)
    return complete("adamb-controller-library", made)


def _starts(start: str = "", *, trained: bool) -> dict[str, object]:
    """How a sketch starts its controller."""
    return {
        "SKETCH_INCLUDE": "#include <adamb_trained.h>\n" if trained else "",
        "SKETCH_START": start.rstrip() or (_SKETCH_TRAINED if trained else _SKETCH_NEW),
    }


def _sketch(name: str, plant: str, values: dict[str, object], *, trained: bool) -> dict[str, bytes]:
    """An Arduino sketch: a folder of its own with all that it includes from beside it."""
    folder, wish = f"examples/{name}", _WISH if plant == "light" else ""
    parts = sections("saves.ino.in") if name == SAVING else {"flash": "", "start": "", "save": ""}
    own = {
        "WISH": wish,
        "FLASH": parts["flash"],
        "SAVE": parts["save"],
        "PERIOD_MS": _period_ms(plant),
        **_starts(parts["start"], trained=trained),
    }
    return {
        f"{folder}/{name}.ino": fill("sketch.ino.in", {**values, **own}).encode(),
        f"{folder}/plant.h": (TEMPLATES / f"plants/{plant}.h.in").read_bytes(),
        f"{folder}/plants/board.h": (TEMPLATES / "plants/board.h.in").read_bytes(),
    }


def _period_ms(plant: str) -> int:
    """The control period of a plant is said once, in the file that MicroPython takes."""
    found = re.search(r"^PERIOD_MS = (\d+)$", (TEMPLATES / f"plants/{plant}.py.in").read_text(), re.MULTILINE)
    assert found is not None, plant
    return int(found[1])
