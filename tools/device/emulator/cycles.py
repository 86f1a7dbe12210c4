"""A Cortex-M0+ cycle estimate from executed instructions, by instruction class.

An emulator counts instructions; a core needs more than one cycle for some. The classes and their cycles are
those of the Cortex-M0+ technical reference manual (two-stage pipeline, single-cycle multiplier). The lower
figure assumes flash without wait states. The upper one adds one wait state to every 32-bit fetch from flash:
each word of code entered, the word fetched in vain behind a taken branch, and each constant loaded from a
literal pool. Caches and prefetch buffers, which hide part of that, are not credited.
"""

from __future__ import annotations

from dataclasses import dataclass

from adamb.tools.device.emulator.callgraph import register_count, stack_change

_TAKEN = 2
_MULTI = ("ldm", "stm", "ldmia", "stmia", "push", "pop")
_SYSTEM = ("mrs", "msr", "dsb", "dmb", "isb")


def instruction_cycles(name: str, operands: str) -> int:
    """Cycles without wait states; a conditional branch is counted as not taken."""
    if name in _MULTI:
        base = 3 if name == "pop" and "pc" in operands else 1
        return base + register_count(operands)
    if name.startswith(("ldr", "str")):
        return 2
    if name == "bl" or name in _SYSTEM:
        return 3
    if name in ("b", "bx", "blx") or operands.startswith("pc,"):
        return _TAKEN
    return 1


@dataclass(frozen=True)
class BlockCost:
    """Everything known beforehand about one straight run of instructions."""

    instructions: int
    cycles: int
    fetches: int
    stack_bytes: int
    next_address: int
    conditional: bool


def block_cost(start: int, code: list[tuple[int, int, str, str]]) -> BlockCost:
    """Cost of a straight run given as (address, bytes, mnemonic, operands)."""
    cycles = literals = 0
    depth = deepest = 0
    for _, _, mnemonic, operands in code:
        name = mnemonic.removesuffix(".w")
        cycles += instruction_cycles(name, operands)
        literals += name.startswith("ldr") and "[pc" in operands
        depth -= stack_change(name, operands) or 0
        deepest = max(deepest, depth)
    address, size, name, operands = code[-1]
    end = address + size
    words = ((end + 3) // 4) - start // 4
    conditional = name.startswith("b") and name not in ("b", "b.w", "bl", "blx", "bx", "bkpt", "bics", "bic")
    leaves = name in ("b", "bl", "bx", "blx") or "pc}" in operands or operands.startswith("pc,")
    return BlockCost(len(code), cycles, words + literals + int(leaves), deepest, end, conditional)
