"""A recording gives back, word for word, what the block was; it costs little and fits into little."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adamb.firmware_model import _spec
from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.reader import BLOCK_COUNTERS, BlockView
from adamb.host_sim.agents import make_agent
from adamb.host_sim.problem import make_problem
from adamb.host_sim.recording import (
    FRAMES,
    Recorder,
    Recording,
    byte_planes,
    differences,
    frame_episodes,
    undo_differences,
    words_of,
)
from adamb.host_sim.runner import simulate


def prepared(name="oil-laplace", *, episodes=300, seeds=(4, 5), budget=1024, drift="none", **options):
    problem = make_problem(
        name, list(seeds), instance="random", drift=drift, continuing=False, episodes=episodes, horizon=None,
        params={},
    )  # fmt: skip
    return problem, make_agent("adamb", problem, budget_bytes=budget, **options)


def record(problem, agent, episodes):
    """A recorded run beside true copies of the first block after every episode."""
    recorder, truth = Recorder(problem, agent, episodes), {0: agent.blocks[0].copy()}

    def look(progress):
        truth[progress.done] = agent.blocks[0].copy()
        return False

    result = simulate(problem, agent, episodes=episodes, observers=[recorder, look])
    return recorder.finish(result.episodes), truth, result


words = st.lists(st.integers(0, 0xFFFF), max_size=40).map(lambda given: np.array(given, dtype=np.uint16))


@settings(max_examples=200, deadline=None)
@given(st.lists(words, max_size=6))
def test_differences_give_the_frames_back(frames):
    planes = byte_planes(differences(frames))
    back = undo_differences(words_of(planes), [len(frame) for frame in frames])
    assert [frame.tolist() for frame in back] == [frame.tolist() for frame in frames]


@pytest.mark.parametrize("episodes", [1, 2, 7, 150, 199, 200, 201, 2000, 20_000, 1_000_000])
def test_frames_are_few_and_have_the_first_and_the_last_episode(episodes):
    found = frame_episodes(episodes)
    assert len(found) <= FRAMES and found == sorted(set(found))
    assert found[0] == 0 and found[-1] == episodes
    assert episodes < 10 or found[:4] == [0, 1, 2, 3]


@pytest.mark.parametrize("options", [{}, {"share": "off"}, {"mode": "paper"}])
def test_a_saved_recording_holds_the_blocks_as_they_were(tmp_path, options):
    problem, agent = prepared(**options)
    recording, truth, _ = record(problem, agent, 300)
    path = tmp_path / "recording.npz"
    path.write_bytes(recording.to_bytes())
    back = Recording.load(path)
    assert back.episodes.tolist() == recording.episodes.tolist()
    for episode, frame in zip(back.episodes.tolist(), back.frames, strict=True):
        whole = truth[episode]
        assert frame.tolist() == whole[: len(frame)].tolist()
        assert len(frame) == int(whole[_spec.H_FRESH]) * int(_spec.UNIT_WORDS)
    for episode, row in zip(back.counter_episodes.tolist(), back.counters.tolist(), strict=True):
        assert dict(zip(BLOCK_COUNTERS, row, strict=True)) == BlockView(truth[episode]).counters


def test_recording_does_not_change_the_run():
    (one, recorded), (two, plain) = prepared(), prepared()
    _, _, first = record(one, recorded, 300)
    second = simulate(two, plain, episodes=300)
    assert (first.returns == second.returns).all() and first.digest == second.digest


def test_an_interrupted_run_keeps_its_last_block():
    problem, agent = prepared()
    recorder = Recorder(problem, agent, 300)
    result = simulate(problem, agent, episodes=300, observers=[recorder, lambda progress: progress.done == 123])
    recording = recorder.finish(result.episodes)
    assert result.interrupted and recording.episodes[-1] == 123 == recording.counter_episodes[-1]
    assert recording.frames[-1].tolist() == agent.blocks[0][: len(recording.frames[-1])].tolist()
    with pytest.raises(InputError, match="no block to record"):
        Recorder(problem, make_agent("random", problem), 10)


def test_the_optimum_is_kept_as_it_is_and_again_after_a_jump():
    problem, agent = prepared(drift="half", episodes=200)
    before = problem.optimal().q(0, 0)
    recording, _, _ = record(problem, agent, 200)
    after = problem.optimal().q(0, 0)
    pictures = recording.optimum
    assert pictures.scaled.shape[0] == 2 and pictures.episodes.tolist()[0] == 0
    assert 100 <= pictures.episodes[1] <= 103
    assert np.abs(pictures.grid(0, 0) - before).max() < 1e-4
    assert np.abs(pictures.grid(1, 0) - after).max() < 1e-4
    assert np.abs(before - after).max() > 0.1


def test_a_broken_file_is_an_input_error(tmp_path):
    problem, agent = prepared(episodes=20)
    recording, _, _ = record(problem, agent, 20)
    whole, path = recording.to_bytes(), tmp_path / "recording.npz"
    for content in (b"", b"PK\x03\x04", whole[: len(whole) // 2], b"nonsense" * 100):
        path.write_bytes(content)
        with pytest.raises(InputError, match="not a whole recording"):
            Recording.load(path)
    recording.meta["format"] = 99
    path.write_bytes(recording.to_bytes())
    with pytest.raises(InputError, match="format 99"):
        Recording.load(path)


def test_recording_twenty_thousand_episodes_takes_under_twenty_megabytes():
    problem, agent = prepared(episodes=20_000, seeds=range(5), budget=4096)
    recorder = Recorder(problem, agent, 20_000)
    simulate(problem, agent, episodes=20_000, observers=[recorder], optimum=False)
    assert len(recorder.finish(20_000).to_bytes()) < 20_000_000


def test_a_walking_world_keeps_a_few_pictures():
    problem, agent = prepared(drift="walk", episodes=150)
    recording, _, _ = record(problem, agent, 150)
    assert 5 <= recording.optimum.scaled.shape[0] <= 12
