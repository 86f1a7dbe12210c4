"""The planner: three verdicts, both inverse questions, and advice that works."""

from __future__ import annotations

import json

import pytest

from adamb.budgets.boards import board_names, load_board
from adamb.budgets.planner import ALWAYS, NEVER, RECLAIMS, PlannedJob, parse_dims, plan, smallest_board
from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.options import BLOCK_BYTES_MAX
from support.command import adamb, refused

PAPER = PlannedJob(1, 1, 5, 2000, "paper")


def test_the_paper_on_a_microbit_fits_always_with_a_certificate():
    made = plan(PAPER, board="microbit")
    assert PAPER.settings == {"share": "off", "split": "own", "gamma": 3, "phi": 5}
    assert made.verdict == ALWAYS
    assert made.certificate_bytes <= made.budget_bytes == 14 * 1024
    assert made.first_binding_episode > 2000
    assert str(made.certificate_bytes) in made.sentence
    assert made.changes == []


def test_the_default_mode_on_a_microbit_reclaims_at_some_episode():
    made = plan(PlannedJob(1, 1, 5, 2000), board="microbit")
    assert made.verdict == RECLAIMS
    assert 0 < made.first_binding_episode <= 2000
    assert f"until episode {made.first_binding_episode}" in made.sentence


def test_too_little_memory_does_not_fit_and_says_how_much_is_needed():
    made = plan(PAPER, budget_bytes=100)
    assert made.verdict == NEVER
    assert str(PAPER.minimum_bytes) in made.sentence
    assert any(str(PAPER.minimum_bytes) in idea for idea in made.changes)


def test_the_finest_level_names_those_that_only_early_splits_reach():
    """Level 9 had been explained by the threshold of level 7."""
    made = plan(PlannedJob(1, 1, 5, 2000))
    because = "the threshold 16384 of level 7 is above 8190; early splits reach 2 levels more"
    assert (made.job.bound.forest.finest_leaf(2000), made.finest_because) == (9, because)
    assert "early" not in plan(PlannedJob(1, 1, 5, 2000, split="own", gamma=2)).finest_because


def test_the_size_to_start_with_is_no_bound_and_keeps_to_what_there_is():
    """For 200,224 bytes and no board a user had been left alone with a worst case."""
    made = plan(PlannedJob(2, 1, 5, 2000))
    assert made.start_bytes == 4096 < made.certificate_bytes and made.to_json()["smallest_board"]["start"]
    assert plan(PlannedJob(2, 1, 16, 2000)).start_bytes == 8192
    assert plan(PlannedJob(2, 1, 5, 2000), budget_bytes=2000).start_bytes == 2000
    small = PlannedJob(1, 1, 5, 2000)
    assert plan(small, budget_bytes=100).start_bytes == small.minimum_bytes


def test_the_parts_of_a_bound_are_maxima_of_their_own_and_the_table_says_so(command):
    made = plan(PlannedJob(1, 1, 5, 2000))
    assert sum(made.parts().values()) > made.units
    assert "each in a history of its own, so they add up to more" in " ".join(command("--no-costs")[1].split())


def test_a_certificate_is_never_below_what_is_needed_to_start():
    """With a phi that no ball reaches nothing ever splits; the certificate had been smaller than init asks
    for."""
    job = PlannedJob(1, 1, 5, 2000, phi=100_000)
    assert job.bound.forest.leaves(2000) == 5, "the roots of the steps"
    assert plan(job).certificate_bytes == job.minimum_bytes
    assert plan(job, budget_bytes=job.minimum_bytes).verdict == ALWAYS
    assert plan(job, budget_bytes=job.minimum_bytes - 8).verdict == NEVER


def test_largest_episodes_is_the_last_number_of_episodes_that_fits_always():
    for budget in (1024, 4096, 10_048):
        largest = plan(PAPER, budget_bytes=budget).largest_episodes
        assert plan(PlannedJob(1, 1, 5, largest, "paper"), budget_bytes=budget).verdict == ALWAYS
        assert plan(PlannedJob(1, 1, 5, largest + 1, "paper"), budget_bytes=budget).verdict == RECLAIMS


