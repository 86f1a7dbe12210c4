"""`adamb agents`: every agent with its source, or one of them with its options and their limits."""

from __future__ import annotations

from typing import Annotated

import typer

from adamb.tools.options import Json

EXAMPLE = "Example: adamb agents adaql; adamb agents mine.py:Mine"
CAPTION = (
    "d: most dimensions of states and of actions, — any; fixed agents do not learn; also the baselines of a "
    "problem (adamb problems NAME) and path/to/file.py:Class; adamb agents NAME shows options and limits"
)


def register(app: typer.Typer) -> None:
    app.command(name="agents", epilog=EXAMPLE)(agents)


def agents(
    name: Annotated[str | None, typer.Argument(help="an agent, or file.py:Class")] = None,
    json: Json = None,
) -> None:
    """List the controller, its rivals and fixed agents; with a NAME, its options, limits and source."""
    from adamb.host_sim.agents import agent_names
    from adamb.host_sim.catalogue import describe_agent
    from adamb.tools.terminal.catalogue_table import show

    items = [describe_agent(each) for each in ([name] if name else agent_names())]
    show(
        "agents", items, json, headings=("name", "kind", "d", "what it is"), caption=CAPTION,
        details=name is not None,
        cells=lambda item: (
            item.name, item.facts["kind"], str(item.facts["dimensions"] or "—"), item.about
        ),
    )  # fmt: skip
