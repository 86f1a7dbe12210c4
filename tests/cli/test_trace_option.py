"""`--trace` replays files by their names, and a wrong number of them is one line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from support.command import adamb, refused


@pytest.fixture
def files(tmp_path):
    """Two traces of 6000 requests with different locality."""
    paths = []
    for seed, objects in ((1, 300), (2, 3000)):
        lines = np.random.default_rng(seed).integers(0, objects, 6000)
        path = tmp_path / f"{objects}.trace"
        path.write_text("".join(f"0x{n * 4096:x} {'RW'[n % 2]}\n" for n in lines))
        paths.append(path)
    return paths


QUICK = ["--episodes", 3, "--seeds", 2, "--agent", "centre", "--quiet", "--json", "-"]
CACHE = [*QUICK[:5], "half", "--quiet", "--json", "-", "--set", "requests=500"]


def test_a_trace_means_the_parameter_and_changes_the_result(capsys, files):
    code, named, error = adamb(capsys, "run", "dram-1x1", "--trace", files[0], *QUICK)
    assert code == 0, error
    returns = [json.loads(named)["reward_per_episode"]]
    for source in (["--set", f"trace={files[0]}"], ["--trace", files[1]], []):
        code, out, error = adamb(capsys, "run", "dram-1x1", *source, *QUICK)
        assert code == 0, error
        returns.append(json.loads(out)["reward_per_episode"])
    assert returns[0] == returns[1] and returns[2] != returns[0] != returns[3]


def test_statistics_are_printed_and_kept_on_request(capsys, files):
    line = ["run", "dram-1x1", "--trace", files[0], *QUICK[:6], "--quiet"]
    code, out, error = adamb(capsys, *line, "--statistics")
    assert code == 0, error
    for promised in ("row hits", "bank conflicts", "closed rows", "cycles of a read", "#"):
        assert promised in out
    _, out, _ = adamb(capsys, *line, "--statistics", "--json", "-")
    kept = json.loads(out)["statistics"]
    assert sum(row[2] for row in kept["latency"]) == kept["reads"] > 3000
    assert "row hits" not in adamb(capsys, *line)[1]
    assert "counts nothing" in refused(capsys, "run", "oil-laplace", "--statistics", "--quiet")


@pytest.mark.parametrize("budget", [["--budget", "4KiB"], []])
def test_on_a_trace_the_rules_of_the_problem_stand_beside_the_controller(capsys, files, budget):
    line = ["run", "dram-1x1", "--trace", files[0], "--episodes", 3, "--seeds", 2, "--quiet", *budget]
    code, out, error = adamb(capsys, *line)
    assert code == 0, error
    names = [row.split("  ")[0].strip() for row in out.splitlines()]
    rules = {"adaptive", "open", "closed", "fcfs", "t-star", "best-static", "static", "random"}
    assert {"adamb 4 KiB" if budget else "adamb", *rules} <= set(names)


def test_two_traces_are_two_tenants_in_the_order_given(capsys, files):
    returns = []
    for order in (files, files[::-1]):
        both = ["--trace", order[0], "--trace", order[1]]
        code, out, error = adamb(capsys, "run", "cache-2x1", *both, *CACHE)
        assert code == 0, error
        returns.append(json.loads(out)["reward_per_episode"]["mean"])
    assert returns[0] != returns[1]


@pytest.mark.parametrize(
    "problem, traces, more, named",
    [
        ("dram-1x1", 2, [], "one file"),
        ("cache-2x1", 1, [], "2 files"),
        ("oil-laplace", 1, [], "replays no trace"),
        ("dram-1x1", 1, ["--set", "trace=other"], "already"),
    ],
)
def test_a_wrong_number_of_traces_is_one_line(capsys, files, problem, traces, more, named):
    given = [part for path in files[:traces] for part in ("--trace", path)]
    assert named in refused(capsys, "run", problem, *given, *more, *QUICK)


def test_a_missing_trace_is_named(capsys, tmp_path):
    assert "none.trace" in refused(capsys, "run", "dram-1x1", "--trace", tmp_path / "none.trace", *QUICK)
