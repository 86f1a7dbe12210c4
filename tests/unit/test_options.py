"""One table of the controller's options: everyone who takes them takes these, with these words and limits."""

from __future__ import annotations

from dataclasses import fields

import pytest

from adamb.budgets.planner import PlannedJob
from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.options import MEMORY_OPTIONS, OPTIONS, defaults, make_config
from adamb.host_sim.agents.reference.settings import CHOICES, make_settings
from adamb.tools.device.settings import DeviceSettings

MODES = OPTIONS["mode"].words


@pytest.mark.parametrize("mode", MODES)
def test_a_configuration_has_every_option_and_nothing_else(mode):
    words = make_config(2, 1, 5, {"mode": mode}).words
    assert words == defaults(mode, 2, 1, 5) and list(words) == list(OPTIONS)


@pytest.mark.parametrize("name", OPTIONS)
def test_every_word_is_taken_and_any_other_is_refused_with_the_choices(name):
    option = OPTIONS[name]
    for word in option.words:
        assert make_config(1, 1, 5, {name: word}).words[name] == word
        assert DeviceSettings(1, 1, 5, **{name: word}).controller.words[name] == word
    with pytest.raises(InputError, match=f"^{name} = 'no-such-word': {option.expected}") as caught:
        make_config(1, 1, 5, {name: "no-such-word"})
    assert all(word in caught.value.limit for word in option.words)


@pytest.mark.parametrize("name", [name for name, option in OPTIONS.items() if option.high is not None])
def test_numbers_keep_to_their_limits(name):
    option = OPTIONS[name]
    assert make_config(1, 1, 5, {name: option.high}).words[name] == option.high
    for wrong in (option.high * 1.001, -1, float("nan"), float("inf"), [], "1e400", *[0] * option.above_zero):
        with pytest.raises(InputError, match=f"^{name} = "):
            make_config(1, 1, 5, {name: wrong})
    assert make_config(1, 1, 5, {name: "1/2"}).words[name] == "1/2"


def test_a_bonus_as_text_is_the_number_it_says():
    assert make_config(1, 1, 5, {"bonus": "1/2"}).bonus == make_config(1, 1, 5, {"bonus": 0.5}).bonus == 2048


def test_true_and_false_are_on_and_off():
    assert make_config(1, 1, 5, {"detect": False}).detect == 0
    assert make_config(1, 1, 5, {"share": True}).words["share"] == "on"


def test_the_reference_starts_from_the_defaults_of_mode_paper():
    core, reference = defaults("paper", 2, 1, 5), make_settings(2, 1, 5, 100, {})
    for name in ("bonus", "gamma", "phi", "split", "action"):
        assert getattr(reference, name) == core[name]
    for name in set(CHOICES) & set(OPTIONS):
        assert set(CHOICES[name]) <= set(OPTIONS[name].words)


def test_a_job_has_every_option_that_sizes_the_memory():
    assert {*MEMORY_OPTIONS, "mode"} <= {field.name for field in fields(PlannedJob)}
    loose = PlannedJob(1, 1, 5, 2000, share="off").certificate_bytes
    for name, value in {"share": "on", "split": "own", "gamma": 3, "phi": 8}.items():
        assert PlannedJob(1, 1, 5, 2000, **{"share": "off", name: value}).certificate_bytes != loose, name


def test_an_unknown_option_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="the core has no such option, did you mean gamma"):
        make_config(1, 1, 5, {"gama": 2})
