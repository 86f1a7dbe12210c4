"""All commands are alike: each explains itself with an example, speaks JSON and completes on the shell."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
import typer

from adamb.tools.cli import app, main


def leaves(command, path=()):
    """Every command that does something, with the words that call it."""
    if hasattr(command, "commands"):
        for name, below in command.commands.items():
            yield from leaves(below, (*path, name))
    else:
        yield path, command


COMMANDS = {" ".join(path): command for path, command in leaves(typer.main.get_command(app))}


def test_the_commands_of_the_readme_are_there():
    assert {"run", "sweep", "plan", "latency", "report", "inspect", "doctor"} <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_it_does_and_gives_an_example(name, capsys):
    assert main([*name.split(), "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert f"adamb {name}" in text, "usage"
    example = re.search(r"Example: (adamb .*)", text)
    assert example and f"adamb {name}" in example[1]
    assert COMMANDS[name].help and len(COMMANDS[name].help.split()) > 4


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_writes_json(name):
    options = {option for parameter in COMMANDS[name].params for option in parameter.opts}
    assert "--json" in options


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_a_help_text(name):
    silent = [p.name for p in COMMANDS[name].params if getattr(p, "help", None) in (None, "")]
    assert silent == []


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_is_one_line_that_names_the_help(name, capsys):
    assert main([*name.split(), "--no-such-option"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and f"adamb {name} --help" in error


def complete(words, shell="bash"):
    last = len(words.split()) - 1
    environment = os.environ | {
        "_ADAMB_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": words,
        "COMP_CWORD": str(last),
    }
    done = subprocess.run(
        [sys.executable, "-m", "adamb.tools.cli"], env=environment, capture_output=True, text=True, timeout=60
    )
    return done.stdout.split()


def test_the_shell_completes_commands_and_options():
    assert {"report", "run"} <= set(complete("adamb r"))
    assert "--record" in complete("adamb run --rec")
