"""Write firmware_model/_spec.py and firmware_model/c/adamb_spec.h from firmware_model/spec.toml.

Numbers are typed once: both twins take every limit, code and word index from these generated files, and both
carry hashes of the source so that a binding can refuse a mismatched pair. What C users name (error codes,
versions, ways of sharing) stands in the public headers instead; tests/unit/test_spec.py compares it.
"""

from __future__ import annotations

import hashlib
import math
import sys
import tomllib
from pathlib import Path

FIRMWARE = Path(__file__).resolve().parents[2] / "firmware_model"
NOTICE = "Generated from spec.toml by `make spec`; do not edit."


def names(spec: dict) -> dict[str, int]:
    """Every constant of the specification with its value, in a stable order."""
    values = {name.upper(): value for name, value in spec["constants"].items()}
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
    return {name.upper(): value for name, value in spec["learner"].items()}


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


def c_text(values: dict[str, int]) -> str:
    lines = [f"/* {NOTICE} */", "#ifndef ADAMB_SPEC_H", "#define ADAMB_SPEC_H", ""]
    lines += [f"#define ADAMB_{name} ({value})" for name, value in values.items() if not public(name)]
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
    return {FIRMWARE / "_spec.py": python_text(values), FIRMWARE / "c" / "adamb_spec.h": c_text(values)}


def main() -> None:
    stale = [path for path, text in generate().items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv:
        if stale:
            sys.exit("stale, run `make spec`: " + ", ".join(path.name for path in stale))
        return
    for path, text in generate().items():
        path.write_text(text)
        print(f"wrote {path.relative_to(FIRMWARE.parent)}")


if __name__ == "__main__":
    main()
