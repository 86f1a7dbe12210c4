"""`adamb chip`: what it prints is what the chip did, and a mistake is one line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from adamb.firmware_model.rtl import EngineShape
from adamb.tools import chip as tools
from adamb.tools import terminal
from adamb.tools.chip import simulated
from adamb.tools.cli import main
from adamb.tools.commands import chip
from support.chip import PACKAGES
from support.paths import ROOT

LICENCE_HEAD = "// SPDX-License-Identifier: MIT\n// Copyright (c) 2026 The AdaMB authors\n"

MISTAKES = [
    (["--cpu", "arm"], "cpu = 'arm': one of picorv32, serv"),
    (["--fabric", "asic"], "fabric = 'asic': one of all, none, ice40, ecp5, ecp5-6"),
    (["--episodes", "1"], "episodes = 1: must be from 2 to 1000000"),
    (["--budget", "100B"], "budget = 100: this configuration needs"),
    (["--budget", "1MiB"], "budget = 1048576: at most 262144 bytes of SRAM"),
    (["--engine", "4+1"], "engine = '4+1': any, or from 1+1 to 3+3, with a horizon to 31 as 1+1h5"),
    (["--engine", "small"], "engine = 'small': any, or from"),
    (["--engine", "2+1"], "engine = '2+1': the problem needs 1+1h5"),
    (["--engine", "1+1h4"], "engine = '1+1h4': the problem needs 1+1h5"),
    (["--within", "14"], "within = '14': write times such as 14ns or 7.8us, at most an hour"),
    (["--within", "5us,0ns"], "within = '0ns': out of range: times such as 14ns"),
    (["--within", "5us,"], "within = '': write times such as"),
    (["--within", "1s,2s,3s,4s"], "within = '1s,2s,3s,4s': at most 3 times"),
    (["--within", "14ns", "--fabric", "none"], "needs a clock, which --fabric none does not give"),
    (["--set", "lam"], "set = 'lam': write name=value"),
    (["--agent-set", "mode=guess"], "mode = 'guess'"),
    (["--verilog", "/nowhere/engine.v"], "/nowhere/engine.v: No such file or directory"),
]


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["chip", *arguments]) == 2
    streams = capsys.readouterr()
    assert streams.out == "" and len(streams.err.splitlines()) == 1
    return streams.err


@pytest.mark.parametrize(("arguments", "says"), MISTAKES, ids=lambda value: str(value)[:24])
def test_a_mistake_is_one_line(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = complaint(capsys, "oil-laplace", *arguments, "--quiet")
    assert says in found


def test_an_unknown_problem_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert "no-such-problem" in complaint(capsys, "no-such-problem", "--quiet")


LARGE = """
import numpy as np
from adamb.host_sim import Problem

class Large(Problem):
    horizon = 2
    d_s, d_a = {dims}

    def draw_noise(self, generator, episodes):
        return np.zeros((episodes, self.horizon))

    def dynamics(self, h, states, actions, noise):
        return np.ones(len(states)), states
"""


@pytest.mark.parametrize(("dims", "name"), [("4, 1", "state"), ("1, 4", "action")])
def test_a_problem_that_does_not_fit_the_engine_is_one_line(
    dims: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "large.py").write_text(LARGE.format(dims=dims))
    found = complaint(capsys, f"{tmp_path / 'large.py'}:Large", "--quiet")
    assert f"{name} dimensions = 4: the engine has 3" in found


LONG = LARGE.format(dims="1, 1").replace("horizon = 2", "horizon = 40")


def test_episodes_that_are_too_long_are_refused_with_the_options_that_play_a_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "long.py").write_text(LONG)
    found = complaint(capsys, f"{tmp_path / 'long.py'}:Large", "--quiet")
    assert "horizon = 40: adamb plans at most 31 steps ahead; --set horizon=31 plays no longer" in found
    assert "with --set continuing=yes the next episode starts where it ended" in found


@pytest.mark.parametrize("package", [name for name in PACKAGES if name != "pythondata_cpu_serv"])
def test_a_missing_tool_is_named_with_the_install_that_brings_it(
    package: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in PACKAGES[PACKAGES.index(package) :]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(tools, "version", lambda name: "0")
    simulated._model.cache_clear()  # an earlier test may have built this very chip
    found = complaint(capsys, "oil-laplace", "--budget", "3KiB", "--fabric", "none", "--quiet")
    missing = next(name for name in PACKAGES if name in found)
    assert "is missing: pip install 'adamb[chip]', or make .venv/.installed-chip in a checkout" in found
    assert PACKAGES.index(missing) <= PACKAGES.index(package)


def test_what_does_not_fit_a_part_is_left_out_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    from adamb.tools.chip import measurement, synthesis

    placed = []

    def measure(family: str, shape: EngineShape, cpu: str | None = None) -> synthesis.Size:
        placed.append((family, shape.d_s, cpu))
        return synthesis.Size(family, 1, 2, 3, 4, 5.0)

    monkeypatch.setattr(synthesis, "measure", measure)
    settings = SimpleNamespace(d_s=1, d_a=1)
    request = SimpleNamespace(families=("ice40", "ecp5"), cpu="serv", engine="any", shape=EngineShape(16384))
    found = measurement.place(request, settings)  # type: ignore[arg-type]
    assert placed == [("ecp5", None, None), ("ecp5", 1, None), ("ecp5", None, "serv")]
    assert len(found.engines) == 2 and found.chips[0].multipliers == 4
    short = "iCE40 HX8K has 16 KiB in its block RAMs, not"
    assert found.left_out == [f"no engine: {short} 32 KiB", f"no chip: {short} 64 KiB"]
    request.shape = EngineShape(65536)
    assert not measurement.place(request, settings).chips  # type: ignore[arg-type]


def test_the_verilog_begins_with_its_licence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also without the extra: the hardware is a stand-in, the rest is what --verilog writes."""
    engine = ModuleType("engine")
    monkeypatch.setattr(engine, "DecisionEngine", lambda shape: shape, raising=False)
    monkeypatch.setitem(sys.modules, "adamb.firmware_model.rtl.engine", engine)
    monkeypatch.setattr(tools, "verilog", lambda component, name: f"module {name}({component});\n")
    text = chip._verilog(SimpleNamespace(shape="x"))
    assert text == LICENCE_HEAD + "module adamb_engine(x);\n"
    assert LICENCE_HEAD.splitlines()[1].removeprefix("// ") in (ROOT / "LICENSE").read_text().splitlines()


