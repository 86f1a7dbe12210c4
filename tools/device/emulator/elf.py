"""What a linked image contains, and the gates it must pass before it may go on a board."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from adamb.tools.device.extras import need

# Heap calls need memory that was not planned; software floating point costs kilobytes of flash and hundreds
# of instructions an operation on these processors.
FORBIDDEN = (
    "malloc", "calloc", "realloc", "free", "sbrk", "_sbrk", "alloca",
    "__aeabi_f*", "__aeabi_d*", "__aeabi_i2f", "__aeabi_i2d", "__aeabi_ui2f", "__aeabi_ui2d",
    "__aeabi_l2f", "__aeabi_l2d", "__aeabi_ul2f", "__aeabi_ul2d",
    "__*sf2", "__*df2", "__*sf3", "__*df3", "__float*", "__fix*", "__extendsf*", "__truncdf*",
)  # fmt: skip

# Integer helpers whose names fall under a pattern above.
ALLOWED = ("__aeabi_idiv*", "__aeabi_uidiv*", "__aeabi_ldivmod", "__aeabi_uldivmod")


@dataclass(frozen=True)
class Segment:
    """Bytes to load at an address before the first instruction."""

    address: int
    data: bytes
    memory_bytes: int


@dataclass(frozen=True)
class Symbol:
    """A named function or object; the address of a Thumb function is given without its mode bit."""

    name: str
    address: int
    size_bytes: int
    kind: str
    section: str


@dataclass(frozen=True)
class Sizes:
    """Bytes by where they are paid: flash for code and constants, RAM for variables."""

    text_bytes: int
    rodata_bytes: int
    data_bytes: int
    bss_bytes: int

    @property
    def flash_bytes(self) -> int:
        return self.text_bytes + self.rodata_bytes + self.data_bytes

    @property
    def ram_bytes(self) -> int:
        return self.data_bytes + self.bss_bytes


class Image:
    """A linked ELF, read once."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        elffile = need("elftools.elf.elffile", "the ELF reader")
        with self.path.open("rb") as stream:
            elf = elffile.ELFFile(stream)
            self.machine: str = elf["e_machine"]
            self.entry: int = elf["e_entry"]
            self.segments = [
                Segment(part["p_paddr"], part.data(), part["p_memsz"])
                for part in elf.iter_segments()
                if part["p_type"] == "PT_LOAD" and part["p_memsz"]
            ]
            # Bit 1 of the flags: the section occupies memory at run time; debug information does not.
            self.sections: dict[str, int] = {
                part.name: part["sh_size"] for part in elf.iter_sections() if part["sh_flags"] & 2
            }
            names = [part.name for part in elf.iter_sections()]
            table = elf.get_section_by_name(".symtab")
            self.symbols = [self._symbol(raw, names) for raw in table.iter_symbols()] if table else []

    def _symbol(self, raw: object, names: list[str]) -> Symbol:
        kind = raw["st_info"]["type"]  # type: ignore[index]
        index = raw["st_shndx"]  # type: ignore[index]
        value = raw["st_value"]  # type: ignore[index]
        address = value & ~1 if kind == "STT_FUNC" and self.machine == "EM_ARM" else value
        section = names[index] if isinstance(index, int) else str(index)
        return Symbol(raw.name, address, raw["st_size"], kind, section)  # type: ignore[attr-defined, index]

    @cached_property
    def functions(self) -> dict[str, Symbol]:
        """Functions by name; aliases of one address are all there."""
        return {symbol.name: symbol for symbol in self.symbols if symbol.kind == "STT_FUNC"}

    @cached_property
    def data_ranges(self) -> list[tuple[int, int]]:
        """Address ranges inside code sections that hold constants, from the `$d` and `$t` marks."""
        marks = sorted(
            (symbol.address, symbol.name[:2])
            for symbol in self.symbols
            if symbol.name[:2] in ("$d", "$t") and symbol.section != "SHN_ABS"
        )
        ranges = []
        for (start, mark), (end, _) in zip(marks, marks[1:] + [(1 << 32, "")], strict=True):
            if mark == "$d":
                ranges.append((start, end))
        return ranges

    @cached_property
    def sizes(self) -> Sizes:
        """Flash and RAM of the image by section."""

        def total(*prefixes: str) -> int:
            return sum(size for name, size in self.sections.items() if name.startswith(prefixes))

        known = (".text", ".vectors", ".rodata", ".srodata", ".data", ".sdata", ".bss", ".sbss")
        other = sum(size for name, size in self.sections.items() if not name.startswith(known))
        return Sizes(
            text_bytes=total(".text", ".vectors"),
            rodata_bytes=total(".rodata", ".srodata") + other,
            data_bytes=total(".data", ".sdata"),
            bss_bytes=total(".bss", ".sbss"),
        )

    def read(self, address: int, count: int) -> bytes:
        """Initial memory content, from the segment that holds it."""
        for segment in self.segments:
            offset = address - segment.address
            if offset >= 0 and offset + count <= len(segment.data):
                return segment.data[offset : offset + count]
        raise ValueError(f"{self.path.name}: no segment holds {count} bytes at {address:#x}")


def forbidden_symbols(image: Image, patterns: Sequence[str] = FORBIDDEN) -> list[str]:
    """Names in the image that must not be there."""
    return sorted(
        {
            symbol.name
            for symbol in image.symbols
            if symbol.name
            and any(fnmatch.fnmatchcase(symbol.name, pattern) for pattern in patterns)
            and not any(fnmatch.fnmatchcase(symbol.name, pattern) for pattern in ALLOWED)
        }
    )


def violations(image: Image) -> list[str]:
    """Every broken promise of a core image, one line each; empty when it may go on a board."""
    found = []
    if image.sizes.ram_bytes:
        variables = [
            symbol.name for symbol in image.symbols if symbol.section.startswith((".data", ".bss", ".s"))
        ]
        named = ", ".join(name for name in variables if name and not name.startswith("$"))
        found.append(f"static variables: {image.sizes.ram_bytes} bytes ({named})")
    names = forbidden_symbols(image)
    if names:
        found.append("forbidden symbols: " + ", ".join(names))
    return found
