"""`adamb bench`: the league of the untuned controller and rivals tuned for every problem and budget."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from adamb.budgets.errors import InputError
from adamb.budgets.sizes import parse_size
from adamb.tools.exit_codes import INTERRUPTED, OK, VIOLATED
from adamb.tools.options import Jobs, Json, Markdown, Quiet, check_jobs, check_markdown, words
from adamb.tools.outputs import check_outputs, save, write_json
from adamb.tools.terminal.frames import table_console

if TYPE_CHECKING:
    from adamb.host_sim.league.play import Bench
    from adamb.host_sim.league.scores import League

EXAMPLE = """Example: adamb bench --quick

Every finished entry is a file in --out; the same command goes on after any interruption. After a change of
the core, --agents ours plays our rows again beside the stored rivals. docs/learning.md: the protocol."""
PLAIN_WIDTH = 140


def register(app: typer.Typer) -> None:
    app.command(name="bench", epilog=EXAMPLE)(bench)


def bench(
    quick: Annotated[bool, typer.Option("--quick", help="four problems, short runs, small grids")] = False,
    only: Annotated[str | None, typer.Option(metavar="PROBLEM,..", help="only these problems")] = None,
    budgets: Annotated[str | None, typer.Option(metavar="SIZE,..", help="only these caps")] = None,
    agents: Annotated[
        str | None, typer.Option(metavar="ROW,..", help="play only: ours, rivals, adaql, file.py:Class ..")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="folder for entries and tables; runs/bench unless given")
    ] = None,
    jobs: Jobs = None,
    report: Annotated[bool, typer.Option("--report", help="play nothing; show what is stored")] = False,
    protocol: Annotated[bool, typer.Option("--protocol", help="print the protocol and stop")] = False,
    json: Json = None,
    as_markdown: Markdown = False,
    quiet: Quiet = False,
) -> None:
    """Run the league, a fixed benchmark: one untuned controller against tuned rivals at equal bytes."""
    check_markdown(as_markdown, json)
    check_jobs(jobs)
    folder = out or Path("runs") / ("bench-quick" if quick else "bench")
    check_outputs(json, None if protocol else folder, ["league.json"], force=True)
    asked = _bench(quick, only, budgets, agents)
    if protocol:
        from adamb.tools.terminal.league_protocol import protocol_text

        print(protocol_text(asked), end="")
        return
    if not report:
        try:
            _play(asked, folder, Console(stderr=True), jobs=jobs, quiet=quiet)
        except KeyboardInterrupt:
            saved = f"finished entries are saved in {folder}; the same command goes on from there"
            print(f"adamb: stopped; {saved}", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None
    console = table_console(stderr=json == "-", plain_width=PLAIN_WIDTH)
    league = _show(asked, folder, console, json=json, as_markdown=as_markdown)
    raise typer.Exit(_exit_code(league))


def _bench(quick: bool, only: str | None, budgets: str | None, agents: str | None) -> Bench:
    from adamb.host_sim.league.play import make_bench

    return make_bench(
        only=None if only is None else words("only", only),
        budgets=None if budgets is None else [parse_size(each) for each in words("budgets", budgets)],
        agents=None if agents is None else words("agents", agents),
        quick=quick,
    )


def _play(asked: Bench, folder: Path, console: Console, *, jobs: int | None, quiet: bool) -> None:
    from adamb.host_sim.league.play import describe, run_bench
    from adamb.tools.terminal.league_protocol import cuts
    from adamb.tools.terminal.progress import Reporter, display

    for note in cuts(asked) if not quiet else ():
        console.print(f"bench: smaller grids on {note}", highlight=False, soft_wrap=True)
    reporter = Reporter("bench", "entries", describe)
    with display(console, reporter, quiet=quiet):
        run_bench(asked, folder, jobs=jobs, progress=reporter)


def _show(asked: Bench, folder: Path, console: Console, *, json: str | None, as_markdown: bool) -> League:
    from adamb.host_sim.league.play import missing, results
    from adamb.host_sim.league.scores import League
    from adamb.host_sim.league.verdicts import judge
    from adamb.tools.figures.league import pareto_files
    from adamb.tools.terminal import league_table as view

    league = League(*results(asked, folder))
    if not league.cells:
        raise InputError("out", str(folder), "holds no entry of this league; run without --report first")
    verdicts = judge(league)
    save(folder, view.files(asked, league, verdicts))
    save(folder, pareto_files(league))
    if as_markdown:
        print(view.markdown(asked, league, verdicts), end="")
    else:
        for table in view.tables(league):
            console.print(view.rich_table(*table))
        for line in [*view.verdict_lines(verdicts), view.edge_line(asked, league)]:
            console.print(line, highlight=False, soft_wrap=True, markup=False)
    absent, total = missing(asked, folder)
    if absent:
        warning = f"adamb: {absent} of {total} entries are not played yet; what is absent counts nowhere"
        print(warning, file=sys.stderr)
    place = f"{view.seeds_line(asked)} Tables and pictures: {folder}"
    print(place, file=sys.stderr if json == "-" or as_markdown else sys.stdout)
    write_json(json, view.content(asked, league, verdicts))
    return league


def _exit_code(league: League) -> int:
    """A target that is missed is a result; a cap that was passed is a violation."""
    code = OK
    for (problem, budget), cell in league.cells.items():
        for score in cell.values():
            if budget is not None and (score.bytes_peak or 0) > budget:
                used = f"budget violated, {score.bytes_peak} bytes used of {budget}"
                print(f"adamb: {problem}, {score.agent}: {used}", file=sys.stderr)
                code = VIOLATED
    return code
