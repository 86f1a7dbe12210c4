"""A store that cannot read, or whose block changes while it saves, says so and loses nothing, in both twins.

`store_model.c` tries all sequences on the C store; here each promise has a test by name.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import pytest

from adamb.budgets.controller import make_config
from adamb.firmware_model import _spec
from support.flash import Flash
from support.twins import CTwin, PythonTwin

WORDS = 240
CONFIG = make_config(1, 1, 4, {}, seed=1)
both = pytest.mark.parametrize("twin", [CTwin(), PythonTwin()], ids=["c", "python"])


class Erring(Flash):
    """`read_as` may answer for a read: a code, or None for 0 and no byte; `meanwhile` runs in every prog."""

    def __init__(self, sectors: int) -> None:
        super().__init__(64, 512, sectors, seed=3)
        self.read_as: Callable[[int, Any], int | None] | None = None
        self.meanwhile: Callable[[], None] | None = None

    def read(self, address: int, buffer: Any) -> int:
        code = self.read_as(address, buffer) if self.read_as else 0
        return code or (0 if code is None else super().read(address, buffer))

    def prog(self, address: int, buffer: Any) -> int:
        if self.meanwhile:
            self.meanwhile()
        return super().prog(address, buffer)


def learnt(twin: Any, episodes: int) -> array:
    block, action = array("H", bytes(2 * WORDS)), array("H", [0])
    controller = twin.init(CONFIG, block)
    for k in range(4 * episodes):
        controller.act(k % 4, [k * 999 & 0xFFFF], action)
        controller.observe(k % 4, action[0], [k * 777 & 0xFFFF])
        if k % 4 == 3:
            controller.end_episode()
    return block


def found(twin: Any, flash: Flash) -> array:
    """What a restore gives after a reset."""
    block = array("H", bytes(2 * WORDS))
    assert twin.open_store(flash, WORDS).restore(CONFIG, block) == 0
    return block


def same(one: array, other: array) -> bool:
    used = 4 * other[_spec.H_FRESH]
    return one[:used] == other[:used]


def fails(code: int, *slots: int) -> Callable[[int, Any], int]:
    return lambda address, _: code if not slots or address // 512 in slots else 0


@both
def test_open_reports_a_read_that_failed_and_every_call_looks_again(twin: Any) -> None:
    flash, block = Erring(4), learnt(twin, 30)
    assert twin.open_store(flash, WORDS).save(block) == 0
    flash.read_as = fails(-1, 2)
    made = twin.open_store(flash, WORDS)
    assert made.code == _spec.ERR_DEVICE if twin.name == "c" else not made.scanned
    untouched, into = bytes(flash.data), array("H", [0x5A5A] * WORDS)
    assert made.restore(CONFIG, into) == made.save(block) == _spec.ERR_DEVICE
    assert flash.data == untouched and set(into) == {0x5A5A}
    flash.read_as = None
    assert made.restore(CONFIG, into) == 0 and same(into, block)
    assert made.save(block) == 0


@both
@pytest.mark.parametrize("slots", [(), (1,)], ids=["all reads", "the newest"])
def test_no_number_is_reused_after_a_read_error(twin: Any, slots: tuple[int, ...]) -> None:
    flash, old, new = Erring(4), learnt(twin, 30), learnt(twin, 60)
    made = twin.open_store(flash, WORDS)
    assert made.save(old) == made.save(old) == 0
    flash.read_as = fails(-1, *slots)
    made = twin.open_store(flash, WORDS)
    assert made.save(new) == _spec.ERR_DEVICE
    flash.read_as = None
    assert made.save(new) == 0 and made.sequence == 3
    assert same(found(twin, flash), new)


@both
def test_the_only_completed_save_is_not_erased_while_it_cannot_be_read(twin: Any) -> None:
    flash, old = Erring(2), learnt(twin, 30)
    assert twin.open_store(flash, WORDS).save(old) == 0
    flash.read_as = fails(-1)
    made, erases = twin.open_store(flash, WORDS), list(flash.erases)
    for _ in range(5):
        assert made.save(learnt(twin, 60)) == _spec.ERR_DEVICE
    assert flash.erases == erases
    flash.read_as = None
    assert same(found(twin, flash), old)


@both
def test_a_place_that_cannot_be_read_for_good_is_erased_in_its_turn(twin: Any) -> None:
    flash, old, new = Erring(3), learnt(twin, 30), learnt(twin, 60)
    made = twin.open_store(flash, WORDS)
    assert made.save(old) == made.save(new) == 0
    flash.read_as = fails(_spec.ERR_BLOCK, 1)
    assert same(found(twin, flash), old)
    made = twin.open_store(flash, WORDS)
    assert made.save(new) == 0 and flash.erases == [1, 2, 1]
    assert same(found(twin, flash), new)


@both
def test_a_read_that_delivers_nothing_or_half_never_restores_what_was_not_saved(twin: Any) -> None:
    saved = [learnt(twin, 30), learnt(twin, 60)]

    def half(address: int, buffer: Any) -> None:
        some = bytearray(len(buffer))
        Flash.read(flash, address, some)
        buffer[: len(buffer) // 2] = some[: len(buffer) // 2]

    for lie in (lambda *_: None, half):
        for first in range(1, 30):
            flash = Erring(4)
            made = twin.open_store(flash, WORDS)
            assert [made.save(block) for block in saved] == [0, 0]
            made, into = twin.open_store(flash, WORDS), array("H", bytes(2 * WORDS))
            answers = iter([*[0] * (first - 1), lie])
            flash.read_as = lambda *given, answers=answers: (next(answers, 0) or (lambda *_: 0))(*given)
            code = made.restore(CONFIG, into)
            assert (code == 0 and any(same(into, block) for block in saved)) or not any(into)


@both
@pytest.mark.parametrize("page", [0, 4], ids=["first page", "fifth page"])
def test_a_block_that_changes_during_a_save_is_saved_as_it_is_or_not_at_all(twin: Any, page: int) -> None:
    """Any word of it: what was saved before is not lost, what is said to be saved is there after a reset."""
    old, now = learnt(twin, 30), learnt(twin, 60)
    for word in range(4 * now[_spec.H_FRESH]):
        flash, block, pages = Erring(2), array("H", now), iter(range(10**6))
        made = twin.open_store(flash, WORDS)
        assert made.save(old) == 0

        def flip(block: array = block, word: int = word, pages: Any = pages) -> None:
            if next(pages) == page:
                block[word] ^= 1

        flash.meanwhile = flip
        code = made.save(block)
        restored = found(twin, flash)
        assert same(restored, block) or same(restored, now) if code == 0 else same(restored, old), word
