"""The link: a call is executed once, whatever the line does; C and Python give the same answers."""

from __future__ import annotations

import random

import pytest

from adamb.firmware_model import _spec
from adamb.tools.device.emulator.core import HostCore
from adamb.tools.device.loop import adamb_link as device_link
from adamb.tools.device.loop.link import Frame, Link, LinkLost, TargetRefused, decode, encode
from adamb.tools.device.loop.transports import MemoryTransport
from support.looped import QUICK, FaultyTransport, PythonEnd, play, session

ENDS = {"python": PythonEnd, "cortex-m0": lambda: MemoryTransport("cortex-m0", 512)}


@pytest.fixture(params=sorted(ENDS))
def end(request):
    return ENDS[request.param]()


class Recorded:
    """Keeps what passes."""

    immediate = True

    def __init__(self, inner):
        self.inner, self.written, self.answers = inner, [], []

    def write(self, data):
        self.written.append(data)
        self.inner.write(data)

    def read(self, seconds):
        self.answers.append(self.inner.read(seconds))
        return self.answers[-1]


def test_both_sides_answer_every_request_with_the_same_bytes(monkeypatch):
    monkeypatch.setattr(device_link, "name", lambda: "C core")
    monkeypatch.setattr(device_link, "free_bytes", lambda: 1024)
    monkeypatch.setattr("adamb.tools.device.loop.link.os.urandom", lambda count: b"\1\2\3\4")
    lines = []
    for make in (lambda: MemoryTransport("cortex-m0", 512), PythonEnd):
        line = Recorded(make())
        if isinstance(line.inner, PythonEnd):
            line.inner.link.unit = 0  # the emulated machine has no clock
        link, config = session(line)
        play(link, HostCore(config, 512), 20, seed=7)
        link.crc()
        block = link.read_block(512)
        link.write_block(block)
        lines.append((line.written, line.answers, block))
    assert lines[0] == lines[1]


def test_errors_of_the_core_come_back_as_its_codes(end):
    link, config = session(end)
    assert link.observe(0, 1, [1])[0] == _spec.ERR_ORDER
    assert link.act(9, [1])[0] == _spec.ERR_ARGUMENT
    assert link.init(config, 100) == _spec.ERR_MEMORY
    assert link.act(0, [1])[0] == _spec.ERR_ORDER, "the refused init has left no controller"


def test_a_block_larger_than_the_memory_is_refused():
    link, config = session(MemoryTransport("cortex-m0", 512))
    assert link.init(config, 513) == _spec.ERR_MEMORY


def test_a_request_that_comes_again_is_answered_again_and_not_executed_again(end):
    link, _ = session(end)
    link.act(0, [1000])
    before = link.crc()
    observe = encode(Frame(link._number + 1, ord("O"), bytes([0, 9, 0, 7, 0])), link._seed)
    answers = []
    for _ in range(6):
        end.write(observe)
        answers.append(end.read(0))
    assert len(set(answers)) == 1 and answers[0]
    link._number += 1
    assert link.crc() != before
    assert link.observe(0, 9, [7])[0] == _spec.ERR_ORDER, "a second observe would have been accepted"


def test_a_late_copy_of_an_older_request_is_dropped(end):
    line = Recorded(end)
    link, _ = session(line)
    for h in range(3):
        link.act(h, [h])
    crc = link.crc()
    for old in line.written[:-2]:
        end.write(old)
        assert end.read(0) == b""
    assert link.crc() == crc


def test_frames_of_another_session_are_noise(end):
    first, _ = session(end)
    line = Recorded(end)
    second, _ = session(line)
    stale = encode(Frame(second._number + 1, ord("E"), b""), first._seed)
    end.write(stale)
    assert end.read(0) == b""
    assert second.end_episode()[0] == 0


@pytest.mark.parametrize("seed", range(2))
def test_any_bytes_between_frames_are_survived(end, seed):
    draw = random.Random(seed)
    link, config = session(end)
    core = HostCore(config, 512)
    play(link, core, 10, seed, each=lambda: end.write(draw.randbytes(draw.randrange(200))))
    end.write(b"\n")
    assert link.read_block(512) == core.block(), f"seed {seed}"


@pytest.mark.parametrize("seed", range(10, 12))
def test_a_line_that_loses_flips_doubles_and_delays_never_changes_a_word(end, seed):
    line = FaultyTransport(end, seed)
    link, config = session(line)
    core = HostCore(config, 512)
    play(link, core, 100, seed)
    assert link.read_block(512) == core.block(), f"seed {seed}"
    assert all(line.there.done.values()) and all(line.back.done.values()), "every kind of error has happened"
    assert link.counts.repeats > 10


def test_a_line_that_carries_nothing_ends_in_a_clear_stop(end):
    link, _ = session(end)
    link.transport = FaultyTransport(end, seed=1, rate=0.0)
    link.transport.there.pass_on = lambda data: b""
    with pytest.raises(LinkLost, match="has not answered"):
        link.act(0, [0])


def test_another_version_is_refused_by_name(end, monkeypatch):
    monkeypatch.setattr("adamb.tools.device.loop.link.EXPECTED", (1, 1, 1))
    says = r"another version runs on the target.*this is link 1, specification 1,"
    with pytest.raises(TargetRefused, match=says):
        Link(end, QUICK).hello()


def test_no_error_of_one_byte_passes_the_check():
    sent = Frame(513, ord("A"), bytes(range(7)))
    line = encode(sent, seed=5).strip(b"~\n")
    for at in range(len(line)):
        for value in range(256):
            damaged = line[:at] + bytes([value]) + line[at + 1 :]
            if damaged != line:
                assert decode(damaged, (5,)) in (None, sent)  # the bits that fill up the last letter
