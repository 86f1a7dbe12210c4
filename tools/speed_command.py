"""`adamb speed`: act and observe of every implementation in nanoseconds, and how they compare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adamb.budgets.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from adamb.tools.speeds import Timing

EXAMPLE = "Example: adamb speed oil-laplace --episodes 500; adamb speed oil-2d --only c-batch,c --json -"


def register(app: typer.Typer) -> None:
    app.command(name="speed", epilog=EXAMPLE)(speed)


def speed(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="oil-laplace, oil-2d, …")] = "oil-laplace",
    episodes: Annotated[int, typer.Option("--episodes", help="episodes to learn from")] = 500,
    controllers: Annotated[
        int, typer.Option("--controllers", help="how many step together in the batch entry")
    ] = 32,
    rounds: Annotated[int, typer.Option("--rounds", help="repetitions; the fastest counts")] = 3,
    only: Annotated[
        str | None, typer.Option("--only", help="some of c-batch, c, python, reference, with commas")
    ] = None,
    mode: Annotated[str | None, typer.Option("--mode", help="tracking or paper")] = None,
    share: Annotated[str | None, typer.Option("--share", help="off, on or auto")] = None,
    budget: Annotated[str | None, typer.Option("--budget", help="cap in bytes: 4KiB, 4096")] = None,
    seed_base: Annotated[int, typer.Option("--seed-base", help="the first seed")] = 0,
    json_to: Annotated[str | None, typer.Option("--json", help="to a file, or - for stdout")] = None,
) -> None:
    """Measure one act and one observe on a recorded run: C in batches and singly, Python, the reference."""
    from adamb.budgets.sizes import parse_size
    from adamb.host_sim.registry import make_problem
    from adamb.tools import speeds
    from adamb.tools.outputs import json_bytes, write_atomic
    from adamb.tools.run_command import bounded, seed_range

    names = list(speeds.SUBJECTS) if only is None else [name.strip() for name in only.split(",")]
    for name in names:
        if name not in speeds.SUBJECTS:
            raise InputError("only", name, f"must be among {', '.join(speeds.SUBJECTS)}")
    bounded("rounds", rounds, 1, 100)
    seeds = seed_range(bounded("controllers", controllers, 1, 1000), seed_base)
    task = make_problem(problem, seeds, episodes=bounded("episodes", episodes, 1, 100_000))
    options = {name: value for name, value in (("mode", mode), ("share", share)) if value is not None}
    cap = None if budget is None else parse_size(budget)
    recording = speeds.record(task, cap, options)
    timings = [speeds.measure(name, recording, rounds) for name in names]
    fastest = max(min(timing.step_ns for timing in timings), 1e-3)
    content = {
        "problem": problem,
        "episodes": episodes,
        "horizon": task.horizon,
        "controllers": controllers,
        "rounds": rounds,
        "seed_base": seed_base,
        "budget_bytes": cap,
        **{name: recording.core(1).config.words[name] for name in ("mode", "share")},
        "rows": [timing.to_json(fastest) for timing in timings],
    }
    if json_to == "-":
        typer.echo(json.dumps(content, indent=2, allow_nan=False))
        return
    if json_to is not None:
        write_atomic(Path(json_to), json_bytes(content))
    from rich.console import Console

    Console().print(_table(content, timings, fastest))


def _table(content: dict, timings: list[Timing], fastest: float) -> Table:
    from rich.table import Table

    caption = (
        f"mean over {content['episodes']} episodes of {content['horizon']} steps ({content['mode']}, share "
        f"{content['share']}), seeds from {content['seed_base']}, fastest of {content['rounds']} rounds"
    )
    table = Table(title=f"speed on {content['problem']}", caption=caption, title_justify="left")
    for heading in ("implementation", "act", "observe", "both", "ratio"):
        table.add_column(heading, justify="left" if heading == "implementation" else "right", no_wrap=True)
    for timing in timings:
        cells = [_nanoseconds(value) for value in (timing.act_ns, timing.observe_ns, timing.step_ns)]
        table.add_row(timing.name, *cells, f"{timing.step_ns / fastest:.3g}×")
    return table


def _nanoseconds(value: float) -> str:
    return f"{value:.0f} ns" if value < 1000 else f"{value / 1000:.3g} µs"
