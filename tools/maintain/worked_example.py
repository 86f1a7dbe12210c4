"""One act and one observe call with every word they change: `python -m adamb.tools.maintain.worked_example`.

What it prints stands in firmware_model/DESIGN.md.
"""

from __future__ import annotations

from array import array

from adamb.budgets.controller import make_config, new_block
from adamb.firmware_model import _spec, core
from adamb.tools.inspect.word_names import word_name

OPTIONS = {"share": "off", "bonus": 0.25, "detect": False}
STATE, REWARD, NEXT = 0.30, 0.40, 0.60


def main() -> None:
    config = make_config(1, 1, 2, OPTIONS, seed=1)
    words = new_block(core.required_words(config))
    controller = core.init(config, words)
    before, action = list(words), [0]
    controller.act(0, [_code(STATE)], action)
    _show(f"act(h=0, state={STATE:.2f}) plays {action[0] / 65536:.4f}", before, words)
    before = list(words)
    controller.observe(0, _code(REWARD), [_code(NEXT)])
    _show(f"observe(h=0, reward={REWARD:.2f}, next={NEXT:.2f})", before, words)


def _code(value: float) -> int:
    return int(value * 65536)


def _show(title: str, before: list[int], after: array[int]) -> None:
    print(title)
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        if old != new:
            name = word_name(after, index)
            print(f"  {name:<52} {old:04x} -> {new:04x}  {_meaning(name, new)}")


def _meaning(name: str, word: int) -> str:
    """The word as a number a person would write."""
    last = name.rsplit(" ", 1)[-1]
    if last in ("reward", "reward_mean", "reward_top", "state", "action") or " aux " in name:
        return f"{word / 65536:.4f}"
    if last == "v_aux":
        return f"mean of both sides {word / 4096:.4f}"
    if last == "link" or "slot" in name or last == "root":
        if not word & _spec.TAG:
            return f"link to unit {word}"
        value = word & _spec.VALUE_MASK
        if name.startswith("V node") or last == "v_slot":
            return f"V = {value / 4096:.4f}"
        return f"surplus {(value - _spec.SURPLUS_ZERO) / 4096:+.4f}"
    if last == "n":
        return f"n = {word & _spec.N_MAX}, credit {word >> _spec.CREDIT_SHIFT}"
    return f"{word}"


if __name__ == "__main__":
    main()