@pytest.mark.parametrize("job", [PAPER, PlannedJob(1, 1, 5, 2000), PlannedJob(2, 2, 5, 2000), PlannedJob(1, 1, 5, 100)])
def test_smallest_board_is_the_smallest_on_which_the_job_fits_always(job):
    found = smallest_board(job.certificate_bytes)
    fitting = [name for name in board_names() if plan(job, board=name).verdict == ALWAYS]
    assert (found.name if found else None) == (fitting[0] if fitting else None)


def test_the_advice_works():
    """Whatever number the advice names makes the same job fit always."""
    given = {"split": "own", "gamma": 3}
    made = plan(PlannedJob(1, 1, 5, 10_000, **given), board="microbit")
    assert made.verdict == RECLAIMS
    text = "\n".join(made.changes)
    phi = int(text.split("phi ")[1].split()[0])
    budget = int(text.split("a budget of ")[1].split()[0])
    board = text.split("the board ")[1].split()[0]
    assert plan(PlannedJob(1, 1, 5, 10_000, **given, phi=phi), board="microbit").verdict == ALWAYS
    assert "share on" in text
    assert plan(PlannedJob(1, 1, 5, 10_000, **given, share="on"), board="microbit").verdict == ALWAYS
    assert plan(made.job, budget_bytes=budget).verdict == ALWAYS
    assert plan(made.job, budget_bytes=budget - 8).verdict == RECLAIMS
    assert plan(made.job, board=board).verdict == ALWAYS


def test_no_advice_asks_a_board_for_memory_that_it_does_not_have():
    """A micro:bit without room for the Python core had been told to take a larger budget."""
    never = plan(PAPER, board="microbit", runtime="micropython")
    assert never.verdict == NEVER and len(never.changes) == 3
    assert [idea.startswith("the C core") for idea in never.changes] == [True, True, False]
    assert never.changes[2].startswith("the board")
    too_large = PlannedJob(2, 2, 31, 2000)
    there = plan(too_large, board="microbit", runtime="micropython").changes
    assert all("usermod" not in idea for idea in there), "1856 bytes are not enough for it"
    small = plan(PAPER, board="microbit", budget_bytes=100)
    assert f"a budget of {PAPER.minimum_bytes} bytes or more" in small.changes
    assert "the board nrf51" not in plan(PAPER, board="microbit", budget_bytes=1024).changes
    full = plan(PlannedJob(1, 1, 5, 2000), board="microbit")
    assert any(idea.endswith("which fits always, more than this board has") for idea in full.changes)
    assert all("than this board" not in idea for idea in plan(PAPER, budget_bytes=1024).changes)


def test_the_smaller_of_board_and_budget_counts():
    assert plan(PAPER, board="microbit", budget_bytes=2048).budget_bytes == 2048
    assert plan(PAPER, board="microbit", budget_bytes=20_000).budget_bytes == 14 * 1024
    assert plan(PAPER, board="microbit", runtime="c").budget_bytes == load_board("nrf51").available_bytes("c")


def test_without_a_limit_only_the_pool_counts():
    assert plan(PAPER).verdict == ALWAYS
    assert plan(PAPER).largest_episodes is None
    assert plan(PlannedJob(2, 2, 5, 1_000_000)).verdict == RECLAIMS


