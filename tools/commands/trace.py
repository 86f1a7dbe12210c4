"""`adamb trace info FILE`: what a trace holds, before it is replayed by `--set trace=FILE`."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adamb.budgets.errors import InputError
from adamb.budgets.sizes import format_bytes
from adamb.tools.options import Force, Json
from adamb.tools.outputs import check_outputs, write_atomic, write_json

if TYPE_CHECKING:
    from adamb.host_sim.traces.info import TraceInfo

EXAMPLE = "Example: adamb trace info requests.trace.gz --plot picture.png"
PICTURES = (".png", ".svg", ".pdf")
BAR = 40


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Look at trace files before replaying them.", no_args_is_help=True)
    group.command(name="info", epilog=EXAMPLE)(info)
    app.add_typer(group, name="trace")


def info(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a trace in any supported format, .gz too")],
    json: Json = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="write a picture (.png, .svg or .pdf) of the trace")
    ] = None,
    force: Force = False,
) -> None:
    """Format, requests, write share, footprint, row-hit rate and miss-ratio curve of a trace."""
    from adamb.host_sim.traces.info import trace_info

    if plot is not None and plot.suffix.lower() not in PICTURES:
        raise InputError("plot", str(plot), f"must end in {', '.join(PICTURES)}")
    check_outputs(json, files=[plot] if plot else [], force=force)
    found = trace_info(file)
    if json != "-":
        typer.echo(table(found))
    write_json(json, found.as_dict())
    if plot is not None:
        write_atomic(plot, picture(found, plot.suffix.lower().lstrip(".")))


def table(found: TraceInfo) -> str:
    """The summary as text, the miss-ratio curve as bars."""
    things = "lines" if found.unit == "bytes" else "objects"
    amount = f"{format_bytes(round(found.footprint_bytes))}, {round(found.objects):,} {things}"
    if found.sampling_rate < 1.0:
        amount += f" (estimated from {found.sampling_rate:.2%} of them)"
    rows = [
        ("file", found.path),
        ("format", found.format),
        ("requests", f"{found.requests:,}"),
        ("writes", f"{found.write_share:.1%}"),
        ("footprint", amount),
        ("row hits", f"{found.row_hit_rate:.3f} in order, 16 banks of 8 KB rows; "
                     f"{found.row_hit_rate_hashed:.3f} with hashed banks, as replayed"),
    ]  # fmt: skip
    if found.duration is not None:
        rows.insert(3, ("duration", f"{found.duration:,} {found.clock}"))
    width = max(len(name) for name, _ in rows)
    lines = [f"{name:<{width}}  {value}" for name, value in rows]
    lines += ["", f"LRU miss ratio by cache size in {things}"]
    curve = found.as_dict()["miss_ratio"]
    digits = len(f"{curve[-1][0]:,}")
    lines += [f"{size:>{digits},}  {miss:.3f}  {'#' * math.ceil(BAR * miss)}" for size, miss in curve]
    return "\n".join(lines)


def picture(found: TraceInfo, kind: str) -> bytes:
    """Row hits and writes over time, and the miss-ratio curve."""
    from adamb.tools.figures.style import BLUE, GREEN, VERMILLION, house_style, new_figure

    figure = new_figure(8.0, 6.4, 2)
    above, below = figure.axes
    with house_style():
        ends, row_hits, writes = found.phases.T
        above.plot(ends, row_hits, color=BLUE, linewidth=1.5, label="row hits")
        above.plot(ends, writes, color=GREEN, linewidth=1.5, linestyle="--", label="writes")
        above.set(title=f"{Path(found.path).name}: phases", xlabel="request", ylabel="share of requests")
        above.set_ylim(-0.02, 1.02)
        above.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        sizes, misses = found.curve
        below.plot(sizes, misses, color=VERMILLION, linewidth=2, marker="o", markersize=3)
        below.set_xscale("log", base=2)
        things = "lines of 64 bytes" if found.unit == "bytes" else "objects"
        below.set(title="LRU miss ratio", xlabel=f"cache size ({things})", ylabel="misses / requests")
        below.set_ylim(0.0, 1.02)
        buffer = io.BytesIO()
        metadata = {"Date": None} if kind == "svg" else {"CreationDate": None} if kind == "pdf" else None
        figure.savefig(buffer, format=kind, dpi=120, metadata=metadata)
    return buffer.getvalue()
