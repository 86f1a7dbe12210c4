"""Any order of calls, saves, restores and power cuts leaves both twins with the same sound block.

Hypothesis chooses the calls and shrinks a failure to the few that matter. After every call the words of the
twins are equal, both self-checks pass, and the words around the C block are untouched.
"""

from __future__ import annotations

from array import array
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from adamb.firmware_model import _spec, check, core, snapshot, store
from adamb.firmware_model.host import binding
from adamb.tools.maintain.worlds import KINDS, World
from support.flash import TEARS, CStore, Flash

MARGIN, GUARD = 40, 0xBEEF
FLAGS = ("paper", "own", "freeze", "random_action", "detect", "auto_bonus")
words = st.integers(0, 0xFFFF)
points = st.lists(words | st.sampled_from([0, 1, 0x7FFF, 0x8000, 0xFFFF]), min_size=3, max_size=3)
any_h = st.integers(0, 6) | st.sampled_from([-1, 7, 8, 255, 0x7FFFFFFF, -0x80000000])


class Twins(RuleBasedStateMachine):
    """Both twins, each with its block, storage and store; every rule goes to both."""

    @initialize(
        dims=st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 7)),
        flags=st.fixed_dictionaries(dict.fromkeys(FLAGS, st.integers(0, 1))),
        share=st.integers(0, 2), seed=words, bonus=st.integers(0, _spec.BONUS_MAX), gamma=st.integers(1, 3),
        extra=st.integers(0, 9) | st.integers(0, 300), page=st.sampled_from([8, 32, 64]),
        slots=st.integers(2, 4),
    )  # fmt: skip
    def begin(self, dims, flags, share, seed, bonus, gamma, extra, page, slots) -> None:
        self.d_s, self.d_a, self.horizon = dims
        self.config = core.Config(
            d_s=self.d_s, d_a=self.d_a, horizon=self.horizon, share=share, seed=seed, bonus=bonus,
            thresholds=core.thresholds(gamma, 1, 1), **flags,
        )  # fmt: skip
        self.words = core.required_words(self.config) + extra
        assert self.words == binding.required_words(self.config) + extra
        self.python_block = array("H", bytes(2 * self.words))
        self.guarded = array("H", [GUARD] * (self.words + 2 * MARGIN))
        self.c_block: Any = memoryview(self.guarded)[MARGIN:-MARGIN]
        self.next_h, self.snapshots, self.state = 0, [], [0x8000] * 3
        sector = -(-(32 + 2 * self.words) // page) * page
        self.flashes = [Flash(page, sector, slots, seed=seed) for _ in range(2)]
        self.completed: array | None = None
        self.init()
        self.open_stores()

    def init(self) -> None:
        for made in (core.init(self.config, self.python_block), binding.init(self.config, self.c_block)):
            assert not isinstance(made, int)
        self.attach()

    def attach(self) -> None:
        self.python: Any = core.attach(self.python_block)
        self.c = binding.Controller(self.c_block)

    def open_stores(self) -> None:
        self.c_store = CStore(self.flashes[0], self.words)
        self.store = store.open(self.flashes[1], self.words)
        assert self.c_store.code == 0
        assert (self.c_store.newest, self.c_store.sequence) == (self.store.newest, self.store.sequence)

    def both(self, call: str, *arguments: Any) -> int:
        codes = [getattr(twin, call)(*arguments) for twin in (self.python, self.c)]
        assert codes[0] == codes[1], f"{call}{arguments}: Python {codes[0]}, C {codes[1]}"
        return codes[0]

    def played(self, h: int, state: list[int]) -> tuple[int, list[int]]:
        actions = [array("H", bytes(2 * self.d_a)) for _ in range(2)]
        codes = [twin.act(h, state, a) for twin, a in zip((self.python, self.c), actions, strict=True)]
        assert codes[0] == codes[1] and actions[0] == actions[1]
        return codes[0], list(actions[0])

    @rule(h=any_h, state=points)
    def act(self, h: int, state: list[int]) -> None:
        wanted = 0 if 0 <= h < self.horizon else _spec.ERR_ARGUMENT
        assert self.played(h, state[: self.d_s])[0] == wanted

    @rule(h=any_h, reward=words, state=points)
    def observe(self, h: int, reward: int, state: list[int]) -> None:
        wanted = _spec.ERR_ARGUMENT
        if 0 <= h < self.horizon:
            at = self.python_block[_spec.H_STEPS_AT] + h * _spec.S_WORDS + _spec.S_ACTION
            wanted = 0 if self.python_block[at] else _spec.ERR_ORDER
        before = array("H", self.python_block)
        assert self.both("observe", h, reward, state[: self.d_s]) == wanted
        assert wanted == 0 or before == self.python_block, "a refused call changes nothing"

    @rule(kind=st.sampled_from(list(KINDS)), seed=st.integers(0, 99), steps=st.integers(1, 60))
    def live(self, kind: str, seed: int, steps: int) -> None:
        world = World(kind, seed, self.d_s, self.d_a, self.horizon)
        state = world.start()
        for _ in range(steps):
            code, action = self.played(self.next_h, state)
            reward, state = world.step(self.next_h, state, action)
            assert code == self.both("observe", self.next_h, reward, state) == 0
            self.next_h = (self.next_h + 1) % self.horizon
            if self.next_h == 0:
                self.end_episode()

    @rule()
    def end_episode(self) -> None:
        assert self.both("end_episode") == 0

    @rule()
    def stats(self) -> None:
        assert check.stats(self.python_block) == self.c.stats()

    @rule()
    def save_snapshot(self) -> None:
        out = [bytearray(16 + 2 * self.words) for _ in range(2)]
        block, into = (binding.ffi.from_buffer(each) for each in (self.c_block, out[1]))
        lengths = [
            snapshot.save(self.python_block, out[0]),
            binding.lib.adamb_snapshot_save(
                binding.ffi.cast("uint16_t *", block), binding.ffi.cast("uint8_t *", into), len(out[1])
            ),
        ]
        assert lengths[0] == lengths[1] > 0 and out[0] == out[1]
        self.snapshots.append(bytes(out[0][: lengths[0]]))

    def restore_both(self, data: bytes) -> int:
        pointer, given = binding.ffi.from_buffer("uint16_t[]", self.c_block), binding.c_config(self.config)
        codes = [
            snapshot.restore(data, self.config, self.python_block),
            binding.lib.adamb_snapshot_restore(data, len(data), given, pointer, self.words),
        ]
        assert codes[0] == codes[1]
        return codes[0]

    @precondition(lambda self: self.snapshots)
    @rule(index=st.integers(0, 99))
    def restore_snapshot(self, index: int) -> None:
        data = self.snapshots[index % len(self.snapshots)]
        assert self.restore_both(data) == 0
        self.attach()
        self.next_h = 0
        used = 4 * self.python_block[_spec.H_FRESH]
        assert self.python_block[:used].tobytes() == data[16:] and not any(self.python_block[used:])

    @precondition(lambda self: self.snapshots)
    @rule(index=st.integers(0, 99), place=words, flip=st.integers(0, 7), cut=st.integers(0, 9))
    def restore_damaged_snapshot(self, index: int, place: int, flip: int, cut: int) -> None:
        data = bytearray(self.snapshots[index % len(self.snapshots)])
        data[place % len(data)] ^= 1 << flip
        before = array("H", self.python_block)
        assert self.restore_both(bytes(data[: len(data) - cut])) == _spec.ERR_BLOCK
        assert before == self.python_block, "a refused restore changes nothing"

    @rule(cut=st.just(0) | st.integers(1, 40), tear=st.sampled_from(TEARS))
    def save(self, cut: int, tear: str) -> None:
        for flash in self.flashes:
            flash.lose_power(cut, tear)
        codes = [self.c_store.save(self.c_block), self.store.save(self.python_block)]
        dead = self.flashes[0].dead
        assert codes[0] == codes[1] == (_spec.ERR_DEVICE if dead else 0)
        assert self.flashes[0].data == self.flashes[1].data and self.flashes[1].dead == dead
        coming = array("H", self.python_block)
        if not dead:
            self.completed = coming
        else:
            self.boot(coming)

    @rule()
    def power_cycle(self) -> None:
        self.boot(None)

    def boot(self, coming: array | None) -> None:
        """All but the storage is lost; the last completed save is there, or the one that was being made."""
        for i in range(self.words):
            self.python_block[i] = self.c_block[i] = 0xA5A5
        for flash in self.flashes:
            flash.power_on()
        self.open_stores()
        pairs = ((self.c_store, self.c_block), (self.store, self.python_block))
        codes = [made.restore(self.config, block) for made, block in pairs]
        assert codes[0] == codes[1]
        self.next_h = 0
        if codes[0] == _spec.ERR_EMPTY:
            assert self.completed is None
            self.init()
            return
        used = 4 * self.python_block[_spec.H_FRESH]
        possible = [made[: 4 * made[_spec.H_FRESH]] for made in (self.completed, coming) if made is not None]
        assert codes[0] == 0 and self.python_block[:used] in possible
        self.completed = array("H", self.python_block)
        self.attach()

    @invariant()
    def the_twins_hold_the_same_sound_block(self) -> None:
        if not hasattr(self, "guarded"):
            return
        assert bytes(self.c_block) == self.python_block.tobytes()
        assert check.check(self.python_block) == self.c.check() == 0
        assert set(self.guarded[:MARGIN]) == set(self.guarded[-MARGIN:]) == {GUARD}


BOUNDED = settings(
    max_examples=200,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def test_any_order_of_calls_keeps_the_twins_equal_and_sound() -> None:
    run_state_machine_as_test(Twins, settings=BOUNDED)
