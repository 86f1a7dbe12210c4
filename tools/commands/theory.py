"""`adamb theory`: the paper's bounds with numbers put in, and how good a policy drawn from the past is."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adamb.budgets.bounds import paper
from adamb.budgets.bounds.paper import Row, table_one
from adamb.firmware_model.host.errors import InputError, unknown_name
from adamb.firmware_model.host.options import paper_gamma, paper_phi
from adamb.tools import options
from adamb.tools.outputs import check_outputs, write_atomic, write_json
from adamb.tools.terminal import progress
from adamb.tools.terminal.frames import framed, table_console

if TYPE_CHECKING:
    import numpy as np

EXAMPLE = "Example: adamb theory --dims 2+1 --episodes 100000; adamb theory oil-laplace --plot regret.png"
MOST_EPISODES, MOST_DIMENSIONS = 10**15, 10
PICTURES = (".png", ".svg", ".pdf")
CONSTANTS = {"lipschitz": 1.0, "epsilon": 0.5, "delta": 0.1}
POINTS = 80
"""At which regret is shown."""
COVERED = (
    "The bounds on regret and PAC are up to constants and logarithms. They cover --core reference "
    "--agent-set mode=paper,bonus=theory and --core double --agent-set bonus=theory, not the integer core: "
    "docs/paper.md."
)


def register(app: typer.Typer) -> None:
    app.command(name="theory", epilog=EXAMPLE, rich_help_panel="Budgets")(theory)


def theory(
    problem: Annotated[
        str | None, typer.Argument(metavar="[PROBLEM]", help="train on it and draw a policy of the past")
    ] = None,
    dims: options.Dims = None,
    episodes: Annotated[int, typer.Option("--episodes", help="episodes K")] = 2000,
    constants: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="k=v: horizon=5, lipschitz=1 (1 + L_r + L_V + L_V*L_T), epsilon=0.5 (what a good policy may lose, "
            "PAC), delta=0.1 (how often it may lose more)",
        ),
    ] = None,
    seeds: options.Seeds = "20",
    json: options.Json = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="with a problem: true regret beside the bound (.png, .svg, .pdf)")
    ] = None,
) -> None:
    """Print the paper's bounds: regret, PAC, sums of bonuses, size, storage, time, and its Table 1.

    With a problem, mode paper of the controller is trained on it, and one policy of the past is drawn for
    each seed: the policy that the PAC bound speaks of. What these lose is printed beside epsilon, and how
    fast the true regret of the training grew beside the theorem.
    """
    horizon, numbers = _constants(constants)
    options.bounded("episodes", episodes, 1, 100_000 if problem else MOST_EPISODES)
    chosen = options.seed_range(seeds)
    _check_plot(problem, plot)
    check_outputs(json, files=[plot] if plot else [])
    d_s, d_a, steps = _job(problem, dims, horizon)
    found = bounds(d_s, d_a, steps, episodes, **numbers)
    drawn, regret = None, None
    if problem is not None:
        with progress(f"training on {problem}"):
            drawn, regret = _train(problem, chosen, episodes, numbers["epsilon"], found)
    if json != "-":
        console = table_console()
        for table in (bound_table(found), sum_table(found), rows_table(found["table_one"])):
            console.print(table, "")
        for line in filter(None, (COVERED, drawn and drawn["sentence"], regret and regret["sentence"])):
            console.print(line, highlight=False, markup=False)
    rows = [asdict(row) for row in found["table_one"]]
    write_json(json, {**found, "table_one": rows, "past_policy": drawn, "regret": regret})
    if plot is not None and regret is not None:
        write_atomic(plot, _picture(str(problem), found, regret, plot.suffix.lower().lstrip(".")))


def _constants(given: list[str] | None) -> tuple[int | None, dict[str, float]]:
    """The horizon, where it is set, and what else the bounds are of."""
    typed = options.pairs("set", given)
    horizon = options.whole_number("horizon", typed.pop("horizon"), 1, 1000) if "horizon" in typed else None
    for name, text in typed.items():
        if name not in CONSTANTS:
            raise unknown_name("set", name, [*CONSTANTS, "horizon"])
        if not isinstance(options.number_or_word(text), (int, float)):
            raise InputError(name, text, "must be a number")
    numbers = {**CONSTANTS, **{name: float(text) for name, text in typed.items()}}
    if not numbers["lipschitz"] >= 1:
        raise InputError("lipschitz", numbers["lipschitz"], "must be at least 1, as L is 1 plus the constants")
    return horizon, numbers


def _check_plot(problem: str | None, plot: Path | None) -> None:
    if plot is None:
        return
    if problem is None:
        raise InputError("plot", str(plot), "needs a problem, whose true regret is drawn")
    if plot.suffix.lower() not in PICTURES:
        raise InputError("plot", str(plot), f"must end in {', '.join(PICTURES)}")


def _job(problem: str | None, dims: str | None, horizon: int | None) -> tuple[int, int, int]:
    """Dimensions and horizon, typed or of the problem."""
    from adamb.budgets.planner import parse_dims

    if problem is None:
        d_s, d_a = parse_dims(dims or "1+1", MOST_DIMENSIONS)
        return d_s, d_a, 5 if horizon is None else horizon
    for field, given in (("dims", dims), ("horizon", horizon)):
        if given is not None:
            raise InputError(field, given, f"is that of the problem {problem}; leave it out")
    from adamb.host_sim.problems import make_problem

    made = make_problem(problem, [0])
    return made.d_s, made.d_a, made.horizon


def bounds(d_s: int, d_a: int, horizon: int, k: int, lipschitz: float, epsilon: float, delta: float) -> dict[str, Any]:
    """Every bound of the paper for one job."""
    d, gamma = d_s + d_a, paper_gamma(d_s)
    phi = paper_phi(horizon, d, d_s)
    size: dict[str, Any] = {"d": d, "gamma": gamma, "phi": phi}
    whole = {**size, "horizon": horizon, "d_s": d_s}
    pac = paper.pac_episodes(epsilon, delta, horizon=horizon, d=d, d_s=d_s, lipschitz=lipschitz)
    if not math.isfinite(pac.value):
        raise InputError("epsilon", epsilon, "asks for more episodes than a number can hold; take a larger one")
    found = {
        "leaves of a step": paper.partition_size(k, **size),
        "storage, entries": paper.storage(k, **whole),
        "time, entries read": paper.time(k, **whole),
        "regret": paper.regret(k, horizon=horizon, d=d, d_s=d_s, lipschitz=lipschitz),
        "episodes for PAC": pac,
    }
    sums = {
        name: {"alpha": alpha, "beta": beta, **asdict(paper.bonus_sum(k, alpha, beta, **size))}
        for name, (alpha, beta) in paper.bonus_terms(d_s).items()
    }
    job = {"dims": f"{d_s}+{d_a}", "d": d, "d_s": d_s, "horizon": horizon, "episodes": k, "gamma": gamma,
           "phi": phi, "lipschitz": lipschitz, "epsilon": epsilon, "delta": delta}  # fmt: skip
    rows = {name: asdict(bound) for name, bound in found.items()}
    return {"job": job, "bounds": rows, "bonus_sums": sums, "table_one": table_one(d, d_s)}


def _train(
    problem: str, seeds: tuple[int, ...], episodes: int, epsilon: float, found: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The policy of PAC and the regret of the training, by the integer core in mode paper."""
    from adamb.host_sim.runner import estimate
    from adamb.host_sim.studies.growth import past_policy

    past = past_policy(problem, seeds, episodes=episodes, mode="paper")
    lost, share = estimate(past.gap), past.share_within(epsilon)
    place = f"the {episodes} episodes of mode paper on {problem}"
    over = f"(seeds {options.seeds_text(seeds)}, 95 % interval)"
    sentence = (
        f"A policy drawn from {place} loses {lost} against V* {over}; {round(len(seeds) * share)} of the "
        f"{len(seeds)} drawn lose at most {epsilon:g}."
    )
    drawn = {"problem": problem, "seeds": list(seeds), "gap": lost.to_json(), "share_within": share}
    return {**drawn, "sentence": sentence}, _regret(past.lost, found, place, over)


