# Calls of every kind, right and wrong, on MicroPython. What is printed must not depend on which core answers.
import gc
import io
from array import array

import adamb
from adamb import Controller, Error, Replaced, Unit, check, core, guard, snapshot, store, unit


class Flash:
    """Storage in RAM; it can lose its power at a write."""

    page_bytes = 64
    sector_bytes = 1024
    sectors = 8

    def __init__(self):
        self.data = bytearray(b"\xff" * (self.sector_bytes * self.sectors))
        self.left = 1000000

    def read(self, address, buffer):
        buffer[:] = self.data[address : address + len(buffer)]
        return 0

    def prog(self, address, buffer):
        if self.left == 0:
            return -1
        self.left -= 1
        self.data[address : address + len(buffer)] = buffer
        return 0

    def erase(self, address):
        self.data[address : address + self.sector_bytes] = b"\xff" * self.sector_bytes
        return None


class Settings:
    """A configuration of the program's own, as adamb_settings.py has it."""

    d_s, d_a, horizon, mode, split_counts, share, when_full = 2, 1, 3, 0, 0, 1, 0
    random_action, detect, auto_bonus, bonus, seed = 0, 1, 1, 0, 7
    thresholds = (1, 4, 16, 64, 256, 1024, 4096) + (65535,) * 8


def shown(thing):
    return thing if isinstance(thing, int) else type(thing).__name__


def sums(words):
    a = b = 1
    for word in words:
        a = (a + word) % 65521
        b = (b + a) % 65521
    return a, b


def life(controller, d_s, d_a, horizon, steps):
    state, action = array("H", [32768] * d_s), array("H", [0] * d_a)
    for k in range(steps):
        h = k % horizon
        code = controller.act(h, state, action)
        if code:
            return code
        for i in range(d_s):
            state[i] = (state[i] * 3 + action[0] + k * 977) // 4 & 0xFFFF
        code = controller.observe(h, action[-1], state)
        if code:
            return code
        if h + 1 == horizon:
            controller.end_episode()
    return 0


def configurations():
    print("default", core.required_words(core.Config()), list(core.Config().thresholds))
    for fields in (
        {"horizon": 99},
        {"d_s": 0},
        {"d_a": 4},
        {"bonus": -1},
        {"bonus": 40000},
        {"seed": 65536},
        {"share": 3},
        {"mode": 2},
        {"when_full": -1},
        {"horizon": 256 + 5},
        {"thresholds": [0] * 15},
        {"seed": 1 << 40},
        {"thresholds": [5, 4] + [65535] * 13},
        {"d_s": 3, "d_a": 3, "horizon": 31},
    ):
        config = core.Config(**fields)
        print(sorted(fields), core.required_words(config), shown(core.init(config, array("H", bytes(2400)))))
    try:
        core.Config(colour=3)
        print("a field that does not exist")
    except AttributeError:
        print("AttributeError")
    print(shown(core.init(core.Config(), array("H", bytes(16)))), core.required_words(Settings))
    print(list(core.thresholds(2, 1, 1)), list(core.thresholds(3, 5, 2)))
    changed = core.Config()
    changed.horizon = 2
    changed.thresholds = array("H", [9] * 15)
    print(changed.horizon, core.required_words(changed))


def arguments():
    block = array("H", bytes(4096))
    controller = core.init(Settings, block)
    action = array("H", [0])
    for h, state, place in (
        (0, [1, 2], action),
        (0, (3, 4), action),
        (0, array("H", (5, 6)), [0]),
        (-1, [1, 2], action),
        (3, [1, 2], action),
        (1 << 40, [1, 2], action),
        (0, [1], action),
        (0, [1, -1], action),
        (0, [1, 65536], action),
        (0, [1, 1 << 40], action),
        (0, [1, 2], array("H")),
        (0, [1, 2], []),
        (0, bytes((7, 8)), action),
        (True, array("i", (7, 8)), action),
        (0, array("i", (-7, 8)), action),
        (0, memoryview(array("H", (5, 6, 7))), memoryview(array("H", (0, 0)))),
    ):
        print("act", controller.act(h, state, place), list(place))
    for h, reward, state in (
        (2, 1, [1, 2]),
        (0, -1, [1, 2]),
        (0, 65536, [1, 2]),
        (0, 65535, [1]),
        (3, 1, [1, 2]),
        (0, 1 << 40, [1, 2]),
        (0, 65535, [1, 65536]),
        (0, 65535, [1, 2]),
        (0, 65535, [1, 2]),
    ):
        print("observe", controller.observe(h, reward, state))
    print("end", controller.end_episode(), controller.w is block, sums(block))
    for wrong in (
        lambda: controller.act("0", [1, 2], action),
        lambda: controller.act(0, 5, action),
        lambda: controller.observe(0, None, [1, 2]),
    ):
        try:
            print("a wrong type gives", wrong())
        except TypeError:
            print("TypeError")


