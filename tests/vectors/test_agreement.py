"""The cores hold the words of the exact reference after every call, for any configuration and stream."""

from __future__ import annotations

import random
from array import array
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.exact import counts
from adamb.firmware_model.exact.memory import Record
from adamb.firmware_model.exact.model import Config, thresholds
from adamb.firmware_model.exact.plant import plant
from adamb.firmware_model.exact.reference import Exact, init, required_words
from adamb.firmware_model.host import binding
from support.replay import TWINS, first_difference, start

WORLDS = ("anywhere", "narrow", "corners", "drift")

flag = st.integers(0, 1)
configs = st.builds(
    Config,
    d_s=st.integers(1, 3),
    d_a=st.integers(1, 3),
    horizon=st.sampled_from([1, 2, 3, 5, 7, 8, 15, 16, 31]),
    mode=flag,
    split_counts=flag,
    share=st.integers(0, 2),
    when_full=flag,
    random_action=flag,
    detect=flag,
    auto_bonus=flag,
    bonus=st.sampled_from([0, 1, 100, 1024, 4096, 32767]),
    seed=st.integers(0, 65535),
    thresholds=st.one_of(
        st.builds(thresholds, st.integers(1, 4), st.integers(1, 6), st.integers(1, 3)),
        st.lists(st.integers(1, 12), min_size=15, max_size=15).map(sorted),
    ),
)


