"""A dump of a block becomes a file that notices damage, and comes back whole."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from adamb.budgets.controller import make_config, new_block
from adamb.budgets.errors import InputError
from adamb.firmware_model.host import binding
from adamb.tools.commands import snapshot as snapshot_command

app = typer.Typer()
snapshot_command.register(app)


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["snapshot", *map(str, arguments)])
    if result.exception is not None:
        raise result.exception
    return result.output


@pytest.fixture
def dump(tmp_path):
    block = new_block(1024)
    controller = binding.init(make_config(1, 1, 5), block)
    action = [0]
    for step in range(500):
        controller.act(step % 5, [step * 331 & 0xFFFF], action)
        controller.observe(step % 5, step * 977 & 0xFFFF, action)
    path = tmp_path / "block.bin"
    path.write_bytes(block.tobytes())
    return path


def test_a_dump_comes_back_byte_for_byte(dump, tmp_path):
    kept, back = tmp_path / "kept", tmp_path / "back"
    run("save", dump, kept)
    run("restore", kept, back)
    assert back.read_bytes() == dump.read_bytes()
    shown = json.loads(run("info", kept, "--json"))
    assert (shown["horizon"], shown["block_bytes"]) == (5, len(dump.read_bytes()))
    assert "horizon       5" in run("info", kept)
    run("restore", kept, back, "--budget", "8KiB", "--force")
    assert back.read_bytes() == dump.read_bytes().ljust(8192, b"\0")


def test_damage_is_told_and_nothing_is_written(dump, tmp_path):
    kept, back = tmp_path / "kept", tmp_path / "back"
    run("save", dump, kept)
    with pytest.raises(InputError, match="the saved block has"):
        run("restore", kept, back, "--budget", "512B")
    data = bytearray(kept.read_bytes())
    data[100] ^= 8
    kept.write_bytes(data)
    for arguments in (("info", kept), ("restore", kept, back)):
        with pytest.raises(InputError, match="damaged"):
            run(*arguments)
    with pytest.raises(InputError, match="not a block"):
        run("save", kept, back)
    kept.write_bytes(b"short")
    with pytest.raises(InputError, match="damaged"):
        run("info", kept)
    assert not back.exists()
