"""`adamb problems`: every problem with its dimensions, or one with its parameters and their limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from adamb.tools.options import Json

if TYPE_CHECKING:
    from adamb.host_sim.catalogue import Item

EXAMPLE = "Example: adamb problems oil-laplace; adamb problems mine.py:Tank; adamb problems gym:Pendulum-v1"
CAPTION = (
    "d_s, d_a, H: dimensions of states and actions, steps of an episode; V*: the exact optimum is known; "
    "also gym:<id> and path/to/file.py:Class; adamb problems NAME shows parameters and limits"
)


def register(app: typer.Typer) -> None:
    app.command(name="problems", epilog=EXAMPLE)(problems)


def problems(
    name: Annotated[str | None, typer.Argument(help="a problem, gym:<id> or file.py:Class")] = None,
    json: Json = None,
) -> None:
    """List problems with dimensions and steps; with a NAME, its parameters, limits, baselines and source."""
    from adamb.host_sim.catalogue import describe_problem
    from adamb.host_sim.registry import problem_names
    from adamb.tools.terminal.catalogue_table import show

    items = [describe_problem(each) for each in ([name] if name else problem_names())]
    show(
        "problems", items, json, headings=("name", "d_s", "d_a", "H", "V*", "what it is"), caption=CAPTION,
        details=name is not None,
        cells=lambda item: (
            item.name, *(str(item.facts[key]) for key in ("d_s", "d_a", "horizon")),
            "yes" if item.facts["optimum"] else "no", _about(item),
        ),
    )  # fmt: skip


def _about(item: Item) -> str:
    """What the name stands for; names of one family differ in what is given."""
    return item.about + (f" {item.facts['given']}" if item.facts["given"] else "")
