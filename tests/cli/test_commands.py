"""All commands are alike: each explains itself with an example, speaks JSON, starts quickly and fits any terminal."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
import typer

from adamb.tools.cli import PANELS, RENAMED, app, main
from support.command import adamb, finish, refused, start
from support.paths import ROOT


def leaves(command, path=()):
    """Every command that does something, with the words that call it."""
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            yield from leaves(command.get_command(None, name), (*path, name))
    else:
        yield path, command


COMMANDS = {" ".join(path): command for path, command in leaves(typer.main.get_command(app))}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_it_does_and_gives_an_example(name, capsys):
    assert main([*name.split(), "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert f"adamb {name}" in text, "usage"
    example = re.search(r"Example: (adamb .*)", text)
    assert example and f"adamb {name}" in example[1]
    assert COMMANDS[name].help and len(COMMANDS[name].help.split()) > 4


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_writes_json_and_explains_every_option(name):
    """What begins like a tag of rich's markup, `[default: 5]`, is not shown."""
    command = COMMANDS[name]
    assert "--json" in {option for parameter in command.params for option in parameter.opts}
    helps = [getattr(parameter, "help", None) for parameter in command.params]
    assert all(helps)
    texts = [command.help, command.epilog or "", *helps]
    assert [text for text in texts if re.search(r"(?<!\\)\[[a-z#/@][^\[]*\]", text)] == []


def test_the_help_of_sweep_names_every_shipped_sweep():
    from adamb.tools.commands.sweep import SHIPPED

    names = {path.stem.replace("_", "-") for path in SHIPPED.glob("*.toml")} | {"benchmark"}
    (file,) = (p.help for p in COMMANDS["sweep"].params if p.name == "file")
    assert names == set(re.findall(r"[\w-]+", file.partition(":")[2]))


@pytest.mark.parametrize("name", RENAMED)
def test_a_name_of_before_is_answered_by_the_new_one(name, capsys):
    assert f"command = {name!r}: is now adamb {RENAMED[name]}\n" in refused(capsys, name, "oil-laplace", "--quiet")


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_is_one_line_that_names_the_help(name, capsys):
    assert f"adamb {name} --help" in refused(capsys, *name.split(), "--no-such-option")


@pytest.mark.parametrize(
    ("option", "written"),
    [("--drift", "--set drift=VALUE"), ("--when-full", "--agent-set when-full=VALUE"), ("--colour", "(see adamb run")],
)
def test_an_option_that_is_a_setting_is_answered_by_how_to_set_it(option, written, capsys):
    assert written in refused(capsys, "run", "oil-laplace", option, "half")


def test_the_help_groups_the_commands(capsys):
    assert main([]) == 2 and "Usage" in "".join(capsys.readouterr())
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert [text.index(panel) for panel in PANELS] == sorted(text.index(panel) for panel in PANELS)
    assert {command.rich_help_panel for command in COMMANDS.values()} == set(PANELS)


@pytest.mark.parametrize("given", [["--out", "-"], ["--out=-"]])
@pytest.mark.parametrize("name", ["run", "sweep", "report", "inspect", "port"])
def test_out_writes_no_standard_output(name, given, capsys):
    assert "only --json takes -" in refused(capsys, name, *given)


@pytest.mark.parametrize(
    "given",
    [
        ["run", "oil-laplace", "--budget", "4097"],
        ["port", "--runtime", "c", "--out", "none", "--budget", "4097"],
        ["plan", "oil-laplace", "--budget", "4097"],
        ["compare", "oil-laplace", "--budgets", "4KiB,4097"],
        ["latency", "oil-laplace", "--budget", "4097"],
        ["profile", "oil-laplace", "--budget", "4097"],
        ["chip", "oil-laplace", "--budget", "4097"],
    ],
)
def test_an_odd_number_of_bytes_is_refused_with_both_neighbours(given, capsys):
    assert "write 4096 or 4098" in refused(capsys, *given)


def test_quiet_may_stand_anywhere(capsys):
    for line in (
        ["--quiet", "run", "oil-laplace"],
        ["run", "--quiet", "oil-laplace"],
        ["run", "oil-laplace", "--quiet"],
    ):
        assert main([*line, "--episodes", "5", "--seeds", "1"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("words", "offered"), [("adamb r", {"report", "run"}), ("adamb run --rec", {"--record"})])
def test_the_shell_completes_commands_and_options(words, offered):
    last = len(words.split()) - 1
    asked = {"_ADAMB_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(last)}
    _, out, _ = finish(start(env=os.environ | asked))
    assert offered <= set(out.split())


# ---- what is loaded -----------------------------------------------------------------------------------


HEAVY = {"numpy", "scipy", "matplotlib", "gymnasium", "joblib", "psutil"}


def traced(*arguments: str) -> dict[str, list[str]]:
    """The files that a command runs through, and the modules that are there when it ends."""
    command = [sys.executable, str(ROOT / "tests" / "support" / "call_trace.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stderr.splitlines()[-1])


def test_the_help_text_loads_nothing_heavy():
    assert HEAVY.isdisjoint(traced("--help")["loaded"])


def test_a_command_loads_no_other_command():
    loaded = traced("list", "boards")["loaded"]
    found = [name for name in loaded if name.startswith("adamb.tools.commands.")]
    assert found == ["adamb.tools.commands.list"]


def test_the_guide_shows_all_files_that_a_run_goes_through():
    files = traced("run", "oil-laplace", "--budget", "4KiB", "--episodes", "20", "--seeds", "2")["files"]
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    figure = guide[guide.index("## From the command line to the table") :].split("```")[1]
    assert set(re.findall(r"[\w/]+\.py", figure)) == set(files)


# ---- narrow and plain terminals -----------------------------------------------------------------------


SHORT = ("--episodes", 5, "--seeds", 2, "--quiet")
SHOWN = {
    "run": ("run", "oil-laplace", "--budget", "1KiB", *SHORT),
    "run --help": ("run", "--help"),
    "boards": ("list", "boards"),
    "compare": ("compare", "oil-laplace", "--agents", "zoom", "--budgets", "1KiB", *SHORT),
    "plan": ("plan", "--dims", "1+1", "--horizon", "5", "--episodes", 200, "--no-costs"),
    "agents": ("list", "agents"),
    "theory": ("theory",),
    "tools": ("list", "tools"),
}
WORDS = {
    "boards": ("name", "core", "MHz", "RAM", "heap", "mA", "cycles", "generic-cortex-m0"),
    "compare": ("agent", "return", "of V*", "− adamb 4 KiB", "bytes", "zoom 4 KiB"),
    "agents": ("name", "kind", "what it is", "kernel-ucbvi"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_an_ascii_terminal_gets_plain_letters_and_no_traceback(name):
    environment = os.environ | {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    code, out, error = finish(start(*SHOWN[name], env=environment))
    assert code == 0 and out.isascii() and error.isascii(), error
    assert "?" not in out, "a sign that has no plain form"
    if name == "run":
        assert re.search(r"reward per episode\W+[\d.]+ \+- [\d.]+", out)


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("columns", ["40", "200"])
def test_no_width_of_a_terminal_costs_a_column(capsys, monkeypatch, name, columns):
    monkeypatch.setenv("COLUMNS", columns)
    code, out, error = adamb(capsys, *SHOWN[name])
    assert code == 0, error
    for word in WORDS[name]:
        assert word in out, f"{word} is missing at {columns} columns:\n{out}"
