"""Compiled code on an emulated Cortex-M that has exactly the board's memory, with every call counted.

Only the flash and RAM of the memory map exist; touching anything else is a fault, which turns "fits in
16 KiB" from a sum into a fact. Instructions are counted by straight runs of code instead of one by one: the
count is the same (a test compares both ways), and it is several times faster. Instructions that a Cortex-M3
skips inside an IT block count, since the processor spends a cycle on them too.

Cycles are an estimate by instruction class, as in the Cortex-M0+ technical reference manual (two-stage
pipeline, single-cycle multiplier). The lower figure assumes flash without wait states. The upper one adds one
wait state to every 32-bit fetch from flash: each word of code entered, the word fetched in vain after a taken
branch, and each constant loaded from a literal pool. Caches and prefetch buffers are left out.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from adamb.firmware_model.host.errors import AdambError, InputError
from adamb.tools.device.emulator.callgraph import disassembler, register_count, stack_change
from adamb.tools.device.emulator.compile import MICROBIT, Image, MemoryMap
from adamb.tools.device.extras import need

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


PAGE = 4096
CPUS = {
    "cortex-m0": "UC_CPU_ARM_CORTEX_M0",
    "cortex-m0plus": "UC_CPU_ARM_CORTEX_M0",
    "cortex-m3": "UC_CPU_ARM_CORTEX_M3",
    "cortex-m4": "UC_CPU_ARM_CORTEX_M4",
}
# Calls return to the last halfword of flash, which holds a breakpoint in case anything runs on.
BREAKPOINT_BYTES = b"\x00\xbe"


class DeviceFault(AdambError):
    """The program did what the processor or the memory map does not allow."""


@dataclass(frozen=True)
class EmulatedCall:
    """One finished call: what it returned and what it cost.

    The cycle estimate is for ARMv6-M; on other processors it is None.
    """

    result: int
    instructions: int
    cycles_low: int | None
    cycles_high: int | None
    stack_bytes: int
    apart: int = 0
    """Instructions of the function set apart, and of all that it called."""


@cache
def _unicorn() -> tuple[ModuleType, ModuleType]:
    return need("unicorn", "the processor emulator"), need("unicorn.arm_const", "the processor emulator")


class Machine:
    """A processor with an image in flash, ready for function calls.

    RAM is handed out from its top by `reserve`, so a write one byte past the first reservation leaves RAM and
    faults. The stack starts below what is reserved and grows down towards the bottom of RAM.
    """

    def __init__(
        self, image: Image, *, cpu: str = "cortex-m0", memory: MemoryMap = MICROBIT, instruction_limit: int = 50_000_000
    ) -> None:
        if cpu not in CPUS:
            raise InputError("cpu", cpu, "one of " + ", ".join(CPUS))
        unicorn, arm = _unicorn()
        self._uc_error = unicorn.UcError
        self._arm = arm
        self._has_cycles = cpu.startswith("cortex-m0")
        self.image, self.memory, self.instruction_limit = image, memory, instruction_limit
        self._uc = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
        self._uc.ctl_set_cpu_model(getattr(arm, CPUS[cpu]))
        self._return_address = memory.flash_origin + memory.flash_bytes - 2
        self._load()
        self._ram_end = memory.ram_origin + memory.ram_bytes
        self._top = self._ram_end
        self._blocks: dict[tuple[int, int], BlockCost] = {}
        self._fault: str | None = None
        self._apart_until: int | None = None
        self._apart = self._apart_from = 0
        self._uc.hook_add(unicorn.UC_HOOK_BLOCK, self._on_block)
        self._uc.hook_add(unicorn.UC_HOOK_MEM_INVALID, self._on_invalid)
        self._guard_partial_page(unicorn)
        self._reset_counters()

    def _load(self) -> None:
        memory, uc = self.memory, self._uc
        uc.mem_map(memory.flash_origin, _pages(memory.flash_bytes), 5)
        uc.mem_map(memory.ram_origin, _pages(memory.ram_bytes), 3)
        for segment in self.image.segments:
            if not segment.data:
                continue  # variables that start as 0, as all of the RAM does
            end = segment.address + len(segment.data)
            if end > memory.flash_origin + memory.flash_bytes - 2:
                raise DeviceFault(f"{self.image.path.name}: {end} bytes do not fit {memory.flash_bytes} of flash")
            uc.mem_write(segment.address, segment.data)
        uc.mem_write(self._return_address, BREAKPOINT_BYTES)

    def _guard_partial_page(self, unicorn: ModuleType) -> None:
        """Pages are 4 KiB: where RAM ends inside one, watch the rest of it."""
        end = self.memory.ram_origin + self.memory.ram_bytes
        last = self.memory.ram_origin + _pages(self.memory.ram_bytes)
        if end < last:
            kinds = unicorn.UC_HOOK_MEM_READ | unicorn.UC_HOOK_MEM_WRITE
            self._uc.hook_add(kinds, self._on_beyond, begin=end - 3, end=last - 1)

    def _on_beyond(self, uc: Any, access: int, address: int, size: int, value: int, data: object) -> None:
        if address + size > self._ram_end and self._fault is None:
            self._fault = self._describe(address, size)
            uc.emu_stop()

    def _on_invalid(self, uc: Any, access: int, address: int, size: int, value: int, data: object) -> bool:
        self._fault = self._describe(address, size)
        return False

    def _describe(self, address: int, size: int) -> str:
        pc = self._uc.reg_read(self._arm.UC_ARM_REG_PC)
        ram = f"{self.memory.ram_origin:#x}..{self._ram_end:#x}"
        return f"access to {size} bytes at {address:#010x} from {self._place(pc)}; RAM is {ram}"

    def _place(self, pc: int) -> str:
        for symbol in self.image.functions.values():
            if symbol.address <= pc < symbol.address + symbol.size_bytes:
                return f"{symbol.name}+{pc - symbol.address:#x}"
        return f"{pc:#x}"

    def _reset_counters(self) -> None:
        self._instructions = self._cycles = self._fetches = self._apart = 0
        self._lowest = self._top
        self._previous: BlockCost | None = None

    def _on_block(self, uc: Any, address: int, size: int, data: object) -> None:
        cost = self._blocks.get((address, size)) or self._learn(address, size)
        previous = self._previous
        if previous is not None and previous.conditional and previous.next_address != address:
            self._cycles += 1
            self._fetches += 1
        self._previous = cost
        self._instructions += cost.instructions
        self._cycles += cost.cycles
        self._fetches += cost.fetches
        if cost.stack_bytes:
            self._lowest = min(self._lowest, uc.reg_read(self._arm.UC_ARM_REG_SP) - cost.stack_bytes)
        if self._instructions > self.instruction_limit:
            self._fault = f"more than {self.instruction_limit} instructions in one call"
            uc.emu_stop()

    def _learn(self, address: int, size: int) -> BlockCost:
        code = list(disassembler().disasm_lite(bytes(self._uc.mem_read(address, size)), address))
        cost = block_cost(address, code) if code else BlockCost(0, 0, 0, 0, address + size, False)
        self._blocks[address, size] = cost
        return cost

    def reserve(self, count_bytes: int) -> int:
        """Take bytes from the top of RAM, 8-byte aligned at their start; returns the address."""
        address = (self._top - count_bytes) & ~7
        if count_bytes < 0 or address < self.memory.ram_origin:
            raise InputError(
                "reserve", count_bytes, f"{self.free_bytes} of {self.memory.ram_bytes} bytes of RAM are left"
            )
        self._top = address
        return address

    @property
    def free_bytes(self) -> int:
        """RAM left for the stack."""
        return self._top - self.memory.ram_origin

    def write(self, address: int, data: bytes) -> None:
        self._uc.mem_write(address, data)

    def read(self, address: int, count: int) -> bytes:
        return bytes(self._uc.mem_read(address, count))

    def set_apart(self, function: str) -> None:
        """Let all calls say what this function took of their instructions, up to a few too little."""
        entry = self.image.functions[function].address & ~1

        def on_block(uc: Any, address: int, size: int, data: object) -> None:
            if address == entry:
                self._apart_until, self._apart_from = uc.reg_read(self._arm.UC_ARM_REG_LR) & ~1, self._instructions
            elif address == self._apart_until:
                assert self._previous is not None
                self._apart += self._instructions - self._previous.instructions - self._apart_from
                self._apart_until = None

        unicorn, _ = _unicorn()
        self._uc.hook_add(unicorn.UC_HOOK_BLOCK, on_block)

    def call(self, function: str, *arguments: int) -> EmulatedCall:
        """Call a function as C would; more than four arguments go on the stack."""
        if function not in self.image.functions:
            raise InputError("function", function, f"not in {self.image.path.name}")
        arm, uc = self._arm, self._uc
        self._reset_counters()
        self._fault = None
        registers = (arm.UC_ARM_REG_R0, arm.UC_ARM_REG_R1, arm.UC_ARM_REG_R2, arm.UC_ARM_REG_R3)
        for register, value in zip(registers, arguments, strict=False):
            uc.reg_write(register, value & 0xFFFF_FFFF)
        sp = self._push_arguments([value & 0xFFFF_FFFF for value in arguments[4:]])
        self._lowest = sp
        uc.reg_write(arm.UC_ARM_REG_SP, sp)
        uc.reg_write(arm.UC_ARM_REG_LR, self._return_address | 1)
        try:
            uc.emu_start(self.image.functions[function].address | 1, self._return_address)
        except self._uc_error as error:
            self._fault = self._fault or f"{error} at {self._place(uc.reg_read(arm.UC_ARM_REG_PC))}"
        if self._fault is not None:
            raise DeviceFault(f"{function}: {self._fault}")
        result = uc.reg_read(arm.UC_ARM_REG_R0)
        signed = result - (1 << 32) if result & 0x8000_0000 else result
        low, high = (self._cycles, self._cycles + self._fetches) if self._has_cycles else (None, None)
        return EmulatedCall(signed, self._instructions, low, high, self._top - self._lowest, self._apart)

    def _push_arguments(self, extra: Sequence[int]) -> int:
        sp = (self._top & ~7) - (4 * len(extra) + 7 & ~7)
        if extra:
            self._uc.mem_write(sp, struct.pack(f"<{len(extra)}I", *extra))
        return sp


def _pages(count_bytes: int) -> int:
    return -(-count_bytes // PAGE) * PAGE
