"""A narrow terminal loses no column, and one that knows only ASCII gets every table in plain letters."""

from __future__ import annotations

import os
import re

import pytest

from support.command import adamb, finish, start

SHORT = ("--episodes", 5, "--seeds", 2, "--quiet")
COMMANDS = {
    "run": ("run", "oil-laplace", "--budget", "1KiB", *SHORT),
    "run --help": ("run", "--help"),
    "boards": ("boards",),
    "compare": ("compare", "oil-laplace", "--only", "zoom", "--budgets", "1KiB", *SHORT),
    "plan": ("plan", "--dims", "1+1", "--horizon", 5, "--episodes", 200, "--no-costs"),
    "agents": ("agents",),
    "theory": ("theory",),
    "doctor": ("doctor",),
}
WORDS = {
    "boards": ("name", "core", "MHz", "RAM", "heap", "mA", "cycles", "generic-cortex-m0"),
    "compare": ("agent", "return", "of V*", "− adamb 4 KiB", "bytes", "zoom 4 KiB"),
    "agents": ("name", "kind", "what it is", "kernel-ucbvi"),
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("setting", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"}])
def test_an_ascii_terminal_gets_plain_letters_and_no_traceback(name, setting):
    environment = os.environ | {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"} | setting
    code, out, error = finish(start(*COMMANDS[name], env=environment))
    assert code == 0 and out.isascii() and error.isascii(), error
    assert "?" not in out, "a sign that has no plain form"
    if name == "run":
        assert re.search(r"reward per episode\W+[\d.]+ \+- [\d.]+", out)


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("columns", ["40", "200"])
def test_no_width_of_a_terminal_costs_a_column(capsys, monkeypatch, name, columns):
    monkeypatch.setenv("COLUMNS", columns)
    code, out, error = adamb(capsys, *COMMANDS[name])
    assert code == 0, error
    for word in WORDS[name]:
        assert word in out, f"{word} is missing at {columns} columns:\n{out}"
