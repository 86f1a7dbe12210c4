"""The C core as a library of one folder that Arduino, PlatformIO, ESP-IDF, Zephyr and CMake all take."""

from __future__ import annotations

import re

from adamb.tools.device.emulator import core
from adamb.tools.device.port.bare_c import headers, template_values, trained_header
from adamb.tools.device.port.common import PLANTS, TEMPLATES, PortJob, complete, fill

#: What each toolchain reads, from templates of the same name.
MANIFESTS = (
    "library.properties", "library.json", "idf_component.yml", "Kconfig", "zephyr/module.yml",
    "zephyr/CMakeLists.txt",
)  # fmt: skip
_WISH = """
// A second analog input: the knob.
int32_t board_wish(int32_t reading) {
  (void)reading;
  return map(analogRead(A1), 0, 1023, 0, 1000);
}
"""
_NEW = """  adamb_config config;
  adamb_settings(&config);
  must(controller.begin(config));"""
_TRAINED = """  // What was learnt before; version, length, checksum and dimensions are verified.
  adamb_config config;
  adamb_settings(&config);
  must(controller.restore(adamb_trained, sizeof adamb_trained, config));"""


def files(job: PortJob) -> dict[str, bytes]:
    """Everything that goes into the folder."""
    values = template_values(job, "src")
    made = {f"src/{path.name}": path.read_bytes() for path in [*core.sources(), *headers()]}
    made["src/adamb_settings.h"] = fill("adamb_settings.h.in", values).encode()
    if job.trained is not None:
        made["src/adamb_trained.h"] = trained_header(job.trained)
    made["CMakeLists.txt"] = fill("CMakeLists.txt.in", values).encode()
    made["README.md"] = fill("README_package.md.in", values).encode()
    for name in MANIFESTS:
        made[name] = fill(f"package/{name}.in", values).encode()
    for plant in PLANTS:
        made |= _sketch(plant, values, trained=job.trained is not None and plant == job.plant)
    return complete("adamb-controller-library", made)


def _sketch(plant: str, values: dict[str, object], *, trained: bool) -> dict[str, bytes]:
    """An Arduino sketch: a folder of its own with all that it includes from beside it."""
    folder, wish = f"examples/{plant}", _WISH if plant == "light" else ""
    own = {
        "WISH": wish,
        "PERIOD_MS": _period_ms(plant),
        "SKETCH_INCLUDE": "#include <adamb_trained.h>\n" if trained else "",
        "SKETCH_START": _TRAINED if trained else _NEW,
    }
    return {
        f"{folder}/{plant}.ino": fill("package/sketch.ino.in", {**values, **own}).encode(),
        f"{folder}/plant.h": (TEMPLATES / f"plants/{plant}.h.in").read_bytes(),
        f"{folder}/plants/board.h": (TEMPLATES / "plants/board.h.in").read_bytes(),
    }


def _period_ms(plant: str) -> int:
    """The control period of a plant is said once, in the file that MicroPython takes."""
    found = re.search(r"^PERIOD_MS = (\d+)$", (TEMPLATES / f"plants/{plant}.py.in").read_text(), re.MULTILINE)
    assert found is not None, plant
    return int(found[1])