def blocks():
    block = array("H", bytes(2048))
    print(
        shown(core.attach(block)), shown(core.attach(array("H"))), check.check(block), check.check(array("H", bytes(8)))
    )
    print(check.stats(block), check.stats(array("H", bytes(8))))
    config = core.Config(seed=3, d_a=2, horizon=4)
    controller = core.init(config, block)
    print(life(controller, 1, 2, 4, 400), sums(block), check.check(block))
    print(sorted(check.stats(block).items()))
    again = core.attach(block)
    print(life(again, 1, 2, 4, 40), sums(block))
    block[1] ^= 4
    for code in (
        again.act(0, [1], array("H", [0, 0])),
        again.observe(0, 1, [1]),
        again.end_episode(),
        again.act(9, [], []),
    ):
        print("damaged", code)
    print(check.check(block), check.stats(block), shown(core.attach(block)), snapshot.bytes(block))
    block[1] ^= 4
    print(shown(core.attach(memoryview(block)[:100])), snapshot.bytes(array("H", bytes(4))))
    copy = array("H", bytes(4096))
    data = bytearray(snapshot.bytes(block))
    print(len(data), snapshot.save(block, bytearray(20)), snapshot.save(block, data), sums(data))
    print(snapshot.restore(data, config, array("H", bytes(64))), snapshot.restore(data, core.Config(), copy))
    print(snapshot.restore(data, config, copy), sums(copy))
    data[30] ^= 1
    print(snapshot.restore(data, config, copy), sums(copy), snapshot.restore(b"", config, copy))


def stores():
    block = array("H", bytes(1024))
    core.init(core.Config(), block)
    flash = Flash()
    print(shown(store.open(flash, 4)), shown(store.open(flash, 30000)))
    flash.page_bytes = 0
    print(shown(store.open(flash, 512)))
    flash.page_bytes = 100
    print(shown(store.open(flash, 512)))
    flash.page_bytes = 64
    kept = store.open(flash, len(block))
    print(kept.sequence, kept.restore(core.Config(), block), kept.flash is flash)
    controller = core.attach(block)
    for _ in range(5):
        print(life(controller, 1, 1, 5, 25), kept.save(block), kept.sequence, sums(flash.data))
    life(controller, 1, 1, 5, 5)
    flash.left = 3
    print(kept.save(block))
    flash.left = 1000000
    kept = store.open(flash, len(block))
    print(kept.sequence, kept.restore(core.Config(), block), sums(block))
    print(kept.restore(core.Config(), array("H", bytes(300))), kept.restore(core.Config(d_a=2), block))
    block[1] ^= 1
    print(kept.save(block))


class Saves:
    """A store of the program's own."""

    def __init__(self):
        self.data = None

    def save(self, block):
        self.data = bytes(block)
        return 0

    def restore(self, config, block):
        if self.data is None:
            return -6
        memoryview(block)[:] = array("H", self.data)
        return 0


def counters(guarded):
    return guarded.damages, guarded.restored, guarded.reinitialised, guarded.passes


