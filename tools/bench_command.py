"""`adamb bench`: the league of the untuned controller and rivals tuned for every problem and budget."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adamb.budgets.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from adamb.host_sim.bench import Bench
    from adamb.host_sim.bench_scores import League

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
        str | None, typer.Option(metavar="ROW,..", help="play only these: ours, rivals, published, adaql ..")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="folder [default: runs/bench]")] = None,
    jobs: Annotated[int | None, typer.Option(help="processes on this computer [default: all cores]")] = None,
    report: Annotated[bool, typer.Option("--report", help="play nothing; show what is stored")] = False,
    protocol: Annotated[bool, typer.Option("--protocol", help="print the protocol and stop")] = False,
    json: Annotated[
        str | None, typer.Option("--json", help="write the league as JSON to a file, - is stdout")
    ] = None,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="print tables for a document")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="no progress display")] = False,
) -> None:
    """Play the league: one untuned controller against tuned rivals at equal bytes, and judge the targets."""
    from rich.console import Console

    from adamb.tools.cli import INTERRUPTED

    if as_markdown and json == "-":
        raise InputError("json", json, "is standard output, where --markdown prints; give a file")
    if jobs is not None and not 1 <= jobs <= 1024:
        raise InputError("jobs", jobs, "must be from 1 to 1024")
    asked = _bench(quick, only, budgets, agents)
    if protocol:
        from adamb.tools.bench_protocol_view import protocol_text

        print(protocol_text(asked), end="")
        return
    folder = out or Path("runs") / ("bench-quick" if quick else "bench")
    if not report:
        try:
            _play(asked, folder, Console(stderr=True), jobs=jobs, quiet=quiet)
        except KeyboardInterrupt:
            saved = f"finished entries are saved in {folder}; the same command goes on from there"
            print(f"adamb: stopped; {saved}", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None
    console = Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH, stderr=json == "-")
    league = _show(asked, folder, console, json=json, as_markdown=as_markdown)
    raise typer.Exit(_exit_code(league))


def _bench(quick: bool, only: str | None, budgets: str | None, agents: str | None) -> Bench:
    from adamb.budgets.sizes import parse_size
    from adamb.host_sim.bench import make_bench

    return make_bench(
        only=_words("only", only),
        budgets=None if budgets is None else [parse_size(each) for each in _words("budgets", budgets) or ()],
        agents=_words("agents", agents),
        quick=quick,
    )


def _words(field: str, given: str | None) -> list[str] | None:
    if given is None:
        return None
    words = [word.strip() for word in given.split(",") if word.strip()]
    if not words:
        raise InputError(field, given, "is empty; give names with commas between them")
    return words


def _play(asked: Bench, folder: Path, console: Console, *, jobs: int | None, quiet: bool) -> None:
    from adamb.host_sim.bench import describe, run_bench
    from adamb.tools.bench_protocol_view import cuts
    from adamb.tools.progress import Reporter, display

    for note in cuts(asked) if not quiet else ():
        console.print(f"bench: smaller grids on {note}", highlight=False, soft_wrap=True)
    reporter = Reporter("bench", "entries", describe)
    with display(console, reporter, quiet=quiet):
        run_bench(asked, folder, jobs=jobs, progress=reporter)


def _show(asked: Bench, folder: Path, console: Console, *, json: str | None, as_markdown: bool) -> League:
    from adamb.host_sim.bench import missing, results
    from adamb.host_sim.bench_scores import League
    from adamb.host_sim.bench_verdicts import judge
    from adamb.tools import bench_view as view
    from adamb.tools import outputs
    from adamb.tools.bench_figures import pareto_files
    from adamb.tools.report_command import write_json

    league = League(*results(asked, folder))
    if not league.cells:
        raise InputError("out", str(folder), "holds no entry of this league; run without --report first")
    verdicts = judge(league)
    outputs.save(folder, view.files(asked, league, verdicts))
    outputs.save(folder, pareto_files(league))
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
    from adamb.tools.cli import OK, VIOLATED

    code: Any = OK
    for (problem, budget), cell in league.cells.items():
        for score in cell.values():
            if budget is not None and (score.bytes_peak or 0) > budget:
                used = f"budget violated, {score.bytes_peak} bytes used of {budget}"
                print(f"adamb: {problem}, {score.agent}: {used}", file=sys.stderr)
                code = VIOLATED
    return code