@pytest.mark.parametrize(
    "options",
    [[], ["--agent-set", "mode=paper,action=random"], ["--cpu", "serv"], ["--engine", "1+1h5"]],
    ids=lambda options: " ".join(options) or "default",
)
def test_the_chip_ends_as_adamb_run_does(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for package in PACKAGES:
        pytest.importorskip(package, reason="make .venv/.installed-chip, or pip install adamb[chip]")
    episodes = ["--episodes", "6" if "serv" in options else "20"]
    shared = ["oil-laplace", "--budget", "2KiB", "--quiet", *episodes]
    out, engine = tmp_path / "chip", tmp_path / "engine.v"
    files = ["--out", str(out), "--verilog", str(engine)]
    assert main(["chip", *shared, *options, "--fabric", "none", *files]) == 0
    assert engine.read_text().startswith(LICENCE_HEAD) and "module adamb_engine(" in engine.read_text()
    printed = capsys.readouterr().out
    found = json.loads((out / "chip.json").read_text())
    same = [word for word in options if word not in ("--cpu", "serv", "--engine", "1+1h5")]
    assert main(["run", *shared, *same, "--core", "c", "--seeds", "1", "--json", "-"]) == 0
    host = json.loads(capsys.readouterr().out)
    assert found["digest"] == host["digest"] and found["digest"] in printed
    assert found["reward_mean"] == pytest.approx(host["reward_per_episode"]["mean"], abs=1e-3)
    assert found["act_engine"]["cycles_max"] <= found["bound_act_cycles"]
    assert found["act_processor"]["cycles_mean"] > 10 * found["act_engine"]["cycles_mean"]
    page = tmp_path / "report.html"
    assert main(["report", str(out), "--out", str(page)]) == 0
    assert "On a chip" in page.read_text() and found["digest"] in page.read_text()


def test_a_chip_that_ends_with_other_words_is_exit_code_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in PACKAGES:
        pytest.importorskip(package, reason="make .venv/.installed-chip, or pip install adamb[chip]")
    from adamb.tools.chip import measurement

    monkeypatch.setattr(measurement, "host_digest", lambda request, episodes: "0" * 16)
    monkeypatch.setattr(terminal, "FIRST_SECONDS", 0.002)
    arguments = ["oil-laplace", "--budget", "2KiB", "--episodes", "2", "--fabric", "none"]
    assert main(["chip", *arguments]) == 1
    printed = capsys.readouterr()
    assert "NOT that of this computer" in " ".join(printed.out.split())
    assert "adamb: building the chip" in printed.err, "where no terminal is, a line says what is done"


def test_with_these_options_the_chip_plays_a_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for package in PACKAGES:
        pytest.importorskip(package, reason="make .venv/.installed-chip, or pip install adamb[chip]")
    (tmp_path / "long.py").write_text(LONG)
    shared = [f"{tmp_path / 'long.py'}:Large", "--budget", "4KiB", "--episodes", "2", "--fabric", "none"]
    part = ["--set", "horizon=31", "--set", "continuing=yes", "--json", "-", "--quiet"]
    assert main(["chip", *shared, *part]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["horizon"] == 31 and found["digest"] == found["digest_host"]
