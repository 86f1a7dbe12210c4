"""`adamb bench` plays a fixed protocol and loses nothing when it is stopped."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import pytest

from adamb.budgets.errors import AdambError
from adamb.host_sim import make_agent, make_problem, simulate
from adamb.host_sim.league import entries as bench_entries
from adamb.host_sim.league import play as bench
from adamb.host_sim.league import protocol as bench_protocol
from adamb.host_sim.league import together
from adamb.host_sim.league.entries import holds_at, with_known
from adamb.host_sim.league.protocol import CONTENDERS, KIB, TASKS, UNTUNED
from adamb.host_sim.league.together import play_cells
from adamb.host_sim.sweep.cells import run_cell
from support.command import adamb, refused

TINY = ("--quick", "--only", "ambulance-1,dram-lite", "--budgets", "2KiB,4KiB", "--jobs", "1")
ROWS = "adamb,adaql,bandit-zoom"


@pytest.fixture
def short(monkeypatch):
    """Runs of 60 episodes with 3 seeds that score and 2 that tune."""
    monkeypatch.setattr(bench_protocol, "QUICK_EPISODES", 60)
    seeds = bench_protocol.Seeds((1, 2, 3), (11, 12))
    monkeypatch.setattr(bench, "QUICK_SEEDS", seeds)
    return seeds


def entry_files(folder):
    return {path.name: path.read_bytes() for path in (folder / "entries").glob("*.json")}


# ---- the command ----------------------------------------------------------------------------------------


def test_a_tiny_league_leaves_tables_verdicts_and_pictures(capsys, short, tmp_path):
    code, out, error = adamb(capsys, "bench", *TINY, "--agents", ROWS, "--out", tmp_path, "--json", "-")
    assert code == 0, error
    found = json.loads(out)
    assert found["seeds"] == [1, 2, 3] and found["tune_seeds"] == [11, 12]
    assert len(found["scores"]) == 2 * 2 * 3 and len(entry_files(tmp_path)) == 12 + 2
    assert {each["target"] for each in found["verdicts"]} == {"1a", "1b", "1c", "2", "3", "4a", "4b"}
    assert "60 of 72 entries are not played yet" in error
    assert "seeds 1 to 3, tuned on seeds 11 to 12" in error and "bench: 14 of 14 entries" in error
    for name in ("scores.csv", "cells.csv", "league.json", "league.md"):
        assert (tmp_path / name).stat().st_size > 100
    for problem in ("ambulance-1", "dram-lite"):
        assert (tmp_path / f"pareto-{problem}.png").read_bytes().startswith(b"\x89PNG")
    tuned = [each for each in found["scores"] if each["agent"] == "adaql"]
    assert all(json.loads(each["options"])["bonus"] in (0.1, 0.3, 0.6) for each in tuned)


def test_a_league_in_which_nothing_fits_ends_in_tables_without_pictures(capsys, short, tmp_path):
    arguments = ("--quick", "--only", "ambulance-1", "--budgets", "1", "--agents", "adamb", "--quiet")
    code, out, error = adamb(capsys, "bench", *arguments, "--out", tmp_path)
    assert code == 0, error
    assert "–" in out
    assert (tmp_path / "league.md").is_file() and not list(tmp_path.glob("*.png"))


def test_a_bench_that_was_stopped_goes_on_and_ends_in_the_same_tables(capsys, short, tmp_path, monkeypatch):
    arguments = ("bench", *TINY, "--agents", ROWS, "--out", tmp_path, "--quiet")
    assert adamb(capsys, *arguments)[0] == 0
    scores, files = (tmp_path / "scores.csv").read_bytes(), entry_files(tmp_path)
    first, second, *_ = sorted(files)
    (tmp_path / "entries" / first).unlink()
    (tmp_path / "entries" / second).write_bytes(files[second][:40])
    played = []
    monkeypatch.setattr(bench, "play", lambda piece: played.append(piece) or piece.play())
    assert adamb(capsys, *arguments)[0] == 0
    assert {f"{piece.key()}.json" for piece in played} == {first, second}
    assert (tmp_path / "scores.csv").read_bytes() == scores and entry_files(tmp_path).keys() == files.keys()


def test_a_new_core_plays_only_our_rows_again(capsys, short, tmp_path, monkeypatch):
    arguments = ("bench", *TINY, "--out", tmp_path, "--quiet")
    assert adamb(capsys, *arguments, "--agents", ROWS)[0] == 0
    before = entry_files(tmp_path)
    monkeypatch.setattr(bench_entries, "core_digest", lambda: "another core")
    code, out, _ = adamb(capsys, *arguments, "--agents", "adamb")
    fresh = entry_files(tmp_path).keys() - before.keys()
    assert code == 0 and len(fresh) == 4, "four cells of one row"
    assert "bandit-zoom" in out and "adaql" in out, "stored rivals are in the table"


def test_the_protocol_is_printed_from_the_data_that_runs_it(capsys):
    code, out, _ = adamb(capsys, "bench", "--protocol")
    assert code == 0
    for name in (*(task.label for task in TASKS), *(each.label for each in CONTENDERS)):
        assert f"| {name} |" in out
    assert "20 seeds, 120000 to 120019" in out and "cache-slow (all rows): its simulator" in out


@pytest.mark.parametrize(
    ("arguments", "explanation"),
    [
        (["--only", "oil-laplase"], "did you mean oil-laplace"),
        (["--only", ","], "is empty"),
        (["--budgets", "two"], "not a size"),
        (["--agents", "adaqll"], "did you mean adaql"),
        (["--jobs", "0"], "jobs = 0"),
        (["--json", "-", "--markdown"], "standard output"),
        (["--report"], "holds no entry"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(capsys, tmp_path, arguments, explanation):
    assert explanation in refused(capsys, "bench", "--out", tmp_path / "out", *arguments)
    assert not (tmp_path / "out").exists()


# ---- the protocol ---------------------------------------------------------------------------------------


def test_tuning_never_sees_a_seed_that_scores():
    for seeds in (bench_protocol.SEEDS, bench_protocol.QUICK_SEEDS):
        assert not set(seeds.scored) & set(seeds.tuning)


def test_the_controller_is_untuned_and_every_rival_has_a_grid_of_at_most_twenty_choices():
    asked = bench.make_bench(budgets=[4 * KIB])
    for entry in asked.entries():
        choices = len(list(entry.cell.choices()))
        if entry.cell.agent_label == UNTUNED:
            assert not entry.cell.tune and entry.cell.bonus is None and entry.cell.options == ()
        else:
            assert 2 <= choices <= 20, entry.cell.agent_label
    assert [len(bench_protocol.find_contenders([kind])) for kind in ("ours", "rivals")] == [3, 16]


def test_what_is_reused_from_another_budget_is_what_a_run_would_give(short):
    asked = bench.make_bench(only=["oil-noisy"], agents=["rivals"], quick=True)
    saved = 0
    for entry in asked.entries():
        if entry.cell.budget_bytes != 4 * KIB:
            continue
        known = entry.play()
        smaller = replace(entry, cell=replace(entry.cell, budget_bytes=1 * KIB))
        plain, reused = smaller.play(), copy.deepcopy(with_known(smaller, [known]).play())
        saved += sum(trial["budget_bytes"] != 1 * KIB for trial in reused["trials"])
        for outcome in (plain, reused):
            for name in ("seconds", "played_at"):
                del outcome[name]
            outcome["trials"] = [{**trial, "budget_bytes": 0} for trial in outcome["trials"]]
        assert plain == reused, entry.cell.agent_label
    assert saved > 10


@pytest.mark.parametrize("problem", ["oil-noisy", "ambulance-2-shifting", "cache-lite-walk", "dram-1x1"])
def test_choices_tuned_together_earn_what_each_earns_alone(short, problem):
    for entry in bench.make_bench(only=[problem], budgets=[1500], quick=True).entries():
        cell = replace(entry.cell, seeds=(11, 12), episodes=30, curves=0)
        cells = [cell.with_choice(choice) for choice in list(cell.choices())[:3]]
        for alone, found in zip(cells, play_cells(cells), strict=True):
            expected = run_cell(alone, optimum=False)
            assert (found["rows"], found["refused"]) == (expected["rows"], expected["refused"])


@pytest.mark.parametrize("problem", ["dram-1x1", "cache-slow"])
def test_entries_of_a_slow_simulator_are_the_same_together_and_alone(short, problem, tmp_path, monkeypatch):
    asked = bench.make_bench(only=[problem], budgets=[2 * KIB], quick=True)
    joints = []
    monkeypatch.setattr(bench, "processes", lambda play, jobs: lambda pieces: _in_turn(play, pieces, joints))
    bench.run_bench(asked, tmp_path)
    store = bench.EntryStore(tmp_path)
    assert len(joints) == bench.PARTS
    for entry in asked.entries():
        joint, alone = store.get(entry), json.loads(json.dumps(entry.play()))
        assert {**joint, "seconds": 0} == {**alone, "seconds": 0}, entry.cell.agent_label


def _in_turn(play, pieces, joints):
    for piece in pieces:
        joints += [piece] if isinstance(piece, bench_entries.Joint) else []
        yield piece, play(piece)


def test_an_error_in_a_common_run_fails_its_entries_and_no_others(short, tmp_path, monkeypatch):
    asked = bench.make_bench(only=["dram-1x1"], budgets=[2 * KIB], agents=["adaql", "zoom"], quick=True)

    def broken(*given, **more):
        raise AdambError("the simulator broke")

    monkeypatch.setattr(together, "simulate", broken)
    joint = bench_entries.Joint(tuple(asked.entries())).play()
    assert [outcome["failed"] for outcome in joint["entries"]] == ["the simulator broke"] * 2


def test_leaving_v_star_out_changes_nothing_else():
    runs = []
    for optimum in (True, False):
        problem = make_problem("oil-laplace", range(3), episodes=30, drift="walk")
        runs.append(simulate(problem, make_agent("adaql", problem), optimum=optimum))
    assert (runs[0].returns == runs[1].returns).all()
    assert runs[0].optimal is not None and runs[1].optimal is None and runs[1].regret() is None


def test_a_result_is_reused_only_where_no_cap_was_felt():
    assert holds_at(4096, 500, 1024) and holds_at(1024, 500, 4096) and holds_at(None, 500, 1024)
    assert not holds_at(4096, 1000, 1024), "too near to the cap to be sure"
    assert not holds_at(1024, 1020, 4096), "the smaller cap may have been felt"
    assert not holds_at(1024, None, 4096), "what did not fit may fit now"
    assert holds_at(1024, None, 1024)
