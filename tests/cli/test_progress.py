"""No command that works for long is silent: it says what it does, on a terminal and in a log."""

from __future__ import annotations

import io
import re
import time

import pytest
from rich.console import Console

import adamb.tools.terminal as module
from adamb.tools.terminal import QUIET, Display, progress
from support.command import adamb, wait_until

SO_FAR = r"\d+:\d\d so far"
SHORT = ("--episodes", 30, "--seeds", 2)
COMMANDS = {
    "compare": ("compare", "dram-lite", "--agents", "zoom", "--budgets", "1KiB", *SHORT),
    "lookahead": ("compare", "--lookahead", "dram-lite", *SHORT),
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
    with progress("recording [1]") as say:
        said = until_told(capsys, "recording [1]")
        say("replaying [2]")
        said += until_told(capsys, "replaying [2]")
    assert all(each.out == "" for each in said)
    assert "recording" not in capsys.readouterr().err


def test_quiet_work_says_nothing(capsys, soon):
    token = QUIET.set(True)
    with progress("recording") as say:
        say("replaying")
        time.sleep(0.1)
    QUIET.reset(token)
    assert capsys.readouterr() == ("", "")


def test_the_time_that_is_left_counts_what_was_not_there_before(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    display = Display("sweep")
    display("12 of 20 cells", 10, 20)
    now[0] = 30.0
    display("15 of 20 cells", 15, 20)
    assert display.line() == "15 of 20 cells, 0:30 left"
    display("20 of 20 cells", 20, 20)
    assert display.line() == "20 of 20 cells, 0:30 so far"


def test_a_terminal_gets_a_bar(monkeypatch, capsys):
    text = io.StringIO()
    monkeypatch.setattr("rich.console.Console", lambda **_: Console(file=text, force_terminal=True, width=100))
    with progress("replaying [1]") as display:
        display("episode 5 of 20", 5, 20)
        wait_until(lambda: "episode 5 of 20" in text.getvalue())


def test_an_error_inside_ends_the_lines(capsys, soon):
    with pytest.raises(KeyboardInterrupt), progress("recording"):
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
