"""Bonus, return, change detector and sharing test (SPEC 8)."""

from __future__ import annotations

from collections.abc import Sequence

from adamb.firmware_model import _spec as spec
from support.exact import numbers as num
from support.exact.model import Model


def adapt(m: Model, h: int, state: int, action: int, reward: int, next_state: Sequence[int]) -> None:
    """Rewards, return and sharing test: SPEC 8.1 to 8.10."""
    learned = m.learned
    home = m.home(h)
    mean, top = home.reward_mean, home.reward_top
    slow = spec.REWARD_SHIFT_SHARED if m.shares() else spec.REWARD_SHIFT
    since = learned["since"]
    count = since * m.horizon + 1 if m.shares() else since + spec.REWARD_FIRST
    rate = slow if m.paper else min(slow, count.bit_length() - 1)
    home.reward_mean = num.toward(mean, reward, abs(reward - mean) >> rate)
    home.reward_top = max(reward, top - (max(top - mean, 0) >> slow))
    learned["seen"] = min(learned["seen"] + 1, 65535)
    learned["return_sum"] = min(learned["return_sum"] + (reward >> (16 - m.f)), 65535)
    if m.share != spec.SHARE_TESTING:
        return
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


def close_return(m: Model) -> bool:
    """The change detector's step at the end of an episode; whether it raises an alarm."""
    learned = m.learned
    total, mean, dev, seen = (learned[name] for name in ("return_sum", "return_mean", "return_dev", "seen"))
    learned["return_sum"] = learned["seen"] = m.number(0)
    if seen == 0:
        return False
    if seen != m.horizon:
        total = min(total * m.horizon // seen, 65535)
    learned["since"] = since = min(learned["since"] + 1, 65535)
    window = min(since, spec.DETECT_WINDOW)
    unit = max(dev, mean >> spec.DETECT_LEAST_SHIFT)
    limit = spec.DETECT_ALARM * unit + ((1 << m.f) >> spec.DETECT_FLOOR_SHIFT)
    most = limit >> spec.DETECT_SPELL_SHIFT
    lost = min(mean - total - (unit >> spec.DETECT_SLACK_SHIFT), most)
    learned["drop"] = drop = num.clamp(learned["drop"] + lost, 0, 65535)
    learned["return_dev"] = num.follow(dev, abs(total - mean), window, m.episodes)
    learned["return_mean"] = num.follow(mean, total, window, m.episodes)
    return since > spec.DETECT_WARMUP and drop >= most << spec.DETECT_SPELL_SHIFT


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
