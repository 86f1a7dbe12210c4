"""What our packages offer: each name is there, documented, and its example runs."""

from __future__ import annotations

import doctest
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import adamb.firmware_model as package
from adamb import budgets, host_sim
from adamb.firmware_model import _spec
from adamb.host_sim import agents, problems

CODES = [name for name in package.__all__ if name.startswith("ERR_")]
PACKAGES = {"firmware_model": package, "budgets": budgets, "host_sim": host_sim}
OBJECTS = [
    (short, name) for short, offered in PACKAGES.items() for name in offered.__all__ if callable(getattr(offered, name))
]


@pytest.fixture(autouse=True)
def own_registries(monkeypatch):
    """Examples register names that no other test should meet."""
    assert host_sim.agent_names() and host_sim.problem_names(), "all that register themselves have done so"
    monkeypatch.setattr(agents, "_factories", dict(agents._factories))
    monkeypatch.setattr(problems, "_registered", dict(problems._registered))


def test_the_error_codes_are_all_there():
    assert sorted(CODES) == sorted(name for name in vars(_spec) if name.startswith("ERR_"))
    assert [getattr(package, name) for name in CODES] == [getattr(_spec, name) for name in CODES]


@pytest.mark.parametrize("short, name", OBJECTS)
def test_everything_offered_has_an_example_that_runs(short, name):
    thing = getattr(PACKAGES[short], name)
    names = dict(vars(import_module(thing.__module__)))
    found = doctest.DocTestFinder(recurse=False).find(thing, name, globs=names)
    assert found and found[0].examples, f"{name} shows no example"
    for test in found:
        assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed == 0


@pytest.mark.parametrize("short", PACKAGES)
def test_the_example_of_the_package_runs(short):
    found = doctest.testmod(PACKAGES[short])
    assert found.attempted > 1 and found.failed == 0


def test_a_name_that_is_not_offered_is_an_error_and_modules_are_still_modules():
    with pytest.raises(AttributeError, match="no attribute 'Agent'"):
        package.Agent  # noqa: B018
    from adamb.firmware_model import check

    assert check.__name__ == "adamb.firmware_model.check"
    for offered in PACKAGES.values():
        assert set(offered.__all__) <= set(dir(offered))


@pytest.mark.parametrize("short", PACKAGES)
def test_type_checkers_are_told_that_there_are_types(short):
    assert (Path(PACKAGES[short].__path__[0]) / "py.typed").is_file()


def test_nothing_is_imported_before_it_is_asked_for():
    program = (
        "import sys, adamb.firmware_model as package; before = set(sys.modules); package.Config;"
        "print('adamb.firmware_model.core' in before, 'adamb.firmware_model.host.binding' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_the_planner_needs_no_numpy():
    program = (
        "import sys; from adamb.budgets import PlannedJob, plan; plan(PlannedJob(1, 1, 5, 10)).sentence;"
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
