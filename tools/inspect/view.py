"""What `adamb inspect` shows: a block's health, every byte by its owner, the partition; a trace as text and as a
picture, before it is replayed by `--set trace=FILE`."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from adamb.budgets.ledger import Ledger
from adamb.firmware_model.host.reader import BlockView
from adamb.firmware_model.host.sizes import format_bytes
from adamb.tools.inspect.findings import Inspection
from adamb.tools.terminal.frames import table_console

if TYPE_CHECKING:
    from adamb.host_sim.traces.info import TraceInfo


BAR = 28


def show(found: Inspection, *, stderr: bool) -> None:
    console = table_console(stderr=stderr)
    size = format_bytes(2 * len(found.words))
    console.print(Text(f"{found.file.path}: a block of {size}, {found.file.form}, digest {found.digest}"))
    if found.sound:
        console.print(Text("✓ sound: every unit is owned once or free, every mean and count adds up", "green"))
    for problem in found.problems:
        console.print(Text(f"✕ damaged: {problem}", style="bold red"))
    if found.view is not None:
        words = found.view.describe()
        words["thresholds"] = " ".join(str(value) for value in found.view.thresholds)
        console.print(Text(", ".join(f"{name} {value}" for name, value in words.items())))
        counters = found.view.counters
        console.print(Text(", ".join(f"{name.replace('_', ' ')} {value}" for name, value in counters.items())))
        console.print(Text(episodes_line(found.view)))
    if found.ledger is not None:
        console.print(ledger_table(found.ledger))
    if found.view is not None:
        console.print(partition_table(found))


def episodes_line(view: BlockView) -> str:
    """What the next episode is, and the returns that decide it."""
    means = ", ".join(f"{name} {kind.mean_return:.3f} (of {kind.n})" for name, kind in view.kinds.items())
    action = " ".join(f"{part:.3f}" for part in view.held_action)
    return f"next episode {view.next_kind}, mean return {means}, held action {action}, at best {view.held_value:.3f}"


def ledger_table(ledger: Ledger) -> Table:
    """Every byte by its owner; the rows sum to the block."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="bytes by owner", title_justify="left", show_footer=True)
    table.add_column("owner", footer="block")
    table.add_column("bytes", justify="right", footer=f"{ledger.total:,}")
    table.add_column("share", justify="right", footer="100.0 %")
    table.add_column("", footer=f"peak {ledger.peak_bytes:,} bytes")
    for owner, size in ledger.bytes.items():
        if size:
            share = size / ledger.total
            table.add_row(owner, f"{size:,}", f"{100 * share:.1f} %", "█" * max(1, round(BAR * share)))
    return table


def partition_table(found: Inspection) -> Table:
    """One row per partition and, beside it, the values of the steps that use it."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="partition and values", title_justify="left")
    for heading in ("step", "balls", "visited", "balls of level 0, 1, …", "V cells", "V min", "mean", "max"):
        table.add_column(heading, justify="left" if heading in ("step", "balls of level 0, 1, …") else "right")
    for tree in found.trees:
        for position, h in enumerate(tree["steps"]):
            worth = found.values[h]
            shape = ["", "", "of all steps" if position == 1 else ""]
            if position == 0:
                levels = " ".join(str(count) for count in tree["levels"])
                shape = [f"{tree['balls']:,}", f"{tree['visited']:,}", levels]
            figures = [f"{worth[key]:.3f}" for key in ("min", "mean", "max")]
            table.add_row(f"h = {h}", *shape, f"{worth['cells']:,}", *figures)
    return table


TRACE_BAR = 40


def trace_table(found: TraceInfo) -> str:
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
    lines += [f"{size:>{digits},}  {miss:.3f}  {'#' * math.ceil(TRACE_BAR * miss)}" for size, miss in curve]
    return "\n".join(lines)


def trace_picture(found: TraceInfo, kind: str) -> bytes:
    """Row hits and writes over time, and the miss-ratio curve."""
    from adamb.tools.figures import BLUE, GREEN, VERMILLION, house_style, new_figure

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