def _regret(lost: np.ndarray, found: dict[str, Any], place: str, over: str) -> dict[str, Any]:
    """True regret at points that are even on a logarithmic axis, and its exponent in the last decade."""
    import numpy as np

    from adamb.host_sim.runner import estimate
    from adamb.host_sim.studies.growth import DECADE, exponents

    episodes = lost.shape[1]
    points = np.unique(np.geomspace(1, episodes, POINTS).round().astype(int))
    grown = np.cumsum(lost, axis=1)[:, points - 1]
    last, theorem = estimate(grown[:, -1]), found["bounds"]["regret"]
    sentence = f"True regret over {place}: {last} {over}"
    shown: dict[str, Any] = {"episodes": points.tolist(), "values": grown.tolist(), "exponent": None}
    if episodes >= DECADE:
        exponent = estimate(exponents(points, grown))
        shown["exponent"] = exponent.to_json()
        sentence += f"; from K = {math.ceil(episodes / DECADE)} on it grew as K^({exponent})"
    return {**shown, "sentence": f"{sentence}; the theorem has K^{theorem['exponent']:.3f}."}


def _picture(problem: str, found: dict[str, Any], regret: dict[str, Any], kind: str) -> bytes:
    import numpy as np

    from adamb.tools.figures import house_style, render
    from adamb.tools.figures.growth import Regret, regret_figure

    job = found["job"]
    points, values = np.array(regret["episodes"]), np.array(regret["values"])
    bound = paper.regret(1, horizon=job["horizon"], d=job["d"], d_s=job["d_s"], lipschitz=job["lipschitz"])
    power = found["bounds"]["regret"]["exponent"]
    lines = {
        f"theorem, constant 1: K^{power:.3f}": (points, bound.value * points**power),
        "H·K, the most there is": (points, job["horizon"] * points),
    }
    detail = f"{len(values)} seeds, 95 % band; integer core in mode paper, which the theorem does not cover"
    figure = regret_figure(f"{problem}: true regret", detail, {"mode paper": Regret(points, values)}, lines)
    with house_style():
        return render(figure, kind)


