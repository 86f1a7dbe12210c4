# ruff: noqa: UP031  (small builds of MicroPython lack f-strings)
# Replay a file of recorded calls (tests/vectors/README.md) on MicroPython; stops at the first difference.
import binascii
import json
from array import array

from adamb import core


def digest(block):
    crc = binascii.crc32(block)
    return "%04x%04x" % (crc >> 16, crc & 0xFFFF)


def expect(what, wanted, got):
    if wanted != got:
        raise ValueError("line %d: %s: recorded %s, got %s" % (line_n, what, wanted, got))


def long_run(controller, config, seed, episodes):
    x = seed
    state = array("H", [32768] * config.d_s)
    action = array("H", [0] * config.d_a)
    for _ in range(episodes):
        for h in range(config.horizon):
            expect("act", 0, controller.act(h, state, action))
            reward = 65535 - abs(action[0] - state[0])
            for i in range(config.d_s):
                x ^= (x << 7) & 0xFFFF
                x ^= x >> 9
                x ^= (x << 8) & 0xFFFF
                state[i] = (state[i] >> 1) + (x >> 1)
            expect("observe", 0, controller.observe(h, reward, state))
        expect("end_episode", 0, controller.end_episode())


def start(head):
    fields = head["config"]
    fields["thresholds"] = array("H", fields["thresholds"])
    config = core.Config(**fields)
    block = array("H", [0xA5A5] * head["words"])
    controller = core.init(config, block)
    if isinstance(controller, int):
        raise ValueError("init returned %d" % controller)
    expect("digest after init", head["digest"], digest(block))
    return config, controller, block


def one(row, config, controller, block):
    kind = row[0]
    if kind == "act":
        action = array("H", [0] * config.d_a)
        code = controller.act(row[1], row[2], action)
        expect("result of act", row[3], code)
        expect("action", row[4], list(action) if code == 0 else [])
    elif kind == "given":
        expect("result of given", row[4], controller.given(row[1], row[2], row[3]))
    elif kind == "observe":
        expect("result of observe", row[4], controller.observe(row[1], row[2], row[3]))
    elif kind == "end":
        expect("result of end_episode", row[1], controller.end_episode())
        expect("digest after end_episode", row[2], digest(block))
    else:
        long_run(controller, config, row[1], row[2])
        expect("digest after run", row[3], digest(block))


line_n = 1
with open("/stream.jsonl") as file:
    made = start(json.loads(file.readline()))
    for line in file:
        line_n += 1
        one(json.loads(line), *made)
print(line_n)
