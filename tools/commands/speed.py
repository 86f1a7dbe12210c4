"""`adamb speed`: act and observe of every implementation in nanoseconds, and how they compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from adamb.budgets.errors import InputError
from adamb.tools.options import (
    Json,
    SeedBase,
    Share,
    bounded,
    budget_from,
    given,
    of_controller,
    seed_range,
    words,
)  # fmt: skip
from adamb.tools.outputs import check_outputs, write_json
from adamb.tools.terminal.frames import table_console

if TYPE_CHECKING:
    from adamb.host_sim.problem import Problem
    from adamb.tools.measure.call_times import CallTime

EXAMPLE = (
    "Example: adamb speed oil-laplace --episodes 500; adamb speed oil-2d --only episodes,reference --json -"
)


def register(app: typer.Typer) -> None:
    app.command(name="speed", epilog=EXAMPLE)(speed)


def speed(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="oil-laplace, oil-2d, …")] = "oil-laplace",
    episodes: Annotated[int, typer.Option("--episodes", help="episodes to learn from")] = 500,
    controllers: Annotated[
        int, typer.Option("--controllers", help="how many learn in the rows of many")
    ] = 64,
    rounds: Annotated[int, typer.Option("--rounds", help="repetitions; the fastest counts")] = 3,
    horizon: Annotated[int | None, typer.Option("--horizon", help="steps of an episode")] = None,
    continuing: Annotated[
        bool, typer.Option("--continuing", help="an episode starts where the last ended")
    ] = False,
    only: Annotated[str | None, typer.Option("--only", help="some of these rows, with commas")] = None,
    mode: Annotated[str | None, of_controller("mode")] = None,
    share: Share = None,
    budget: Annotated[str | None, typer.Option("--budget", help="cap in bytes: 4KiB, 4096")] = None,
    seed_base: SeedBase = 0,
    json: Json = None,
) -> None:
    """Measure one act and one observe on a recorded run, in every implementation.

    Rows: episodes, whole episodes in C as a run plays them; episodes-alone, the same for one learner;
    c-batch and c, one call from Python for many controllers or for one; python, the twin; reference, the
    paper's algorithm in Python, in doubles, with the constants of its experiments (γ = 2, φ = 1).
    """
    from adamb.host_sim.agents import check_horizon
    from adamb.host_sim.registry import make_problem
    from adamb.tools.measure import call_times
    from adamb.tools.measure.recorded_calls import record

    wanted = None if only is None else words("only", only)
    for name in wanted or ():
        if name not in call_times.NAMES:
            raise InputError("only", name, f"must be among {', '.join(call_times.NAMES)}")
    bounded("rounds", rounds, 1, 100)
    check_outputs(json, force=True)
    seeds = seed_range(bounded("controllers", controllers, 1, 1000), seed_base)
    episodes = bounded("episodes", episodes, 1, 100_000)
    task = make_problem(problem, seeds, episodes=episodes, horizon=horizon, continuing=continuing)
    check_horizon(task.horizon)
    names = _rows_for(task, wanted)
    cap = budget_from(budget)
    recording = record(task, cap, given(mode=mode, share=share))
    times = {name: call_times.measure(name, recording, rounds) for name in names}
    timings, factors = list(times.values()), call_times.factors(times)
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
        "times_faster": factors,
    }
    write_json(json, content)
    if json != "-":
        console = table_console()
        console.print(_table(content, timings, fastest))
        for fast, found in factors.items():
            told = ", ".join(f"{_figure(factor)} × {times[slow].name}" for slow, factor in found.items())
            if told:
                console.print(f"{times[fast].name}: {told}", highlight=False, soft_wrap=True)


def _rows_for(problem: Problem, wanted: list[str] | None) -> list[str]:
    from adamb.tools.measure import call_times

    possible = call_times.names_for(problem)
    for name in wanted or ():
        if name not in possible:
            raise InputError("only", name, f"{problem.name} has no step in C; {', '.join(possible)} can")
    return wanted or possible


def _table(content: dict, timings: list[CallTime], fastest: float) -> Table:
    caption = (
        f"mean over {content['episodes']} episodes of {content['horizon']} steps ({content['mode']}, share "
        f"{content['share']}), seeds from {content['seed_base']}, fastest of {content['rounds']} rounds"
    )
    table = Table(title=f"speed on {content['problem']}", caption=caption, title_justify="left")
    for heading in ("implementation", "act", "observe", "both", "ratio"):
        table.add_column(heading, justify="left" if heading == "implementation" else "right", no_wrap=True)
    for timing in timings:
        cells = [_nanoseconds(value) for value in (timing.act_ns, timing.observe_ns, timing.step_ns)]
        table.add_row(timing.name, *cells, f"{_figure(timing.step_ns / fastest)}×")
    return table


def _nanoseconds(value: float) -> str:
    return f"{value:.0f} ns" if value < 1000 else f"{value / 1000:.{1 if value < 1e5 else 0}f} µs"


def _figure(ratio: float) -> str:
    return f"{ratio:.3g}" if ratio < 100 else f"{ratio:.0f}"