@pytest.mark.parametrize("given", [{"budget_bytes": "64MiB"}, {"board": "esp32", "runtime": "c"}])
def test_no_block_is_planned_that_is_larger_than_the_core_can_use(given):
    """A coarser partition was advised that needed twice what a block can have."""
    made = plan(PlannedJob(1, 1, 5, 200_000), **given)
    assert made.budget_bytes == BLOCK_BYTES_MAX and made.verdict == RECLAIMS
    advised = [int(idea.split()[-2]) for idea in made.changes if "at most" in idea]
    assert advised and max(advised) <= BLOCK_BYTES_MAX, made.changes


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"d_s": 0}, "d_s"),
        ({"d_a": 4}, "d_a"),
        ({"horizon": 0}, "horizon"),
        ({"horizon": 99}, "horizon"),
        ({"episodes": 0}, "episodes"),
        ({"episodes": 10**9}, "episodes"),
        ({"mode": "fast"}, "mode"),
        ({"share": "maybe"}, "share"),
        ({"split": "never"}, "split"),
        ({"gamma": "-1"}, "gamma"),
        ({"phi": "zero"}, "phi"),
    ],
)
def test_a_bad_value_is_named_with_its_limit(changed, field):
    values = {"d_s": 1, "d_a": 1, "horizon": 5, "episodes": 100, **changed}
    with pytest.raises(InputError) as caught:
        plan(PlannedJob(**values)).to_json()
    assert caught.value.field == field


@pytest.mark.parametrize("text", ["", "2", "1+1+1", "a+b", "-1+1", "1 1", "0+1", "4+1", "1+4"])
def test_dimensions_are_read_or_refused(text):
    with pytest.raises(InputError, match="dims"):
        parse_dims(text)
    assert parse_dims(" 2 + 3 ") == (2, 3)


@pytest.fixture
def command(capsys):
    """Exit code, standard output and standard error of `adamb plan`."""
    return lambda *arguments: adamb(capsys, "plan", *arguments)


def test_json_of_the_command_holds_the_numbers_of_the_plan(command):
    code, shown, _ = command("--agent-set", "mode=paper", "--board", "microbit", "--json", "-")
    assert code == 0
    content, made = json.loads(shown), plan(PAPER, board="microbit")
    assert content["verdict"] == ALWAYS
    assert content["bytes"] == made.certificate_bytes
    assert content["leaves"] == made.leaves == 155
    assert content["units"] == made.units
    assert content["largest_episodes"] == made.largest_episodes
    assert content["smallest_board"]["always"] == "nrf51"
    assert content["thresholds"] == [5, 40, 320, 2560]


def test_what_no_block_can_hold_is_not_called_a_certificate(command):
    shown = " ".join(command("--episodes", "200000", "--budget", "1MiB", "--no-costs")[1].split())
    assert f"more than a block can have ({BLOCK_BYTES_MAX})" in shown and "the certificate" not in shown
    assert "budget; no block has more" in shown


def test_without_a_board_the_runtime_of_the_smallest_one_is_said(command):
    """The same job had two smallest boards, and nothing said that one was for MicroPython."""
    said = "each under MicroPython where the core has room there, else in C"
    assert said in " ".join(command("--budget", "4KiB", "--no-costs")[1].split())
    assert said not in " ".join(command("--board", "microbit", "--no-costs")[1].split())


def test_the_first_line_says_what_to_start_with(command):
    shown = command("--dims", "2+1", "--no-costs")[1].splitlines()
    assert shown[0] == "start with 4 KiB; adamb plan PROBLEM --measure finds what your task needs"
    assert "adamb plan" not in command("--budget", "100B")[1].splitlines()[0], "nothing fits"


def test_exit_code_1_when_it_does_not_fit_and_what_to_change_is_said(command):
    code, shown, _ = command("--budget", "100B")
    assert code == 1
    assert "does not fit" in shown
    assert "to change:" in shown


@pytest.mark.parametrize(
    "option, value", [("budget", "lots"), ("board", "picco"), ("dims", "9"), ("agent-set", "gamma=x")]
)
def test_a_bad_option_is_refused(capsys, option, value):
    field, _, given = f"{option}={value}".removeprefix("agent-set=").partition("=")
    assert f"{field} = '{given}'" in refused(capsys, "plan", f"--{option}", value)
