"""Limits of the C core on every processor: flash, stack, no heap, and the instructions of a call."""

from __future__ import annotations

import numpy as np
import pytest

from adamb.tools.device.emulator import core
from adamb.tools.device.emulator.callgraph import stack_report
from adamb.tools.device.emulator.compile import Image, MemoryMap, build_image, violations
from adamb.tools.device.emulator.cortex_m import Machine
from adamb.tools.device.latency.bounds import DeepestAct, LearningBound
from adamb.tools.device.latency.meters import measure_cortex
from adamb.tools.device.settings import DeviceSettings
from adamb.tools.maintain import limits
from adamb.tools.maintain.limits import Place, price, replay, watch
from support.campaigns import few
from support.streams import stream_of

for _package in ("ziglang", "elftools", "capstone", "unicorn"):
    pytest.importorskip(_package, reason="pip install adamb[device]")


# A first compilation for one more processor takes seconds: two of them are enough for the fast tests.
RISC_V = pytest.param("rv32imc", marks=pytest.mark.campaign)
FAST_FIRST = [
    "cortex-m0",
    "cortex-m3",
    *(pytest.param(n, marks=pytest.mark.campaign) for n in ("cortex-m0plus", "cortex-m4")),
    RISC_V,
]


@pytest.mark.parametrize("optimise", ["size", pytest.param("speed", marks=pytest.mark.campaign)])
@pytest.mark.parametrize("target", FAST_FIRST)
def test_the_core_needs_no_static_ram_no_heap_and_no_floating_point(target: str, optimise: str) -> None:
    image = core.core_image(target, optimise)
    assert violations(image) == []
    assert 0 < image.sizes.flash_bytes <= limits.FLASH_WITH_ALL


@pytest.mark.parametrize("optimise", ["size", pytest.param("speed", marks=pytest.mark.campaign)])
@pytest.mark.parametrize("target", [each for each in FAST_FIRST if each != RISC_V])
def test_nothing_recurses_and_the_worst_stack_is_known(target: str, optimise: str) -> None:
    report = stack_report(core.core_image(target, optimise), core.public_functions())
    assert report.recursion == ()
    assert report.indirect == ()
    assert report.dynamic == ()
    assert 0 < report.bytes <= limits.STACK_WITH_ALL


@pytest.mark.parametrize("name", ["tiny", "noise-3+3"])
def test_no_run_uses_more_stack_than_the_analysis_says(name: str) -> None:
    costs = measure_cortex(stream_of(name), "cortex-m0")
    assert costs.stack_measured_bytes is not None and costs.stack_bytes is not None
    assert costs.stack_bytes // 2 <= costs.stack_measured_bytes <= costs.stack_bytes


def test_a_controller_at_work_takes_12_kib_of_flash_and_512_bytes_of_stack() -> None:
    flash = core.flash("cortex-m0plus", "size")
    print(flash)
    assert 0 < flash.running_bytes <= limits.FLASH_AT_WORK
    image = core.core_image("cortex-m0plus", "size", core.RUNNING)
    assert "adamb_check" not in image.functions
    assert stack_report(image, core.RUNNING).bytes <= limits.STACK_AT_WORK
    whole = core.core_image("cortex-m0plus", "size", (*core.RUNNING, core.DIAGNOSIS))
    assert flash.running_bytes + flash.check_bytes == whole.sizes.flash_bytes
    assert "adamb_check" in whole.functions and flash.check_bytes > 500


def test_only_the_check_and_the_texts_are_left_out_of_a_controller_at_work() -> None:
    assert {*core.public_functions()} - {*core.RUNNING} == {"adamb_check", "adamb_error_text"}
    image = core.core_image("cortex-m0plus", "size", (*core.RUNNING, core.DIAGNOSIS))
    assert "adamb_error_text" not in image.functions, "texts that nobody asks for take no flash"
    assert b"observe without act" not in image.path.read_bytes()
    assert b"observe without act" in core.core_image("cortex-m0plus", "size").path.read_bytes()


