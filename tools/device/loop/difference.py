"""Where a target first differs from the C core: the calls since the last equal block are played again, one
by one, and the whole block is compared after each."""

from __future__ import annotations

import zlib
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adamb.firmware_model import _spec
from adamb.firmware_model.host import binding
from adamb.tools.device.stream import Diverged
from adamb.tools.inspect.word_names import word_name

if TYPE_CHECKING:
    from adamb.tools.device.loop.link import Link


@dataclass(frozen=True)
class Call:
    """One call of the core, as it is sent."""

    op: str
    episode: int
    h: int = 0
    state: tuple[int, ...] = ()
    reward: int = 0

    def on(self, link: Link) -> tuple[int, int, tuple[int, ...]]:
        """Execute it on a target: the code, what it took, and the action."""
        if self.op == "act":
            return link.act(self.h, self.state)
        if self.op == "observe":
            return *link.observe(self.h, self.reward, self.state), ()
        return *link.end_episode(), ()

    def here(self, controller: Any, action: array) -> tuple[int, ...]:
        """Execute it on the C core of this computer."""
        if self.op == "act":
            controller.act(self.h, self.state, action)
            return tuple(action)
        if self.op == "observe":
            controller.observe(self.h, self.reward, self.state)
        else:
            controller.end_episode()
        return ()


def _first_word(theirs: bytes, ours: bytes) -> str | None:
    """The first word in which the blocks differ, with its meaning and both values."""
    there, block = array("H", theirs), array("H", ours)
    at = next((i for i in range(len(block)) if there[i] != block[i]), None)
    if at is None:
        return None
    return f"word {at} ({word_name(block, at)}) is {there[at]} there, {block[at]} in the C core"


def first_difference(link: Link, good: bytes, now: bytes, calls: list[Call], title: str) -> Diverged:
    """The first call after the block `good` that leaves another word on the target, in one line.

    Where the same calls agree when they are played again, the first word of the target's block, as it is
    before that, which is not as in `now`, the block of the C core.
    """
    found = _first_word(link.read_block(len(now) // 2), now)
    block = array("H", good)
    controller = binding.Controller(block)
    action = array("H", [0] * (good[2 * _spec.H_DIMS] >> 4))
    link.write_block(good)
    for call in calls:
        code, _, played = call.on(link)
        expected = call.here(controller, action)
        place = f"{title}: episode {call.episode}, step {call.h}, {call.op}"
        if code:
            return Diverged(f"{place}: the target refused it (code {code}), the C core did not")
        if link.crc() != zlib.crc32(block):
            word = _first_word(link.read_block(len(block)), block.tobytes())
            return Diverged(f"{place}: {word or 'its block differed, and no longer does'}")
        if played != expected:
            return Diverged(f"{place}: action {list(played)} there, {list(expected)} in the C core")
    again = "played again from the last equal block, the same calls agree"
    return Diverged(f"{title}: {found or 'an action differed'}; {again}: is its memory sound?")
