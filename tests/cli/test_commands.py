"""All commands are alike: each explains itself with an example, speaks JSON and completes on the shell."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
import typer

from adamb.tools.cli import app, main
from support.command import refused


def leaves(command, path=()):
    """Every command that does something, with the words that call it."""
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            yield from leaves(command.get_command(None, name), (*path, name))
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
def test_no_help_text_loses_words_in_brackets(name):
    """What begins like a tag of rich's markup, `[default: 5]`, is not shown."""
    command = COMMANDS[name]
    texts = [command.help, command.epilog, *(getattr(p, "help", None) for p in command.params)]
    assert [text for text in texts if re.search(r"(?<!\\)\[[a-z#/@][^\[]*\]", text or "")] == []


def test_the_help_of_sweep_names_every_shipped_sweep():
    from adamb.tools.commands.sweep import SHIPPED

    names = {path.stem.replace("_", "-") for path in SHIPPED.glob("*.toml")}
    (file,) = (p.help for p in COMMANDS["sweep"].params if p.name == "file")
    assert names == set(re.findall(r"[\w-]+", file.partition(":")[2]))


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_is_one_line_that_names_the_help(name, capsys):
    assert f"adamb {name} --help" in refused(capsys, *name.split(), "--no-such-option")


@pytest.mark.parametrize("written", ["trace info", "snapshot save"])
def test_a_file_in_place_of_a_word_is_answered_by_what_to_write(written, capsys):
    assert f"adamb {written}" in refused(capsys, written.split()[0], "requests.trace")


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
