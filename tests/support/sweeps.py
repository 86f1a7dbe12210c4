"""A small sweep, run in this process, and its tables."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from adamb.host_sim.experiments.spec import parse_spec
from support.standin_problem import PROBLEM

TABLES = ("results.csv", "summary.csv")
BASIC = f"""
problems = ["{PROBLEM}", {{ name = "{PROBLEM}", label = "fixed", set = {{ c = 0.25 }} }}]
agents = ["random", {{ name = "follow", label = "lazy" }}]
budgets = ["2KiB", "none"]
episodes = 20
seeds = 5
seed_base = 3
seeds_per_cell = 2
"""


def spec_of(text=BASIC, **options):
    return parse_spec(text, Path("some.toml"), **options)


def in_process(cells):
    for cell in cells:
        yield cell, cell.play()


def tables(folder):
    return {name: (folder / name).read_bytes() for name in TABLES}


def rows_of(folder, name="results.csv"):
    return list(csv.DictReader(io.StringIO((folder / name).read_text())))
