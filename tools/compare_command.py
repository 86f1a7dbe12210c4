"""`adamb compare PROBLEM`: the controller under several caps beside all baselines and rivals, one table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adamb.budgets.errors import InputError
from adamb.budgets.sizes import format_bytes, parse_size
from adamb.tools import trace_option

if TYPE_CHECKING:
    from rich.table import Table

    from adamb.host_sim.problem import Problem
    from adamb.tools.comparing import Row

BUDGETS = "1KiB,2KiB,4KiB,8KiB,24KiB,32KiB"
EXAMPLE = "Example: adamb compare dram-lite --seeds 20; adamb compare cache-lite --drift half --json -"


@dataclass(frozen=True)
class Task:
    """The problem everybody plays."""

    problem: str
    seeds: tuple[int, ...]
    episodes: int
    instance: str
    drift: str
    continuing: bool
    parameters: dict[str, str]
    horizon: int | None = None

    def make(self) -> Problem:
        from adamb.host_sim.registry import make_problem

        return make_problem(
            self.problem,
            self.seeds,
            instance=self.instance,
            drift=self.drift,
            continuing=self.continuing,
            episodes=self.episodes,
            horizon=self.horizon,
            params=self.parameters,
        )


def register(app: typer.Typer) -> None:
    app.command(name="compare", epilog=EXAMPLE)(compare)


def compare(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="dram-lite, cache-2x1, oil-laplace, …")],
    budgets: Annotated[str, typer.Option("--budgets", help="caps of adamb, separated by commas")] = BUDGETS,
    cap: Annotated[
        str, typer.Option("--cap", help="cap of the rivals, and of the adamb row others are compared with")
    ] = "4KiB",
    when_full: Annotated[
        str | None, typer.Option("--when-full", help="another choice for adamb: reclaim or freeze")
    ] = None,
    only: Annotated[
        str | None, typer.Option("--only", help="these baselines and rivals instead of all, with commas")
    ] = None,
    episodes: Annotated[int, typer.Option("--episodes", help="episodes K")] = 2000,
    seeds: Annotated[int, typer.Option("--seeds", help="how many seeds run together")] = 10,
    seed_base: Annotated[int, typer.Option("--seed-base", help="the first seed")] = 0,
    instance: Annotated[str, typer.Option("--instance", help="random or paper")] = "random",
    drift: Annotated[
        str, typer.Option("--drift", help="none, half (also measures recovery) or walk")
    ] = "none",
    continuing: Annotated[
        bool, typer.Option("--continuing", help="an episode starts where the last ended")
    ] = False,
    parameter: Annotated[
        list[str] | None, typer.Option("--set", help="a parameter of the problem, k=v")
    ] = None,
    trace: Annotated[list[str] | None, typer.Option("--trace", help=trace_option.HELP)] = None,
    json: Annotated[str | None, typer.Option("--json", help="write JSON to a file, - is stdout")] = None,
    force: Annotated[bool, typer.Option("--force", help="replace a file that is there already")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="no progress display")] = False,
) -> None:
    """Compare the controller with the rules of the field at equal luck: level, share of V*, bytes."""
    from adamb.tools import comparing, outputs
    from adamb.tools.run_command import bounded, pairs, seed_range

    sizes, most = parse_budgets(budgets), parse_size(cap, "cap")
    task = Task(
        problem,
        seed_range(seeds, seed_base),
        bounded("episodes", episodes, 1, 1_000_000),
        instance,
        drift,
        continuing,
        trace_option.with_traces(problem, pairs("set", parameter), trace),
    )
    comparing.check_episodes(task.episodes, drift)
    outputs.refuse_to_overwrite([] if json in (None, "-") else [Path(str(json))], force=force)
    line_up = comparing.contenders(task.make(), sizes, most, {"when_full": when_full} if when_full else {})
    if only is not None:
        line_up = comparing.chosen(line_up, [name.strip() for name in only.split(",") if name.strip()])
    rows = _watched(task, line_up, most, quiet=quiet)
    _show(task, rows, most, json)


def beside(task: Task, cap: int | None, options: dict[str, Any], *, quiet: bool) -> Table:
    """The controller under one cap and all rules of the problem, as `adamb run --trace` shows them."""
    from adamb.tools.comparing import Contender

    controller = Contender("controller", "adamb", cap, tuple(options.items()))
    rules = [Contender("baseline", f"baseline:{name}") for name in task.make().baselines()]
    line_up = [controller, *rules, Contender("baseline", "static")]
    return table(task, _watched(task, line_up, cap, quiet=quiet), cap)


def parse_budgets(text: str) -> list[int]:
    """Caps in bytes from `1KiB,4KiB`; at least one."""
    sizes = [parse_size(part, "budgets") for part in text.split(",") if part.strip()]
    if not sizes:
        raise InputError("budgets", text, "write sizes separated by commas, such as 1KiB,4KiB")
    return sizes


def _watched(task: Task, line_up: Sequence[Any], cap: int | None, *, quiet: bool) -> list[Row]:
    from rich.console import Console

    from adamb.tools.comparing import compare as play

    done: list[str] = []
    with nullcontext() if quiet else Console(stderr=True).status("preparing") as status:

        def announce(label: str) -> None:
            done.append(label)
            if status is not None:
                status.update(f"{len(done)} of {len(line_up)}: {label}")

        return play(task.make, line_up, cap, announce)


def _show(task: Task, rows: list[Row], cap: int, json: str | None) -> None:
    from rich.console import Console

    from adamb.tools import outputs

    content = outputs.json_bytes(
        {
            "problem": task.problem,
            "instance": task.instance,
            "drift": task.drift,
            "episodes": task.episodes,
            "seeds": list(task.seeds),
            "parameters": task.parameters,
            "cap_bytes": cap,
            "rows": [row.to_json() for row in rows],
        }
    )
    console = Console(stderr=json == "-")
    console.print(table(task, rows, cap))
    if task.drift == "half":
        console.print(change_table(task, rows))
    if json == "-":
        sys.stdout.write(content.decode())
    elif json is not None:
        outputs.write_atomic(Path(json), content)


def table(task: Task, rows: list[Row], cap: int | None) -> Table:
    """The controller by cap, its rivals, the baselines from best to worst, the optimum."""
    from adamb.tools.comparing import LAST

    drift = "" if task.drift == "none" else f", drift {task.drift}"
    known = any(row.share is not None for row in rows)
    controller = rows[0].contender.label if cap is None else f"adamb {format_bytes(cap)}"
    headings = ["agent", "return", "of V*", f"− {controller}", "bytes"]
    if not known:
        headings.remove("of V*")
    title = f"{task.problem}: {task.episodes} episodes{drift}, last {min(LAST, task.episodes)}"
    return _framed(title, headings, rows, lambda row: _cells(row, known=known), footer(task, rows, cap))


def change_table(task: Task, rows: list[Row]) -> Table:
    """What the change in the middle did to everybody; a table of its own, to fit a terminal."""
    from adamb.tools.comparing import LAST, RECOVERED, WINDOW

    change = task.episodes // 2
    headings = ["agent", f"{min(LAST, change)} before", f"{WINDOW} after", "back", "lead back", "seeds"]
    caption = (
        f"back: episodes after the change until the mean of {WINDOW} is {RECOVERED:.0%} of that before; lead "
        "back: the same for the lead over random play; in brackets the 95 % range over seeds, ∞ is never; "
        f"seeds: those whose end is at {RECOVERED:.0%} of their own level before"
    )
    title = f"{task.problem}: the change at episode {change}"
    return _framed(title, headings, rows, _change_cells, caption)


def _framed(
    title: str, headings: list[str], rows: list[Row], cells: Callable[[Row], list[str]], caption: str
) -> Table:
    from rich import box
    from rich.table import Table

    view = Table(
        title=title, title_justify="left", title_style="bold", caption=caption, caption_justify="left",
        box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), collapse_padding=True,
    )  # fmt: skip
    for heading in headings:
        view.add_column(heading, justify="left" if heading == "agent" else "right", no_wrap=True)
    for kind in ("controller", "rival", "baseline", "optimum"):
        part = [row for row in rows if row.contender.kind == kind]
        if kind == "baseline":
            part.sort(key=lambda row: 0.0 if row.level is None else -row.level.mean)
        for row in part:
            view.add_row(*cells(row), end_section=row is part[-1])
    return view


def _cells(row: Row, *, known: bool) -> list[str]:
    from adamb.tools.summary import percent

    if row.why_not is not None:
        return [_label(row), row.why_not]
    cells = [_label(row), str(row.level)]
    if known:
        cells.append("" if row.share is None else percent(row.share))
    return [*cells, "" if row.difference is None else str(row.difference), str(row.bytes_peak or "—")]


def _change_cells(row: Row) -> list[str]:
    figures = (row.before, row.after, row.recovery, row.lead_recovery, row.seeds_back)
    return [_label(row), *("—" if value is None else str(value) for value in figures)]


def _label(row: Row) -> str:
    return row.contender.label.removeprefix("baseline:")


def footer(task: Task, rows: list[Row], cap: int | None) -> str:
    """What one must know to read and to repeat the table."""
    from adamb.tools.summary import seeds_text

    given = ", ".join(f"{name}={value}" for name, value in rows[0].contender.options)
    under = "without a cap" if cap is None else f"under {format_bytes(cap)}"
    lines = [
        f"seeds {seeds_text(task.seeds)}; mean return of an episode ± 95 % over {len(task.seeds)} seeds; "
        f"− adamb: paired difference to adamb {under}",
        f"adamb{' (' + given + ')' if given else ''} and rivals run with their default options, tuned to no "
        "problem; rivals are charged the 16-bit numbers a device would keep; bytes: worst seed; — keeps "
        "nothing it has learned",
        "static: the best fixed action of each seed, found beforehand on the first episodes of the same luck",
    ]
    if any(row.share is not None for row in rows):
        lines.append("of V*: return / exact optimum of the same start states")
    return "\n".join(lines)
