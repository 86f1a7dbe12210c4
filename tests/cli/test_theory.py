"""`adamb theory` puts numbers into the paper's bounds, says what they ask for, and draws a past policy."""

from __future__ import annotations

import json

import numpy as np
import pytest

from adamb.budgets.bounds import paper
from adamb.budgets.bounds.paper import table_one
from adamb.firmware_model.host.options import paper_phi
from adamb.host_sim import make_problem, simulate
from adamb.host_sim.studies.growth import past_policy
from adamb.tools import figures as style
from support.command import adamb, refused


def theory(capsys, *arguments):
    code, out, error = adamb(capsys, "theory", *arguments, "--json", "-")
    assert code == 0, error
    return json.loads(out)


def test_the_bounds_are_those_of_the_library(capsys):
    found = theory(capsys, "--dims", "2+1", "--set", "horizon=4", "--episodes", "30000", "--set", "lipschitz=3")
    wanted = {
        "regret": paper.regret(30000, horizon=4, d=3, d_s=2, lipschitz=3),
        "episodes for PAC": paper.pac_episodes(0.5, 0.1, horizon=4, d=3, d_s=2, lipschitz=3),
        "leaves of a step": paper.partition_size(30000, d=3, gamma=4, phi=paper_phi(4, 3, 2)),
    }
    for name, bound in wanted.items():
        assert found["bounds"][name]["value"] == pytest.approx(bound.value), name
    assert [row["regret_k"] for row in found["table_one"]] == [row.regret_k for row in table_one(3, 2)]
    assert found["past_policy"] is None


def test_the_text_has_every_bound_and_says_whom_they_cover(capsys):
    code, out, _ = adamb(capsys, "theory")
    text = " ".join(out.split())
    assert code == 0
    for promised in (
        "176", "1.5e+11", "K^0.800", "(L/(δ·ε))^5", "does not hold: 1 + dS + γ ≤ γ", "lower bound",
        "no play loses more than H·K = 10000",
        "--core reference --agent-set mode=paper,bonus=theory and --core double",
    ):  # fmt: skip
        assert promised in text, promised


def test_a_problem_gives_the_dimensions_and_the_policy_of_the_past(capsys):
    found = theory(capsys, "oil-2d", "--episodes", "30", "--seeds", "70..73", "--quiet")
    assert found["job"]["dims"] == "2+2" and found["job"]["horizon"] == 5
    drawn = past_policy("oil-2d", range(70, 74), episodes=30, mode="paper")
    assert found["past_policy"]["gap"]["mean"] == pytest.approx(drawn.gap.mean())
    assert found["past_policy"]["share_within"] == drawn.share_within(0.5)
    assert "of the 4 drawn lose at most 0.5" in found["past_policy"]["sentence"]
    assert "seeds 70..73" in found["past_policy"]["sentence"] and "±" in found["past_policy"]["sentence"]


def test_true_regret_is_the_sum_of_what_every_episode_lost(capsys):
    found = theory(capsys, "oil-laplace", "--episodes", "200", "--seeds", "3", "--quiet")["regret"]
    problem = make_problem("oil-laplace", range(3), episodes=200)
    played = simulate(problem, "adamb", mode="paper", core="c")
    grown = np.cumsum(played.optimal - played.returns, axis=1)
    points = np.array(found["episodes"])
    assert points[0] == 1 and points[-1] == 200
    assert np.array(found["values"]) == pytest.approx(grown[:, points - 1])
    late = points >= 20
    slopes = [np.polyfit(np.log(points[late]), np.log(row[points[late] - 1]), 1)[0] for row in grown]
    assert found["exponent"]["mean"] == pytest.approx(np.mean(slopes))
    assert "the theorem has K^0.800" in found["sentence"] and "from K = 20 on it grew as" in found["sentence"]


def test_the_picture_has_regret_and_bound_on_log_axes(capsys, tmp_path, monkeypatch):
    drawn_figures, render = [], style.render

    def kept(figure, kind):
        drawn_figures.append(figure)
        return render(figure, kind)

    monkeypatch.setattr(style, "render", kept)
    place = tmp_path / "regret.svg"
    asked = ("oil-laplace", "--episodes", "60", "--seeds", "3", "--quiet", "--plot", str(place))
    assert adamb(capsys, "theory", *asked)[0] == 0
    drawn = place.read_text()
    for text in ("mode paper", "theorem, constant 1: K^0.800", "H·K, the most there is", "regret R(K)"):
        assert text in drawn, text
    (axes,) = drawn_figures[0].axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert len(axes.lines) == 3, "regret, the theorem and H·K"
    assert "exists already" in refused(capsys, "theory", *asked)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--dims", "0+1"), "dims = '0+1'"),
        (("--set", "epsilon=1e-300"), "take a larger one"),
        (("--set", "delta=1"), "delta = 1.0"),
        (("--set", "lipschitz=0.5"), "lipschitz = 0.5"),
        (("oil-laplace", "--dims", "1+1"), "leave it out"),
        (("dram-1x1", "--quiet"), "no known optimum"),
        (("--plot", "regret.png"), "needs a problem"),
        (("oil-laplace", "--plot", "regret.txt"), "must end in .png, .svg, .pdf"),
    ],
)
def test_bad_input_is_one_line(capsys, arguments, named):
    assert named in refused(capsys, "theory", *arguments)
