"""`adamb list` shows problems and agents with what can be set, and which optional tools are here."""

from __future__ import annotations

import json
import subprocess
from importlib import metadata

import pytest

from adamb.firmware_model import _spec
from adamb.firmware_model.host.options import OPTIONS
from adamb.host_sim import agent_names, make_problem, problem_names
from adamb.tools import optional_parts
from support.command import adamb, refused
from support.standin_problem import PROBLEM


def test_problems_lists_every_problem_with_dimensions_parameters_and_limits(capsys):
    code, out, _ = adamb(capsys, "list", "problems", "--json", "-")
    found = {each["name"]: each for each in json.loads(out)["problems"]}
    assert code == 0 and sorted(found) == problem_names()
    for name, each in found.items():
        shape = make_problem(name, [0]).shape
        assert (each["d_s"], each["d_a"], each["horizon"]) == (shape.d_s, shape.d_a, shape.horizon)
        assert each["about"] and each["source"].startswith("host_sim/problems/")
        assert all(setting["limits"] and setting["doc"] for setting in each["settings"])
    code, shown, _ = adamb(capsys, "list", "problems")
    assert code == 0 and all(name in shown for name in found)


@pytest.mark.parametrize("name", ["oil-noisy", "gym:Pendulum-v1", PROBLEM])
def test_a_problem_is_shown_with_what_can_be_set(capsys, name):
    code, shown, error = adamb(capsys, "list", "problems", name)
    assert code == 0 and "setting" in shown and "horizon" in shown, error


def test_agents_lists_every_agent_with_options_and_limits(capsys):
    code, out, _ = adamb(capsys, "list", "agents", "--json", "-")
    found = {each["name"]: each for each in json.loads(out)["agents"]}
    assert code == 0 and sorted(found) == agent_names()
    assert {each["name"] for each in found["adamb"]["settings"]} == {*OPTIONS, "core"}
    assert all(each["about"] and each["source"] for each in found.values())
    assert found["adaql"]["dimensions"] == 3 and found["static"]["settings"][0]["name"] == "trials"


# ---- tools -------------------------------------------------------------------------------------------------


def parts(capsys):
    code, out, _ = adamb(capsys, "list", "tools", "--json", "-")
    found = json.loads(out)
    return code, found["ok"], {part["name"]: part for part in found["parts"]}


def test_what_is_needed_is_here(capsys):
    code, ok, found = parts(capsys)
    assert code == 0 and ok
    assert {"C core", "cross compiler", "CPU emulator", "node", "QEMU for ARM", "browser"} <= set(found)
    assert found["C core"]["found"].endswith(str(_spec.SPEC_HASH))
    assert all(part["remedy"] is None for part in found.values() if part["found"])


def test_what_is_missing_comes_with_the_way_to_get_it(capsys, monkeypatch):
    def nothing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(optional_parts, "version", nothing)
    monkeypatch.setattr(optional_parts.shutil, "which", lambda name: None)
    code, ok, found = parts(capsys)
    assert code == 0 and ok, "everything that is missing is optional"
    for name in ("cross compiler", "CPU emulator", "node", "QEMU for ARM", "browser", "playwright"):
        assert found[name]["found"] is None and "install" in found[name]["remedy"], name
    out = adamb(capsys, "list", "tools")[1]
    assert "to get what is missing:" in out and "apt install qemu-system-arm" in out and "…" not in out


def test_a_program_that_does_not_start_is_missing_and_says_why(capsys, monkeypatch):
    def broken(*arguments, **options):
        raise subprocess.CalledProcessError(127, "chromium")

    monkeypatch.setattr(optional_parts.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(optional_parts.subprocess, "run", broken)
    _, _, found = parts(capsys)
    assert found["browser"]["found"] is None and "127" in found["browser"]["problem"]


def test_a_missing_core_is_exit_code_1(capsys, monkeypatch):
    def gone():
        raise ImportError("no compiler could build the C core")

    monkeypatch.setattr(optional_parts, "_core", gone)
    code, out, _ = adamb(capsys, "list", "tools")
    assert code == 1 and "at hand (no compiler could build the C core)" in out


def test_one_tool_is_shown_alone_and_an_unknown_one_is_answered_by_the_nearest(capsys):
    code, out, _ = adamb(capsys, "list", "tools", "Python", "--json", "-")
    assert code == 0 and [part["name"] for part in json.loads(out)["parts"]] == ["Python"]
    assert "did you mean node" in refused(capsys, "list", "tools", "nodee")
    assert "one of problems, agents, boards, tools, benchmark" in refused(capsys, "list", "problem")
