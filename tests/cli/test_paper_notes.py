"""Where the deposit lies on a point of a grid, that stands beside every verdict on this grid."""

from __future__ import annotations

import json

from adamb.tools.commands import sweep
from support.command import adamb

SWEEP = """
name = "notes"
analysis = "paper"
episodes = 20
seeds = 2
curves = 4
problems = [
    { name = "oil-laplace", label = "fixed", instance = "paper" },
    { name = "oil-laplace", label = "drawn", instance = "random" },
]
[[agents]]
name = "adamb"
label = "AdaMB"
core = "double"
[[agents]]
name = "epsmb"
label = "epsilonMB"
size = 10
[[agents]]
name = "epsql"
label = "epsilonQL"
size = 10
net = "multiples"
"""
ON_A_POINT = "deposit 0 from the net, 0.025 for a random place"
BETWEEN = "deposit 0.05 from the net, 0.025 for a random place"


def test_the_note_on_a_grid_with_a_point_at_the_deposit_reaches_the_verdict_and_the_file(
    capsys, tmp_path, monkeypatch
):
    """Printed as wide as no cell needs to be broken."""
    monkeypatch.setattr(sweep, "PLAIN_WIDTH", 400)
    (tmp_path / "notes.toml").write_text(SWEEP)
    asked = ("sweep", tmp_path / "notes.toml", "--jobs", 1, "--quiet", "--out", tmp_path / "out")
    code, printed, error = adamb(capsys, *asked)
    assert code == 0, error
    claims = json.loads((tmp_path / "out" / "claims.json").read_text())["claims"]
    for grid, note in (("epsilonMB", ON_A_POINT), ("epsilonQL", BETWEEN)):
        judged = [each for each in claims if grid in each["compared"].split(" : ")]
        assert {each["problem"] for each in judged} >= {"fixed", "drawn"}
        for each in judged:
            assert (note in each["note"]) is (each["problem"] == "fixed"), each
    noted = [each for each in claims if ON_A_POINT in each["note"]]
    assert len(noted) >= 3
    for each in noted:
        parts = (each["problem"], each["compared"], each["verdict"], each["note"])
        assert any(all(part in line for part in parts) for line in printed.splitlines()), each
