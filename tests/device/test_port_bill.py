"""Every export carries its licence and a bill of materials that names each of its files with its hash."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from adamb.tools.cli import main
from adamb.tools.device.port import sbom
from support.tree import ROOT

KINDS = {
    "c": ["--c", "--budget", "2KiB"],
    "c package": ["--c", "--package", "--budget", "2KiB"],
    "micropython": ["--board", "pico"],
    "micropython with usermod": ["--board", "pico", "--usermod"],
}


@pytest.fixture(scope="module", params=KINDS)
def export(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of its own: other tests build in the one that they share."""
    folder = tmp_path_factory.mktemp("port") / "export"
    assert main(["port", *KINDS[request.param], "--out", str(folder)]) == 0
    return folder


def test_the_bill_lists_every_file_of_the_folder_with_its_hash(export: Path) -> None:
    content = json.loads((export / sbom.NAME).read_text(encoding="utf-8"))
    listed = {part["name"]: part["hashes"][0]["content"] for part in content["components"]}
    there = [path for path in export.rglob("*") if path.is_file() and path.name != sbom.NAME]
    made = {path.relative_to(export).as_posix(): path.read_bytes() for path in there}
    assert listed == {name: hashlib.sha256(data).hexdigest() for name, data in made.items()}
    assert all(part["licenses"] == [{"license": {"id": "MIT"}}] for part in content["components"])
    tools = {tool["name"] for tool in content["metadata"]["tools"]["components"]}
    assert tools == ({"adamb", "mpy-cross"} if "main.py" in made else {"adamb"})


def test_the_licence_is_in_the_folder(export: Path) -> None:
    assert (export / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_same_files_give_the_same_bill_and_others_another() -> None:
    files = {"b.c": b"int b;\n", "a.c": b"int a;\n"}
    bill = sbom.bill(files, "export", "1")
    assert bill == sbom.bill(dict(reversed(files.items())), "export", "1")
    other = sbom.bill(files | {"a.c": b"int c;\n"}, "export", "1")
    assert json.loads(bill)["serialNumber"] != json.loads(other)["serialNumber"]