@pytest.mark.parametrize(
    ("d_s", "d_a", "horizon", "most"),
    few(
        [
            (1, 1, 5, limits.OBSERVE_BOUND), (2, 2, 5, limits.OBSERVE_BOUND_2_2), (1, 1, 31, limits.OBSERVE_BOUND),
            (1, 1, 1, limits.OBSERVE_BOUND), (2, 1, 5, limits.OBSERVE_BOUND_2_2), (1, 3, 5, limits.OBSERVE_BOUND_2_2),
            (3, 3, 5, limits.OBSERVE_BOUND_2_2),
        ],
        rows=True,
    ),
)  # fmt: skip
def test_a_watchdog_can_be_set_from_the_bound_of_observe(d_s: int, d_a: int, horizon: int, most: int) -> None:
    bound = LearningBound.measure(DeviceSettings(d_s, d_a, horizon), "cortex-m0")
    assert 0 < bound.end_episode <= bound.observe <= most


@pytest.mark.parametrize(("problem", "budget"), few([("oil-noisy", 4096), ("oil-2d", 8192)], rows=True))
def test_no_slice_exceeds_4000_instructions_and_a_pass_comes_to_an_end(problem: str, budget: int) -> None:
    _, agent = watch(problem, steps=10_000, instances=2, budget_bytes=budget)
    roots = ["adamb_scrub", "adamb_check"]
    includes = [core.c_folder()]
    image = Image(build_image(core.sources(), target="cortex-m0", roots=roots, includes=includes))
    for block in agent.blocks:
        machine = Machine(image, cpu="cortex-m0", memory=MemoryMap(ram_bytes=32 * 1024))
        words, place = machine.reserve(2 * len(block)), machine.reserve(8)
        machine.write(words, block.tobytes())
        machine.write(place, bytes(8))
        costs = []
        result = 0
        while result == 0:
            call = machine.call("adamb_scrub", words, len(block), place)
            result = call.result
            costs.append(call.instructions)
        assert result == 1 and len(costs) <= 4 * len(block)
        whole = machine.call("adamb_check", words, len(block))
        assert whole.result == 0
        mean = sum(costs) // len(costs)
        print(f"{problem}: {len(costs)} slices of {mean} to {max(costs)}; all at once {whole.instructions}")
        assert max(costs) <= limits.SCRUB_SLICE


RUNS = [(problem, *size) for size in ((1_000_000, 1000, 100), (1_000_000, 1000, 20), (100_000, 200, 10))
        for problem in ("oil-laplace", "oil-noisy")]  # fmt: skip


@pytest.mark.parametrize(("problem", "steps", "keep", "instances"), few(RUNS, 1, rows=True))
def test_the_worst_call_that_learns_is_bounded_in_runs_of_2000_and_of_10000_episodes(
    problem: str, steps: int, keep: int, instances: int
) -> None:
    worst = price(problem, steps=steps, keep=keep, instances=instances)
    print(f"{problem}: seeds 0..{instances - 1}: {worst}")
    assert worst.steps == steps and worst.replayed == keep
    assert worst.learn_max <= limits.OBSERVE
    # A small sample has a wide interval; a thousand calls must have their mean itself below the limit.
    slack = worst.observe_mean.ci95 or 0 if keep < 1000 else 0
    assert worst.observe_mean.mean - slack <= limits.OBSERVE_MEAN


def test_long_noisy_runs_fill_the_pool_so_that_reclaiming_is_measured_too() -> None:
    _, agent = watch("oil-noisy", steps=1_000_000, instances=20)
    assert (agent.stats()["reclaims"] > 0).any()


def test_counted_work_finds_the_call_that_costs_most_instructions() -> None:
    run = {"problem": "oil-noisy", "steps": 1500, "instances": 2}
    _, counted = watch(**run)
    work = np.array(counted.work)
    places = [Place(*divmod(at, 2)) for at in range(work.size)]
    settings, agent = watch(**run, places=places)
    every = replay([agent.kept[place] for place in places], settings)
    by_work = np.argsort(work, axis=None)[::-1]
    assert every[by_work[: len(every) // 100]].max() == every.max()


@pytest.mark.parametrize(("dims", "most"), [((1, 1), limits.ACT), ((2, 2), limits.ACT_2_2)])
def test_no_act_exceeds_200_instructions_or_300_with_two_states_and_two_actions(
    dims: tuple[int, int], most: int
) -> None:
    deepest = DeepestAct(DeviceSettings(*dims, 5).config(), "cortex-m0")
    assert deepest.instructions(deepest.deepest) <= most