def guards():
    config = core.Config(seed=5)
    print(shown(guard.open(config, array("H", bytes(20)))), guard.RESTORED, guard.REINITIALISED)
    for keeper in (None, Saves(), store.open(Flash(), 1024)):
        block = array("H", bytes(2048))
        guarded = guard.open(config, block, keeper)
        print("guard", life(guarded.controller, 1, 1, 5, 200), guarded.save(), guarded.handle(-5), guarded.handle(0))
        for _ in range(400):
            if guarded.tick():
                print("damage where there is none")
        print(counters(guarded), guarded.config is config, guarded.block is block, guarded.store is keeper)
        block[0] ^= 1
        code = guarded.controller.act(0, [0], array("H", [0]))
        print(code, guarded.handle(code), counters(guarded), life(guarded.controller, 1, 1, 5, 25), sums(block))
        block[1] ^= 1
        print(guarded.tick(), counters(guarded), check.check(block), guarded.tick())
    other = guard.open(core.Config(horizon=3), array("H", bytes(2048)), keeper)
    print(check.stats(other.block)["trees"], shown(other.controller), other.controller.w is other.block)


def units():
    for ends in ((0, 4000), (1000, 0), (-20000, 20000), (5, 5), (0, 70000), (1 << 40, 3)):
        made = unit.init(*ends)
        if isinstance(made, int):
            print(ends, made)
            continue
        print(
            [(made.code(value), made.outside) for value in (0, 1, 999, 4000, -1, 9999, 1 << 40, -(1 << 40))],
            made.out_of_range,
        )
        print([made.value(code) for code in (0, 1, 34406, 65535)], made.zero, made.full)
        made.out_of_range = 0
        print(made.out_of_range)


def refused(call, *given, **named):
    try:
        return call(*given, **named)
    except (Error, Replaced, AttributeError, TypeError, ValueError) as error:
        return type(error).__name__, error.args if isinstance(error, (Error, Replaced)) else 0


def classes():
    for given, named in (
        ((), {}),
        ((2, 1, 3, 2000), {"share": adamb.SHARE_OFF}),
        ((), {"bytes": 100}),
        ((), {"states": 0}),
        ((), {"colour": 1}),
        ((1, 1, 5, 4096, None, 1), {}),
        ((), {"horizon": 3, "bytes": 2049, "seed": 9}),
    ):
        made = refused(Controller, *given, **named)
        if not isinstance(made, tuple):
            made = len(made.block), sums(made.block), made.guard
        print(given, sorted(named), made)
    state, action = array("H", [5]), array("H", [0])
    made = Controller(horizon=4, bytes=2048)
    for call in (
        (made.act, 0, state, action),
        (made.act, 4, state, action),
        (made.observe, 0, 9, state),
        (made.observe, 0, 9, state),
        (made.end_episode,),
        (made.tick,),
        (made.save,),
        (Unit, 3, 3),
    ):
        print(refused(*call), action[0])
    for k in range(400):
        made.act(k % 4, state, action)
        state[0] = (state[0] * 3 + action[0]) // 4
        made.observe(k % 4, action[0], state)
        if k % 4 == 3:
            made.end_episode()
    print(sums(made.block), made.stats()["episodes"], Unit(0, 9).code(9))
    file = io.BytesIO()
    made.save(file)
    data = file.getvalue()
    print(len(data), sums(data))
    other = Controller(horizon=4, bytes=2048)
    print(refused(other.restore, io.BytesIO(data[:-1])), sums(other.block) == sums(made.block))
    print(refused(other.restore, io.BytesIO(data)), sums(other.block) == sums(made.block), other.stats()["episodes"])
    print(refused(Controller().restore, io.BytesIO(data))[1][0] == adamb.ERR_DIMENSIONS)
    print(refused(other.act, 0, state, action), other.block[0])
    other.block[0] ^= 1
    print(refused(other.act, 0, state, action), refused(other.save, file), refused(other.end_episode))


def guarded_classes():
    state, action = array("H", [5]), array("H", [0])
    made = Controller(bytes=2048, saves=Saves())
    for k in range(300):
        made.act(k % 5, state, action)
        made.observe(k % 5, action[0], state)
        made.tick()
        if k % 5 == 4:
            made.end_episode()
    print(made.save(), sums(made.block), counters(made.guard))
    for word in (0, 1, 2):
        made.block[word] ^= 1
        print(refused(made.act, 0, state, action), counters(made.guard), sums(made.block))
        print(refused(made.act, 0, state, action), refused(made.act, 9, state, action))
    made.block[0] ^= 1
    print(refused(made.tick), refused(made.tick), refused(made.save), sums(made.block))


for part in (configurations, arguments, blocks, stores, guards, units, classes, guarded_classes):
    print(part.__name__)
    gc.collect()
    part()
