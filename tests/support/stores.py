"""Act between every two stores of observe and end_episode: `python tests stores` counts what it chooses."""

from __future__ import annotations

import argparse
import ctypes
from functools import cache
from itertools import product

from adamb.firmware_model.host import binding
from adamb.tools.device.emulator.compile import build_library
from adamb.tools.device.emulator.core import c_folder, sources
from adamb.tools.device.settings import DeviceSettings
from support.paths import TESTS

FLAGS = ("-fsanitize-coverage=func,trace-stores", "-Wno-unused-function")
OBSERVE, END_EPISODE, BOTH = 1, 2, 3
FIELDS = (
    "calls", "stores", "acts", "as_before", "as_after", "in_a_tree", "passing", "wrong", "refused",
    "walks", "walks_wrong", "first_wrong_call",
)  # fmt: skip
MODES = [
    {"mode": mode, "share": share, "when_full": full}
    for mode, share, full in product(("tracking", "paper"), ("off", "on", "auto"), ("reclaim", "freeze"))
]


SIZES = ((1, 1, 8), (2, 1, 8), (3, 2, 512))
"""Dimensions, and words beyond the least block: a small pool is reclaimed often."""
SHOWN = FIELDS[:-1]
TARGETS = ("cortex-m0", "cortex-m3", "cortex-m4")


class Report(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in FIELDS)


@cache
def library() -> ctypes.CDLL:
    made = build_library([TESTS / "chip" / "stores.c", *sources()], includes=[c_folder()], flags=FLAGS)
    return ctypes.CDLL(str(made))


def play(settings: DeviceSettings, more_words: int, *, seed: int, steps: int, which: int = OBSERVE) -> Report:
    """Noise for so many steps; what act chose between the stores."""
    words = settings.required_words() + more_words
    block, report = (ctypes.c_uint16 * words)(), Report()
    config = settings.config()
    structure = ctypes.create_string_buffer(config, len(config))
    code = library().stores_run(
        structure, block, words, seed, ctypes.c_uint64(steps), which, ctypes.byref(report)
    )
    assert code == 0, code
    given = binding.ffi.from_buffer("uint16_t[]", block)
    assert binding.lib.adamb_check(given, words) == 0
    return report


def main() -> int:
    from support import stores_compiled

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000, help="observe calls in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", choices=TARGETS, help="the compiled code of a processor, emulated")
    parser.add_argument("--optimise", choices=("size", "speed"), default="size", help="of that code")
    options = parser.parse_args()
    each = -(-options.steps // (len(SIZES) * len(MODES)))
    code = f"{options.target} for {options.optimise}" if options.target else "instrumented"
    print(f"act between every two stores, {code} code: {each} steps each, seed {options.seed}")
    print(f"{'controller':30}" + "".join(f"{name.replace('_', ' '):>12}" for name in SHOWN))
    total = dict.fromkeys(SHOWN, 0)
    for number, mode in enumerate(MODES):
        for d_s, d_a, more_words in SIZES:
            settings = DeviceSettings(d_s, d_a, 3, seed=number + 1, **mode)
            seed = options.seed + number
            if options.target:
                found, _ = stores_compiled.play(
                    settings,
                    more_words,
                    seed=seed,
                    steps=each,
                    target=options.target,
                    optimise=options.optimise,
                )
            else:
                found = play(settings, more_words, seed=seed, steps=each, which=BOTH)
            name = f"{d_s}+{d_a} " + " ".join(str(value) for value in mode.values())
            print(f"{name:30}" + "".join(f"{getattr(found, field):12}" for field in SHOWN), flush=True)
            total = {field: n + getattr(found, field) for field, n in total.items()}
    print(f"{'all':30}" + "".join(f"{n:12}" for n in total.values()))
    return 1 if total["wrong"] or total["refused"] or total["walks_wrong"] else 0
