"""The page: the report's style, charts and partition explorer, its own script, and the WebAssembly."""

from __future__ import annotations

import base64
import json
import zlib
from html import escape
from importlib import import_module, resources
from pathlib import Path

from adamb.firmware_model import _spec
from adamb.host_sim.provenance import version
from adamb.tools.device.emulator import core
from adamb.tools.device.emulator.compile import build_wasm
from adamb.tools.playground.worlds import PLAYABLE, SEEDS, described, playable, streams, ziggurat
from adamb.tools.report.page import asset, fill, json_text, script

HERE = resources.files("adamb.tools.playground")
POLICY = "script-src 'unsafe-inline'"
BUDGETS = [512, 768, 1024, 2048, 4096, 8192, 16384, 32768]
#: Of the header, for the script.
WORDS = (
    "words", "scale", "pool_at", "free_n", "fresh", "share", "episodes", "splits", "refused", "reclaims", "restarts",
)  # fmt: skip
FLAGS = ("-std=c99", "-ffp-contract=off", "-fno-trapping-math")
"""As the host's own build: with a fused multiply-add a seed would give other numbers."""


def wasm() -> bytes:
    """The core, the worlds and what the page needs of them."""
    here, core_c = Path(str(HERE)), core.c_folder()
    host = Path(str(import_module("adamb.host_sim").__file__)).parent / "c"
    batch = core_c.parent / "host" / "batch"
    sources = [here / "playground.c", *core.sources(), batch / "adamb_batch.c"]
    sources += [path for folder in (host, host / "worlds", host / "dram") for path in sorted(folder.glob("*.c"))]
    return build_wasm(sources, includes=[here / "include", core_c, batch, host], flags=FLAGS).read_bytes()


def build(problem: str) -> str:
    """The page, with this problem chosen at first."""
    playable(problem)
    data = {
        "first": problem, "seeds": list(SEEDS), "streams": streams(), "ziggurat": ziggurat(),
        "budgets": BUDGETS, "words": {name: getattr(_spec, f"H_{name.upper()}") for name in WORDS},
        "problems": [described(name) for name in PLAYABLE],
    }  # fmt: skip
    blobs = {"wasm": wasm(), "worlds": json.dumps(data, separators=(",", ":")).encode()}
    html = fill(
        {
            "title": "AdaMB playground",
            "status": "note",
            "headline": "A controller that learns in this page",
            "what": escape("The C code that a board runs, in a block of fixed size. Press Run, then change its world."),
            "broken": "",
            "nav": "",
            "body": HERE.joinpath("playground.html").read_text(encoding="utf-8"),
            "footer": escape(f"Written by adamb {version()}. This file needs no network and no other file."),
            "data": json_text({}),
            "blobs": "\n".join(
                f'<script id="{name}" type="text/plain">{base64.b64encode(zlib.compress(content, 9)).decode()}</script>'
                for name, content in blobs.items()
            ),
            "style": asset("style.css") + HERE.joinpath("playground.css").read_text(encoding="utf-8"),
            "script": script(("charts.js", "tables.js", "partition.js", "explorer.js"))
            + HERE.joinpath("playground.js").read_text(encoding="utf-8"),
        }
    )
    return html.replace(POLICY, f"{POLICY} 'wasm-unsafe-eval'", 1)
