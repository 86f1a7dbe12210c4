"""The target's side of the link in Python, for MicroPython: the same frames and rules as adamb_link.h.

    serve(Link(ticks_us, 1), sys.stdin.buffer.readinto, sys.stdout.buffer.write)

It ends when the host says so, when the line is closed, or by Ctrl-C.
"""

import binascii
import gc
import sys
from array import array

from adamb.firmware_model import core
from adamb.firmware_model._spec import LEARNER_HASH, SPEC_HASH

VERSION = 1
NOTHING, MICROSECONDS = 0, 1
WORDS = 48
LINE = 152
HEAD = 3
ANSWER = 0x80
BAD_ARGUMENT, NO_MEMORY, BAD_BLOCK, BAD_ORDER = -1, -3, -4, -5
FIELDS = (
    "d_s", "d_a", "horizon", "mode", "split_counts", "share", "when_full", "random_action", "detect", "auto_bonus",
)  # fmt: skip
LEVELS = 15


def get16(data, at):
    return data[at] | data[at + 1] << 8


def get32(data, at):
    return get16(data, at) | get16(data, at + 2) << 16


def pack(value, count):
    return bytes([value >> 8 * i & 255 for i in range(count)])


def words_of(data, at):
    return [get16(data, i) for i in range(at, len(data) - 1, 2)]


def config_of(data, at):
    """The configuration from the bytes of C's adamb_config."""
    config = core.Config()
    for i in range(len(FIELDS)):
        setattr(config, FIELDS[i], data[at + i])
    at += len(FIELDS)
    config.bonus = get16(data, at)
    config.seed = get16(data, at + 2)
    config.thresholds = array("H", words_of(data, at + 4)[:LEVELS])
    return config


def free_bytes():
    gc.collect()
    return gc.mem_free() if hasattr(gc, "mem_free") else 0


def name():
    found = sys.implementation
    words = [found.name, ".".join([str(n) for n in found.version[:3]]), sys.platform]
    return " ".join(words + (["C core"] if hasattr(core, "SPEC_HASH") else []))


class Link:
    """A session's state; `take` gives the answer to a line."""

    def __init__(self, clock, unit):
        self.clock = clock
        self.unit = unit
        self.session = None
        self.seed = 0
        self.last = 0
        self.reply = b""
        self.ended = False
        self.block = None
        self.controller = None

    def take(self, line):
        """The line to send for a received one (without its ends); b"" where there is nothing to say."""
        try:
            body = binascii.a2b_base64(line)
        except Exception:  # what is raised for a line that is none differs between builds
            return b""
        end = len(body) - 4
        if end < HEAD or body[2] & ANSWER:
            return b""
        greeting = body[2] == 72
        if binascii.crc32(body[:end], 0 if greeting else self.seed) != get32(body, end):
            return b""
        if greeting:
            return self.greet(body)
        number = get16(body, 0)
        if self.session is None:
            return b""
        if number == self.last:
            return self.reply
        if number != (self.last + 1) & 0xFFFF:
            return b""
        result = self.execute(chr(body[2]), body[HEAD:end])
        self.last = number
        return self.answer(body, self.seed, result)

    def answer(self, body, seed, payload):
        text = bytes(body[:2]) + bytes([body[2] | ANSWER]) + payload
        text += pack(binascii.crc32(text, seed), 4)
        self.reply = b"~" + binascii.b2a_base64(text).strip() + b"\n"
        return self.reply

    def greet(self, body):
        session = bytes(body[HEAD + 1 : HEAD + 5])
        if session == self.session:
            return self.reply if get16(body, 0) == self.last else b""
        self.session = session
        self.seed = binascii.crc32(session)
        self.last = get16(body, 0)
        self.controller = None
        # The C core of a firmware says itself which it is; the Python core came with this file.
        hashes = getattr(core, "SPEC_HASH", SPEC_HASH), getattr(core, "LEARNER_HASH", LEARNER_HASH)
        known = bytes([VERSION]) + pack(hashes[0], 2) + pack(hashes[1], 2) + bytes([self.unit])
        return self.answer(body, 0, known + pack(free_bytes(), 4) + name().encode()[:40])

    def execute(self, op, data):
        """Status and what follows it."""
        if op == "I":
            return self.status(self.start(data))
        if op == "Q":
            self.ended = True
            return self.status(0)
        if self.controller is None:
            return self.status(BAD_ORDER)
        if op == "W":
            return self.status(self.write(data))
        if op == "A":
            return self.act(data)
        if op == "O":
            state = array("H", words_of(data, 3))
            return self.timed(self.controller.observe, (data[0], get16(data, 1), state))
        if op == "E":
            return self.timed(self.controller.end_episode, ())
        if op == "C":
            return self.status(0) + pack(binascii.crc32(self.block), 4)
        if op == "R":
            return self.read(get32(data, 0), data[4])
        return self.status(BAD_ARGUMENT)

    def status(self, code):
        return bytes([code & 255])

    def timed(self, call, arguments):
        start = self.clock()
        code = call(*arguments)
        spent = self.clock() - start & 0x3FFFFFFF
        return self.status(code) + pack(spent, 4)

    def act(self, data):
        state = array("H", words_of(data, 1))
        done = self.timed(self.controller.act, (data[0], state, self.action))
        return done if done[0] else done + b"".join([pack(word, 2) for word in self.action])

    def start(self, data):
        words = get32(data, 0)
        self.controller = None
        try:
            if self.block is None or len(self.block) != words:
                self.block = None
                gc.collect()
                self.block = array("H", bytes(2 * words))
            made = core.init(config_of(data, 4), self.block)
        except MemoryError:
            self.block = None
            return NO_MEMORY
        if isinstance(made, int):
            return made
        self.controller = made
        self.action = array("H", [0] * data[5])
        return 0

    def read(self, at, count):
        if count > WORDS or at + count > len(self.block):
            return self.status(BAD_ARGUMENT)
        return self.status(0) + b"".join([pack(self.block[at + i], 2) for i in range(count)])

    def write(self, data):
        at, words = get32(data, 0), words_of(data, 4)
        if at + len(words) > len(self.block):
            return BAD_ARGUMENT
        for i in range(len(words)):
            self.block[at + i] = words[i]
        return 0


def serve(link, read_into, write):
    """Answer lines until the host ends the session or the line is closed; a line too long is dropped."""
    line, one, count = bytearray(LINE), bytearray(1), -1
    while not link.ended:
        if not read_into(one):
            return
        letter = one[0]
        if letter == 126:
            count = 0
        elif letter == 10 and count > 0:
            answer = link.take(bytes(line[:count]))
            count = -1
            if answer:
                write(answer)
        elif count >= 0 and letter != 13:
            if count < LINE:
                line[count] = letter
                count += 1
            else:
                count = -1


def clock():
    """A clock and its unit; the WebAssembly build's own clock has steps of a millisecond."""
    if sys.platform == "webassembly":
        import js

        return (lambda: int(1000 * js.performance.now())), MICROSECONDS
    try:
        from time import ticks_us
    except ImportError:
        return (lambda: 0), NOTHING
    return ticks_us, MICROSECONDS


def main():
    """Serve on the standard streams, which on a board are its serial port."""
    source, sink = getattr(sys.stdin, "buffer", sys.stdin), getattr(sys.stdout, "buffer", sys.stdout)
    try:  # noqa: SIM105  (MicroPython has no contextlib)
        serve(Link(*clock()), source.readinto, sink.write)
    except KeyboardInterrupt:
        pass
