"""Stack need and recursion of an ARM image, read from its machine code.

Reading the linked code instead of a compiler's side file covers the compiler's own helpers too (division),
and sees what was inlined. A call through a register cannot be followed: it is reported, never assumed away.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from adamb.tools.device.emulator.compile import Image, Symbol
from adamb.tools.device.extras import need

_CONDITIONS = ["eq", "ne", "hs", "lo", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le"]
_BRANCHES = {"b", "bl", "blx", "cbz", "cbnz"} | {"b" + condition for condition in _CONDITIONS}


@dataclass
class Function:
    """The use of the stack by one function, and its calls."""

    name: str
    address: int
    frame_bytes: int = 0
    # callee address -> bytes of this function's frame in use at the call (the frame is gone at a tail call)
    calls: dict[int, int] = field(default_factory=dict)
    indirect: list[int] = field(default_factory=list)
    dynamic: list[int] = field(default_factory=list)
    table_depth: int | None = None


@dataclass(frozen=True)
class StackReport:
    """Worst case over every path from the roots."""

    bytes: int
    path: tuple[str, ...]
    recursion: tuple[tuple[str, ...], ...]
    indirect: tuple[str, ...]
    dynamic: tuple[str, ...]
    frames: dict[str, int]


@cache
def disassembler() -> Any:
    capstone = need("capstone", "the disassembler")
    return capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)


def register_count(operands: str) -> int:
    """The number of registers in a list like `{r4, r5, lr}`; the disassembler prints no ranges."""
    return operands[operands.index("{") + 1 : operands.index("}")].count(",") + 1


def stack_change(name: str, operands: str) -> int | None:
    """Bytes by which an instruction moves the stack pointer; None when it cannot be known."""
    if name == "push":
        return -4 * register_count(operands)
    if name == "pop":
        return 4 * register_count(operands)
    parts = [part.strip() for part in operands.split(",")]
    if name in ("vpush", "vpop") or (parts[0] == "sp!" and name.startswith(("stm", "ldm"))):
        wide = 8 if "d" in operands[operands.index("{") :] else 4
        return (-1 if name in ("vpush", "stmdb") else 1) * wide * register_count(operands)
    if parts[-1].startswith("#") and parts[0] == "sp" and name in ("add", "sub", "addw", "subw"):
        amount = int(parts[-1][1:], 0)
        return amount if name.startswith("add") else -amount
    if operands.endswith("!") and "[sp, #" in operands:
        return int(operands[operands.index("#") + 1 : operands.index("]")], 0)
    if "[sp], #" in operands:
        return int(operands[operands.index("#") + 1 :], 0)
    return None if parts[0] == "sp" and name in ("mov", "add", "sub", "ldr") else 0


def code_ranges(image: Image, symbol: Symbol) -> list[tuple[int, int]]:
    """The parts of a function that are instructions, without its literal pools and jump tables."""
    ranges, start, end = [], symbol.address, symbol.address + symbol.size_bytes
    for low, high in image.data_ranges:
        if high <= start or low >= end:
            continue
        if low > start:
            ranges.append((start, low))
        start = min(high, end)
    if start < end:
        ranges.append((start, end))
    return ranges


def instructions(image: Image, symbol: Symbol) -> dict[int, tuple[int, str, str]]:
    """Address -> (bytes, mnemonic without width suffix, operands) of every instruction of a function."""
    return {
        address: (size, mnemonic.removesuffix(".w"), operands)
        for start, end in code_ranges(image, symbol)
        for address, size, mnemonic, operands in disassembler().disasm_lite(image.read(start, end - start), start)
    }


def _is_return(name: str, operands: str) -> bool:
    return (name == "bx" and operands == "lr") or (name == "pop" and "pc" in operands)


def _is_table_jump(name: str, operands: str) -> bool:
    return name in ("tbb", "tbh") or (name in ("mov", "add", "ldr") and operands.startswith("pc,"))


def analyse(image: Image, symbol: Symbol) -> Function:
    """Frame size and calls of one function, by following every way through it.

    A jump table hides its targets, so whatever no branch reaches is taken as its target.
    """
    result = Function(symbol.name, symbol.address)
    code = instructions(image, symbol)
    seen: set[int] = set()
    waiting = [(symbol.address, 0)]
    while waiting:
        address, depth = waiting.pop()
        while address in code and address not in seen:
            seen.add(address)
            size, name, operands = code[address]
            change = stack_change(name, operands)
            if change is None:
                result.dynamic.append(address)
            if _is_return(name, operands):
                break
            depth -= change or 0
            result.frame_bytes = max(result.frame_bytes, depth)
            goes_on = _follow(result, symbol, address, name, operands, depth, waiting)
            if not goes_on:
                break
            address += size
        if not waiting and result.table_depth is not None:
            waiting = [(target, result.table_depth) for target in sorted(code) if target not in seen][:1]
    return result


def _follow(
    result: Function, symbol: Symbol, address: int, name: str, operands: str, depth: int, waiting: list[tuple[int, int]]
) -> bool:
    """Note where an instruction can go; false when it never falls through."""
    if _is_table_jump(name, operands):
        result.table_depth = depth
        return False
    if name in _BRANCHES and "#" in operands:
        target = int(operands[operands.index("#") + 1 :], 0)
        inside = symbol.address < target < symbol.address + symbol.size_bytes
        if inside:
            # A `bl` into its own body is how the compiler spells a jump that is too far for `b`.
            waiting.append((target, depth))
        elif name in ("bl", "blx") or target != symbol.address:
            result.calls[target] = max(result.calls.get(target, 0), depth)
        else:
            waiting.append((target, depth))
        return name not in ("b", "bl") or (name == "bl" and not inside)
    if name in ("blx", "bx"):
        result.indirect.append(address)
        return name == "blx"
    return True


def _name_by_address(image: Image) -> dict[int, Symbol]:
    chosen: dict[int, Symbol] = {}
    for symbol in image.functions.values():
        known = chosen.get(symbol.address)
        # Helpers carry a long internal name and a short public one at the same address.
        if known is None or ("." in known.name and "." not in symbol.name):
            chosen[symbol.address] = symbol
    return chosen


def stack_report(image: Image, roots: Iterable[str]) -> StackReport:
    """Worst stack over all calls from `roots`, every cycle of calls, and what could not be followed."""
    symbols = _name_by_address(image)
    functions: dict[int, Function] = {}
    cycles: set[tuple[str, ...]] = set()
    worst: dict[int, tuple[int, tuple[str, ...]]] = {}

    def function_at(address: int) -> Function:
        if address not in functions:
            symbol = symbols.get(address)
            functions[address] = analyse(image, symbol) if symbol else Function(f"{address:#x}", address)
        return functions[address]

    def depth_of(address: int, trail: tuple[int, ...]) -> tuple[int, tuple[str, ...]]:
        if address in trail:
            cycles.add(tuple(function_at(step).name for step in trail[trail.index(address) :]))
            return 0, ()
        if address not in worst:
            function = function_at(address)
            best: tuple[int, tuple[str, ...]] = (function.frame_bytes, (function.name,))
            for callee, used in function.calls.items():
                below, path = depth_of(callee, (*trail, address))
                best = max(best, (used + below, (function.name, *path)))
            worst[address] = best
        return worst[address]

    found = [depth_of(image.functions[root].address, ()) for root in roots]
    deepest, path = max(found)
    return StackReport(
        bytes=deepest,
        path=path,
        recursion=tuple(sorted(cycles)),
        indirect=tuple(sorted(f.name for f in functions.values() if f.indirect)),
        dynamic=tuple(sorted(f.name for f in functions.values() if f.dynamic)),
        frames={f.name: f.frame_bytes for f in functions.values()},
    )