def bound_table(found: dict[str, Any]) -> Any:
    job = found["job"]
    title = (
        f"{job['dims']}, H {job['horizon']}, K {job['episodes']}, L {job['lipschitz']:g}: "
        f"γ {job['gamma']:g}, φ {job['phi']:.3g}; PAC: ε {job['epsilon']:g}, δ {job['delta']:g}"
    )
    notes = [f"{name}: {row['note']}" for name, row in found["bounds"].items() if row["note"]]
    view = framed(title, ["at most", "value", "grows as", "its condition"], "\n".join(notes))
    for name, row in found["bounds"].items():
        grows = f"(L/(δ·ε))^{row['exponent']:g}" if name.endswith("PAC") else f"K^{row['exponent']:.3f}"
        holds = "holds" if row["met"] else f"does not hold: {row['condition']}"
        view.add_row(name, number(row["value"]), grows, "see below" if "float" in row["condition"] else holds)
    return view


def sum_table(found: dict[str, Any]) -> Any:
    title = "Bonuses of the balls played at a step: Σ 2^(β·ℓ)/n^α, up to a constant"
    view = framed(title, ["term", "α", "β", "value", "grows as", "α ≤ 1 and αγ − β ≥ 1"], "")
    for name, row in found["bonus_sums"].items():
        powers = (f"{row['alpha']:.3g}", f"{row['beta']:.3g}", number(row["value"]), f"K^{row['exponent']:.3f}")
        view.add_row(name, *powers, "yes" if row["met"] else "no")
    return view


def rows_table(rows: list[Row]) -> Any:
    notes = "\n".join(f"{row.algorithm}: {row.note}" for row in rows if row.note)
    view = framed(
        "Table 1: worst cases, up to constants and logarithms", ["algorithm", "regret", "time", "space"], notes
    )
    for row in rows:
        shown = ["–" if power is None else f"H K^{power:.3f}" for power in (row.time_k, row.space_k)]
        view.add_row(row.algorithm, f"H^{row.regret_h:.3g} K^{row.regret_k:.3f}", *shown)
    return view


def number(value: float) -> str:
    return f"{value:.0f}" if value < 1e6 else f"{value:.1e}"
