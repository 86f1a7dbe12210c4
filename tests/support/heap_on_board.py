# ruff: noqa: UP031  (small builds of MicroPython lack f-strings)
# Many steps with the heap locked, and not one byte of heap taken by them.
# /job.json: {config, words, steps, seed}. Prints the growth of gc.mem_alloc over all steps.
import gc
import json
from array import array

import micropython

from adamb import core


def load():
    with open("/job.json") as file:
        job = json.load(file)
    return job, core.Config(**job["config"])


def play(controller, config, state, action, rng, steps):
    # A cheap task of its own: the state drifts, the reward falls with the distance between state and action.
    h = 0
    for _ in range(steps):
        code = controller.act(h, state, action)
        if code:
            return code
        distance = state[0] - action[0]
        if distance < 0:
            distance = -distance
        for i in range(len(state)):
            rng[0] = (rng[0] * 4997 + 13849) & 0xFFFF  # stays below 2^30, or this loop itself would allocate
            state[i] = (state[i] + (rng[0] >> 3)) & 0xFFFF if rng[0] & 1 else rng[0]
        code = controller.observe(h, 65535 - distance, state)
        if code:
            return code
        h += 1
        if h == config.horizon:
            h = 0
            code = controller.end_episode()
            if code:
                return code
    return 0


def main():
    job, config = load()
    controller = core.init(config, array("H", bytes(2 * job["words"])))
    if isinstance(controller, int):
        raise ValueError("init returned %d" % controller)
    state = array("H", bytes(2 * config.d_s))
    action = array("H", bytes(2 * config.d_a))
    rng = array("H", (job["seed"],))
    code = play(controller, config, state, action, rng, 10)
    gc.collect()
    before = gc.mem_alloc()
    micropython.heap_lock()
    try:
        if code == 0:
            code = play(controller, config, state, action, rng, job["steps"])
    finally:
        micropython.heap_unlock()
    after = gc.mem_alloc()
    if code:
        raise ValueError("a call returned %d" % code)
    print(after - before)


main()
