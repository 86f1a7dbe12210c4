"""Run compiled code on an emulated Cortex-M that has exactly the board's memory.

Only the flash and RAM of the memory map exist; touching anything else is a fault, which turns "fits in
16 KiB" from a sum into a fact. Instructions are counted by straight runs of code instead of one by one: the
count is the same (a test compares both ways), and it is several times faster. Instructions that a Cortex-M3
skips inside an IT block count, since the processor spends a cycle on them too.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from adamb.budgets.errors import AdambError, InputError
from adamb.tools.device.emulator.compile import MICROBIT, MemoryMap
from adamb.tools.device.emulator.cycles import BlockCost, block_cost
from adamb.tools.device.emulator.elf import Image
from adamb.tools.device.extras import need

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


@cache
def _unicorn() -> tuple[ModuleType, ModuleType]:
    return need("unicorn", "the processor emulator"), need("unicorn.arm_const", "the processor emulator")


@cache
def _disassembler() -> Any:
    capstone = need("capstone", "the disassembler")
    return capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)


class Machine:
    """A processor with an image in flash, ready for function calls.

    RAM is handed out from its top by `reserve`, so a write one byte past the first reservation leaves RAM and
    faults. The stack starts below what is reserved and grows down towards the bottom of RAM. Without
    `counting` calls are several times faster, cost nothing by their figures, and have no limit.
    """

    def __init__(
        self,
        image: Image,
        *,
        cpu: str = "cortex-m0",
        memory: MemoryMap = MICROBIT,
        instruction_limit: int = 50_000_000,
        counting: bool = True,
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
        if counting:
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
                raise DeviceFault(
                    f"{self.image.path.name}: {end} bytes do not fit {memory.flash_bytes} of flash"
                )
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
        self._instructions = self._cycles = self._fetches = 0
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
        code = list(_disassembler().disasm_lite(bytes(self._uc.mem_read(address, size)), address))
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

    def watch_stores(self, address: int, count: int, watch: Callable[[], None]) -> None:
        """Call `watch` before every store to these bytes; the memory is then as all stores before left it."""

        def on_store(uc: Any, access: int, at: int, size: int, value: int, data: object) -> None:
            watch()

        unicorn, _ = _unicorn()
        self._uc.hook_add(unicorn.UC_HOOK_MEM_WRITE, on_store, begin=address, end=address + count - 1)

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
        return EmulatedCall(signed, self._instructions, low, high, self._top - self._lowest)

    def _push_arguments(self, extra: Sequence[int]) -> int:
        sp = (self._top & ~7) - (4 * len(extra) + 7 & ~7)
        if extra:
            self._uc.mem_write(sp, struct.pack(f"<{len(extra)}I", *extra))
        return sp


def _pages(count_bytes: int) -> int:
    return -(-count_bytes // PAGE) * PAGE
