"""`adamb doctor` finds what is here, says how to get what is not, and fails only for what is needed."""

from __future__ import annotations

import json
import subprocess
from importlib import metadata

import pytest

from adamb.firmware_model import _spec
from adamb.tools.commands import doctor as doctor_command
from support.command import adamb


def parts(capsys):
    code, out, _ = adamb(capsys, "doctor", "--json", "-")
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

    monkeypatch.setattr(doctor_command, "version", nothing)
    monkeypatch.setattr(doctor_command.shutil, "which", lambda name: None)
    code, ok, found = parts(capsys)
    assert code == 0 and ok, "everything that is missing is optional"
    for name in ("cross compiler", "CPU emulator", "node", "QEMU for ARM", "browser", "playwright"):
        assert found[name]["found"] is None and "install" in found[name]["remedy"], name
    code, out, _ = adamb(capsys, "doctor")
    assert code == 0 and "to get what is missing:" in out and "adamb[device]" in out
    assert "apt install qemu-system-arm" in out
    assert "or make device in a checkout" in out and "or make .venv/.installed-chip in a checkout" in out


def test_a_program_that_does_not_start_is_missing_and_says_why(capsys, monkeypatch):
    def broken(*arguments, **options):
        raise subprocess.CalledProcessError(127, "chromium")

    monkeypatch.setattr(doctor_command.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(doctor_command.subprocess, "run", broken)
    _, _, found = parts(capsys)
    assert found["browser"]["found"] is None and "127" in found["browser"]["problem"]


def test_a_missing_core_is_exit_code_1(capsys, monkeypatch):
    def gone():
        raise ImportError("no compiler could build the C core")

    monkeypatch.setattr(doctor_command, "_core", gone)
    code, out, _ = adamb(capsys, "doctor")
    assert code == 1 and "at hand (no compiler could build the C core)" in out


@pytest.mark.parametrize("finding", [doctor_command._python, doctor_command._core, doctor_command._simulator])
def test_required_parts_say_what_they_found(finding):
    assert finding()


def test_no_path_is_cut_short(capsys):
    assert "…" not in adamb(capsys, "doctor")[1]