class Caller:
    """Drives two controllers with the same calls and compares everything that can be seen."""

    def __init__(self, core: str, config: Config, spare: int, rest: int, world: str, seed: int) -> None:
        self.config = config
        words = required_words(config) + spec.UNIT_WORDS * spare + rest
        self.mine = init(config, words)
        self.theirs: Any = start(core, config, words)
        assert isinstance(self.mine, Exact) and not isinstance(self.theirs, int)
        self.world = world
        self.draw = random.Random(seed).random
        self.state = self.point()
        self.calls = 0
        self.compare("init")

    def below(self, n: int) -> int:
        return int(self.draw() * n)

    def point(self) -> list[int]:
        if self.world == "corners":
            return [(0, 20000, 40000, 65535)[self.below(4)] for _ in range(self.config.d_s)]
        if self.world == "narrow":
            return [30000 + self.below(2000) for _ in range(self.config.d_s)]
        return [self.below(65536) for _ in range(self.config.d_s)]

    def compare(self, what: str) -> None:
        assert isinstance(self.mine, Exact)
        difference = first_difference(self.mine, self.theirs.w)
        assert difference is None, f"call {self.calls}, after {what}: {difference}"
        self.calls += 1

    def step(self, h: int, episode: int) -> None:
        actions: list[list[int]] = []
        codes = []
        for controller in (self.mine, self.theirs):
            action = [0] * self.config.d_a
            codes.append(controller.act(h, self.state, action))
            actions.append(action)
        assert codes == [0, 0] and actions[0] == actions[1], f"call {self.calls}, act: {codes} {actions}"
        self.compare(f"act of step {h}")
        if self.below(30) == 0:
            return
        reward = 65535 - abs(actions[0][0] - self.state[0])
        if self.world == "drift":
            reward = reward >> (episode // 80 % 3) if h % 2 else 65535 - reward
        if self.below(4) == 0:
            reward = self.below(65536)
        after = self.point() if self.below(3) else self.state
        codes = [controller.observe(h, reward, after) for controller in (self.mine, self.theirs)]
        assert codes == [0, 0]
        self.compare(f"observe of step {h}")
        self.state = after

    def plant(self) -> None:
        """Put both where a stream would hardly get."""
        assert isinstance(self.mine, Exact)
        plant(self.mine.m, self.draw)
        self.theirs.w[:] = array("H", self.mine.words())

    def drive(self, steps: int, planted: bool = False) -> None:
        episode = done = 0
        while done < steps:
            for h in range(self.config.horizon):
                for _ in range(1 + (self.below(20) == 0)):
                    self.step(h, episode)
                    done += 1
            assert self.mine.end_episode() == self.theirs.end_episode() == 0
            self.compare("end_episode")
            episode += 1
            if planted and done * 3 > steps and self.below(4) == 0:
                self.plant()


def agree(
    core: str, config: Config, spare: int, rest: int, world: str, seed: int, steps: int, planted: bool = False
) -> None:
    caller = Caller(core, config, spare, rest, world, seed)
    caller.drive(steps, planted)
    assert binding.Controller(caller.theirs.w).check() == 0


streams = {
    "spare": st.sampled_from([0, 1, 5, 20, 80, 300]),
    "rest": st.integers(0, 3),
    "world": st.sampled_from(WORLDS),
    "seed": st.integers(0, 1 << 32),
}
relaxed = settings(deadline=None, print_blob=True, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("core", TWINS)
@given(config=configs, planted=st.booleans(), **streams)
@settings(relaxed, max_examples=50)
def test_words_agree_after_every_call(core: str, config: Config, planted: bool, **stream: Any) -> None:
    """Planted: where counts and sums stop, too."""
    agree(core, config, steps=80, planted=planted, **stream)


@pytest.mark.campaign
@pytest.mark.parametrize("core", TWINS)
@pytest.mark.parametrize("share", (0, 1, 2))
@pytest.mark.parametrize("paper", (0, 1))
def test_words_agree_in_a_long_full_pool(core: str, paper: int, share: int) -> None:
    """Reclaiming is rare: it takes thousands of steps to meet every kind of removal."""
    config = Config(d_s=1 + share % 2, d_a=2, mode=paper, share=share, detect=1, thresholds=thresholds(1, 1, 1), seed=5)
    agree(core, config, spare=25, rest=0, world="drift", seed=6 + share, steps=4000)


broken = st.fixed_dictionaries(
    {},
    optional={
        "d_s": st.integers(0, 5),
        "d_a": st.integers(0, 5),
        "horizon": st.integers(0, 40),
        "mode": st.integers(0, 3),
        "split_counts": st.integers(0, 3),
        "share": st.integers(0, 4),
        "when_full": st.integers(0, 3),
        "random_action": st.integers(0, 3),
        "detect": st.integers(0, 3),
        "auto_bonus": st.integers(0, 3),
        "bonus": st.integers(0, 65535),
        "seed": st.integers(0, 65535),
        "thresholds": st.lists(st.integers(0, 9000), min_size=15, max_size=15),
    },
)


@pytest.mark.parametrize("core", TWINS)
@given(fields=broken, missing=st.integers(-8, 1))
@example(fields={"thresholds": [1] * 14 + [0]}, missing=0)
@settings(relaxed, max_examples=150)
def test_init_refuses_the_same_configurations(core: str, fields: dict[str, Any], missing: int) -> None:
    config = Config(**fields)
    words = required_words(config)
    assert words == binding.required_words(config)
    size = max(words, 100) - missing
    mine, theirs = init(config, size), start(core, config, size)
    if isinstance(mine, int) or isinstance(theirs, int):
        assert mine == theirs
    else:
        assert first_difference(mine, theirs.w) is None


def both(core: str, config: Config, spare: int) -> tuple[Exact, Any]:
    words = required_words(config) + spec.UNIT_WORDS * spare
    mine = init(config, words)
    assert isinstance(mine, Exact)
    return mine, start(core, config, words)


@pytest.mark.parametrize("core", TWINS)
@pytest.mark.parametrize("beyond", (-1, 0, 1))
def test_an_alarm_needs_a_drop_that_reaches_the_limit(core: str, beyond: int) -> None:
    mine, theirs = both(core, Config(detect=1), 0)
    dev, fall = 100, 2000
    most = (spec.DETECT_ALARM * dev + (1 << mine.m.f) // 2) >> spec.DETECT_SPELL_SHIFT
    mine.m.learned |= {
        "since": spec.DETECT_WARMUP,
        "steps_mean": fall,
        "steps_n": 1,
        "return_dev": dev,
        "drop": (most << spec.DETECT_SPELL_SHIFT) - most + beyond,
        "seen": mine.m.horizon,
    }
    theirs.w[:] = array("H", mine.words())
    mine.end_episode()
    theirs.end_episode()
    assert first_difference(mine, theirs.w) is None
    assert mine.m.counters["restarts"] == (beyond >= 0)


def fill(controller: Exact) -> None:
    """Every count full or one less (odd and even halve differently), and nothing used lately."""
    for resident in controller.m.pool.residents.values():
        if isinstance(resident, Record):
            resident.credit = 0
            for entry in resident.entries():
                entry.count = entry.limit - (entry.limit > 1 and entry.cell & 1)


@pytest.mark.parametrize("core", TWINS)
@pytest.mark.parametrize("paper", (0, 1))
def test_full_counts_fold_into_full_counts(core: str, paper: int, monkeypatch: pytest.MonkeyPatch) -> None:
    added = []
    honest = counts.add

    def watched(m: Any, record: Record, cell: int, depth: int, k: int) -> None:
        before = m.counters["saturations"]
        honest(m, record, cell, depth, k)
        if m.counters["saturations"] > before:
            added.append(k)

    monkeypatch.setattr(counts, "add", watched)
    config = Config(horizon=2, mode=paper, bonus=4096, thresholds=[1, 1, 2, 2, 3, 3] + [65535] * 9)
    mine, theirs = both(core, config, 20)
    x = 1
    for episode in range(400):
        for h in range(2):
            point = [(x := (x * 75 + 74) % 65537) & 0xFFFF]
            for controller in (mine, theirs):
                controller.act(h, point, [0])
                controller.observe(h, x & 0xFFFF, [(x * 3) & 0xFFFF])
            difference = first_difference(mine, theirs.w)
            assert difference is None, f"episode {episode}, step {h}: {difference}"
        if episode % 3 == 0:
            fill(mine)
            theirs.w[:] = array("H", mine.words())
    assert {k % 2 for k in added if k > 1} == {0, 1}, "no fold halved odd and even counts: nothing was tested"
