"""Write firmware_model/_spec.py and firmware_model/c/adamb_spec.h from firmware_model/spec.toml.

Numbers are typed once: both twins take every limit, code and word index from these generated files, and both
carry hashes of the source so that a binding can refuse a mismatched pair. What C users name (error codes,
versions, ways of sharing) stands in the public headers instead; tests/unit/test_spec.py compares it.
"""

from __future__ import annotations

import hashlib
import math
import tomllib
from dataclasses import dataclass
from pathlib import Path

FIRMWARE = Path(__file__).resolve().parents[2] / "firmware_model"
NOTICE = "Generated from spec.toml by `make core`; do not edit."


#: What a part says of itself; the rest of its table are numbers.
ABOUT = ("title", "rules", "without")


@dataclass(frozen=True, eq=False)
class Part:
    """A part of the learner: its tuned numbers, the rules that use them, and those of the core without it."""

    name: str
    title: str  # empty: nothing can be left out
    rules: tuple[str, ...]
    numbers: dict[str, int]
    without: dict[str, int]

    @property
    def switch(self) -> str:
        """The macro with which a build of the C core leaves the part out."""
        return f"ADAMB_WITHOUT_{self.name.upper()}"


def parts(spec: dict | None = None) -> list[Part]:
    """The parts of the learner, in the order of spec.toml."""
    found = []
    for name, table in (spec or tomllib.loads((FIRMWARE / "spec.toml").read_text()))["parts"].items():
        numbers = {key.upper(): value for key, value in table.items() if key not in ABOUT}
        without = {key.upper(): value for key, value in table.get("without", {}).items()}
        found.append(Part(name, table.get("title", ""), tuple(table["rules"]), numbers, without))
    return found


def _tuned(spec: dict, *, hashed: bool) -> dict[str, int]:
    """Numbers of the parts: those that the hash of the block covers, or those that it leaves out."""
    covered = {name.upper() for name in spec["hashed"]}
    return {name: value for part in parts(spec) for name, value in part.numbers.items() if (name in covered) == hashed}


def names(spec: dict) -> dict[str, int]:
    """Every constant that the hash covers with its value, in a stable order."""
    values = {name.upper(): value for name, value in spec["constants"].items()} | _tuned(spec, hashed=True)
    values |= {f"FLAG_{name.upper()}": 1 << bit for name, bit in spec["flags"].items()}
    values |= {f"SHARE_{name.upper()}": value for name, value in spec["share"].items()}
    for section, prefix in (("header", "H"), ("step", "S"), ("record", "R")):
        words = spec[section]["words"]
        values |= {f"{prefix}_{name.upper()}": index for index, name in enumerate(words)}
        values[f"{prefix}_WORDS"] = len(words)
    values |= {f"ERR_{name.upper()}": code for name, code in spec["errors"].items()}
    values["FORMAT_VERSION"] = spec["format_version"]
    return values


def storage_names(spec: dict) -> dict[str, int]:
    """Constants of snapshots and stores; outside the hash, because a block stays valid when they change."""
    values = {f"SNAPSHOT_{name.upper()}": value for name, value in spec["snapshot"].items()}
    values |= {f"STORE_{name.upper()}": value for name, value in spec["store"].items()}
    return values | {f"ERR_{name.upper()}": code for name, code in spec["store_errors"].items()}


def learner_names(spec: dict) -> dict[str, int]:
    """Tuned constants outside the hash of the block: one learnt with other values is still a block."""
    return _tuned(spec, hashed=False)


def tables() -> dict[str, list[int]]:
    """Tables that replace divisions and square roots on cores without either (SPEC 4.6 and SPEC 4.7)."""
    return {
        "RECIPROCAL": [round(2**22 / total) for total in range(124, 256)],
        "INVERSE_ROOT": [math.isqrt(2**32 // mantissa) for mantissa in range(16, 64)],
    }


def _hash(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest()[:4], 16)


def _listed(values: dict[str, int]) -> str:
    return ",".join(f"{name}={value}" for name, value in sorted(values.items()))


def spec_hash(values: dict[str, int]) -> int:
    """16 bits over names and values: comments and layout of the file do not count."""
    return _hash(_listed(values) + repr(tables()))


def learner_hash(values: dict[str, int]) -> int:
    """16 bits over the tuned constants: tells twins of different tuning apart, not blocks."""
    return _hash(_listed(values))


def public(name: str) -> bool:
    """Whether a C user needs the number, so that adamb.h or adamb_store.h states it."""
    states = ("SHARE_OFF", "SHARE_ON", "SHARE_TESTING", "FORMAT_VERSION", "SNAPSHOT_VERSION")
    return name in states or name.startswith("ERR_")


def python_text(values: dict[str, int]) -> str:
    lines = [f'"""{NOTICE}"""', "", "try:", "    from micropython import const", "except ImportError:", ""]
    lines += ["    def const(value):", "        return value", "", ""]
    lines += [f"{name} = const({value})" for name, value in values.items()]
    for name, entries in tables().items():  # two bytes an entry, low byte first: no objects on the heap
        text = "".join(f"\\x{entry & 255:02x}\\x{entry >> 8:02x}" for entry in entries)
        lines += [f"{name} = (", *(f'    b"{text[i : i + 96]}"' for i in range(0, len(text), 96)), ")"]
    return "\n".join(lines) + "\n"


def _defined(name: str, value: int, without: dict[str, tuple[str, int]]) -> list[str]:
    """A number of the C core; one that has another value without its part has both."""
    line = f"#define ADAMB_{name} ({value})"
    if name not in without:
        return [line]
    switch, other = without[name]
    return [f"#ifdef {switch}", f"#define ADAMB_{name} ({other})", "#else", line, "#endif"]


def c_text(values: dict[str, int], without: dict[str, tuple[str, int]]) -> str:
    lines = [f"/* {NOTICE} */", "#ifndef ADAMB_SPEC_H", "#define ADAMB_SPEC_H", ""]
    lines += [line for name, value in values.items() if not public(name) for line in _defined(name, value, without)]
    for name, entries in tables().items():
        rows = [", ".join(map(str, entries[i : i + 12])) for i in range(0, len(entries), 12)]
        lines += [f"#define ADAMB_{name} {{ \\", *(f"    {row}, \\" for row in rows), "}"]
    return "\n".join([*lines, "", "#endif", ""])


def generate() -> dict[Path, str]:
    """The generated files and their text."""
    spec = tomllib.loads((FIRMWARE / "spec.toml").read_text())
    values = names(spec)
    values["SPEC_HASH"] = spec_hash(values)
    learner = learner_names(spec)
    values |= learner | {"LEARNER_HASH": learner_hash(learner)} | storage_names(spec)
    without = {name: (part.switch, value) for part in parts(spec) for name, value in part.without.items()}
    return {FIRMWARE / "_spec.py": python_text(values), FIRMWARE / "c" / "adamb_spec.h": c_text(values, without)}


def main() -> None:
    for path, text in generate().items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            print(f"wrote {path.relative_to(FIRMWARE.parent)}")


if __name__ == "__main__":
    main()
