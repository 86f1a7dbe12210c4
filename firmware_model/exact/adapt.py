"""Bonus, return, change detector and sharing test (SPEC 8)."""

from __future__ import annotations

from collections.abc import Sequence

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.exact import numbers as num
from adamb.firmware_model.exact.model import Model


def adapt(m: Model, h: int, state: int, action: int, reward: int, next_state: Sequence[int]) -> bool:
    """What each observe adds to return, rewards and sharing test: SPEC 8.1 to 8.11; whether the step learns."""
    learned = m.learned
    learned["seen"] = min(learned["seen"] + 1, 65535)
    learned["return_sum"] = min(learned["return_sum"] + (reward >> (16 - m.f)), 65535)
    if learned["held"] == 1 and learned["steps_n"]:
        return False
    follow_rewards(m, h, reward)
    if m.share == spec.SHARE_TESTING and learned["held"] != 1:
        compare_steps(m, h, state, action, reward, next_state)
    return True


def follow_rewards(m: Model, h: int, reward: int) -> None:
    """Mean and best reward of a step."""
    home, since = m.home(h), m.learned["since"]
    mean, top = home.reward_mean, home.reward_top
    slow = spec.REWARD_SHIFT_SHARED if m.shares(h) else spec.REWARD_SHIFT
    if m.is_held(h):
        slow = spec.HELD_REWARD_SHIFT
    count = since * m.horizon + 1 if m.shares(h) else since + spec.REWARD_FIRST
    rate = slow if m.paper else min(slow, count.bit_length() - 1)
    home.reward_mean = num.toward(mean, reward, abs(reward - mean) >> rate)
    home.reward_top = max(reward, top - (max(top - mean, 0) >> slow))


def compare_steps(m: Model, h: int, state: int, action: int, reward: int, next_state: Sequence[int]) -> None:
    """The sharing test: a sample beside the last one of its cell."""
    learned = m.learned
    lost = spec.SHARE_LOST_MORE if m.d_s + m.d_a > 3 else spec.SHARE_LOST_FEW
    hashed = (((state >> lost) << 8 | action >> lost) * spec.SHARE_HASH) & 0xFFFF
    at, cell = divmod(hashed, 1 << spec.SHARE_ENTRY_SHIFT)
    steps = 1 << (16 - spec.SHARE_ENTRY_SHIFT)
    outcome = reward & 0xFF00 | (sum(next_state) // m.d_s) >> 8
    pairs = m.table[at // 2].pairs
    key, old = pairs[at % 2]
    pairs[at % 2] = (cell * steps | h + 1, outcome)
    if key == 0 or key // steps != cell:
        return
    kind = "same" if key % steps == h + 1 else "other"
    names = (f"{kind}_n", f"{kind}_reward", f"{kind}_next")
    if learned[names[0]] == spec.SHARE_COUNT_MAX:
        for name in names:
            learned[name] >>= 1
    differences = (1, abs((outcome >> 8) - (old >> 8)), abs((outcome & 255) - (old & 255)))
    for name, difference in zip(names, differences, strict=True):
        learned[name] += difference
    if kind == "other":
        learned["other_total"] = (learned["other_total"] + 1) & 0xFFFF


def return_of(m: Model) -> int:
    """The return of the episode, made up for steps that were left out."""
    total, seen = m.learned["return_sum"], m.learned["seen"]
    return total if seen == m.horizon else min(total * m.horizon // seen, 65535)


def follow_return(m: Model, value: int) -> bool:
    """The mean return of the kind of the episode; whether the change detector raises an alarm."""
    learned = m.learned
    kind, other = ("held", "steps") if learned["held"] else ("steps", "held")
    if learned[f"{other}_n"] > 2 and m.random() >> 8 < learned[f"{other}_n"]:
        learned[f"{other}_n"] -= 1
    learned[f"{kind}_n"] = n = min(learned[f"{kind}_n"] + 1, spec.DETECT_WINDOW)
    mean, dev = value if n == 1 else learned[f"{kind}_mean"], learned["return_dev"]
    learned["since"] = since = min(learned["since"] + 1, 65535)
    unit = max(dev, mean >> spec.DETECT_LEAST_SHIFT)
    limit = spec.DETECT_ALARM * unit + ((1 << m.f) >> spec.DETECT_FLOOR_SHIFT)
    most = limit >> spec.DETECT_SPELL_SHIFT
    lost = min(mean - value - (unit >> spec.DETECT_SLACK_SHIFT), most)
    learned["drop"] = drop = num.clamp(learned["drop"] + lost, 0, 65535)
    window = min(since, spec.DETECT_WINDOW)
    learned["return_dev"] = num.dithered_mean(dev, abs(value - mean), window, m.episodes)
    learned[f"{kind}_mean"] = num.dithered_mean(mean, value, n, m.episodes)
    return bool(m.config.detect) and since > spec.DETECT_WARMUP and drop >= most << spec.DETECT_SPELL_SHIFT


def hold(m: Model) -> None:
    """Decide whether the next episode is held."""
    learned = m.learned
    error = num.bonus(learned["return_dev"] & spec.VALUE_MASK, 4 * learned["steps_n"] + 1, m.inverse_root)
    better = m.horizon * m.steps[m.horizon].v.value > learned["steps_mean"] + spec.HELD_ERRORS * error
    better = better and learned["since"] >= spec.HELD_UNTIL and learned["held_n"] > 0
    learned["held"] = int(m.may_hold() and (learned["since"] < spec.HELD_FIRST or better))


def judge_sharing(m: Model) -> bool:
    """End the sharing test when it has seen enough; True if steps differ."""
    seen = m.learned
    if seen["same_n"] >= spec.SHARE_SAME_MIN and seen["other_n"] >= spec.SHARE_PAIRS_MIN:
        for what, factor, margin in (
            ("reward", spec.SHARE_REWARD_FACTOR, spec.SHARE_REWARD_MARGIN),
            ("next", spec.SHARE_NEXT_FACTOR, spec.SHARE_NEXT_MARGIN),
        ):
            same, other = seen[f"same_{what}"], seen[f"other_{what}"]
            limit = factor * same + margin * seen["same_n"]
            if other * seen["same_n"] > limit * seen["other_n"]:
                m.share = spec.SHARE_OFF
                return True
    if seen["other_total"] >= spec.SHARE_PAIRS_MAX:
        m.share = spec.SHARE_ON
        for unit in m.table:
            m.pool.give_back(unit)
        m.table = []
    return False
