"""Everything that a run leaves in its folder: its records, and pictures where they were asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from adamb.budgets.errors import InputError
from adamb.host_sim.files import json_bytes
from adamb.host_sim.provenance import typed_command
from adamb.host_sim.results.lines import LINES, RunLines
from adamb.host_sim.results.run import FILES, RECORDS, RunFolder, run_files

if TYPE_CHECKING:
    from adamb.host_sim.agent import Agent
    from adamb.host_sim.problem import Problem
    from adamb.host_sim.runner import Estimate, RunResult

PLOTS = ("reward.png", "reward.svg", "bytes.png", "bytes.svg", "partition.png", "partition.svg")


def names(*, plot: bool, record: bool) -> tuple[str, ...]:
    """What the files are going to be called."""
    return (*FILES, LINES, *(PLOTS if plot else ()), *(RECORDS if record else ()))


def stopped_before(folder: Path) -> bool:
    """Whether the folder holds what this very command left when it was stopped; it may then replace that."""
    try:
        details = RunFolder.read(folder).details
    except (OSError, InputError):
        return False
    return details.interrupted and details.command == typed_command()


def folder_files(
    result: RunResult,
    problem: Problem,
    agent: Agent,
    references: tuple[dict[str, Estimate], int],
    **of_run: Any,
) -> dict[str, bytes]:
    """run.json comes last: where it is, the folder is complete."""
    lines = RunLines.of(result, *references)
    return {LINES: json_bytes(lines.to_json(), indent=None), **run_files(result, problem, agent, **of_run)}


def pictures(result: RunResult, problem: Problem, agent: Agent) -> dict[str, bytes]:
    """Reward, bytes, and the partition where there is one."""
    from adamb.tools.figures.partition import agent_files
    from adamb.tools.figures.run import plot_files
    from adamb.tools.terminal.run_view import run_title

    title = run_title(result.problem, result.agent, result.core, result.budget_bytes)
    return {**plot_files(result), **agent_files(agent, result, problem, title)}
