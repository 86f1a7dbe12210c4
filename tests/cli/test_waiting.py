"""No command that works for long is silent: it says what it does, on a terminal and in a log."""

from __future__ import annotations

import re
import time

import pytest

from adamb.tools.terminal import waiting as module
from adamb.tools.terminal.waiting import waiting
from support.command import adamb, wait_until

SO_FAR = r"\d+:\d\d so far"
SHORT = ("--episodes", 30, "--seeds", 2)
COMMANDS = {
    "compare": ("compare", "dram-lite", "--only", "zoom", "--budgets", "1KiB", *SHORT),
    "lookahead": ("lookahead", "dram-lite", *SHORT),
    "theory": ("theory", "oil-laplace", *SHORT),
    "latency": ("latency", "oil-laplace", "--target", "host"),
}


@pytest.fixture
def soon(monkeypatch):
    monkeypatch.setattr(module, "FIRST_SECONDS", 0.002)
    monkeypatch.setattr(module, "LINE_SECONDS", 0.002)


def until_told(capsys, text):
    """Wait until a line says so, however long this computer takes; what was said until then."""
    said = []

    def told():
        said.append(capsys.readouterr())
        return re.search(rf"^adamb: {re.escape(text)}, {SO_FAR}$", said[-1].err, re.MULTILINE)

    wait_until(told)
    return said


def test_a_log_is_told_what_is_done_and_for_how_long(capsys, soon):
    with waiting("recording [1]") as say:
        said = until_told(capsys, "recording [1]")
        say("replaying [2]")
        said += until_told(capsys, "replaying [2]")
    assert all(each.out == "" for each in said)
    assert "recording" not in capsys.readouterr().err


def test_short_work_says_nothing(capsys):
    with waiting("recording") as say:
        say("replaying")
    assert capsys.readouterr() == ("", "")


def test_quiet_work_says_nothing(capsys, soon):
    with waiting("recording", quiet=True) as say:
        say("replaying")
        time.sleep(0.1)
    assert capsys.readouterr() == ("", "")


def test_an_error_inside_ends_the_lines(capsys, soon):
    with pytest.raises(KeyboardInterrupt), waiting("recording"):
        raise KeyboardInterrupt
    capsys.readouterr()
    time.sleep(0.05)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_without_a_terminal_shows_that_it_works(capsys, soon, name):
    code, out, error = adamb(capsys, *COMMANDS[name])
    assert code == 0, error
    assert re.search(SO_FAR, error) and not re.search(SO_FAR, out)
    code, _, error = adamb(capsys, *COMMANDS[name], "--quiet")
    assert code == 0 and not re.search(SO_FAR, error)


def test_checking_limits_without_a_terminal_shows_that_it_works(capsys, soon, tmp_path):
    file = tmp_path / "budget.toml"
    file.write_text('problem = "oil-laplace"\nbudget = "1KiB"\nepisodes = 200\n[limits]\nbytes = 1024\n')
    code, _, error = adamb(capsys, "check-budget", file)
    assert code == 0 and "measuring oil-laplace" in error
