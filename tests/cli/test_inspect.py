"""`adamb inspect` opens any dump of a block: every byte has an owner, and damage never passes for health."""

from __future__ import annotations

import json
import random
from array import array

import numpy as np
import pytest

from adamb.firmware_model import _spec, snapshot, store
from adamb.firmware_model.host import binding
from adamb.host_sim.blocks.recording import Recording
from adamb.host_sim.blocks.view import BlockView
from adamb.tools.cli import main
from adamb.tools.inspect.block_file import read_block
from adamb.tools.inspect.findings import Inspection
from support.command import adamb, refused

RUN = ["run", "oil-laplace", "--budget", "1KiB", "--episodes", "150", "--seeds", "1", "--quiet", "--record"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("run")
    assert main([*RUN, "--out", str(found), "--force"]) == 0
    return found


@pytest.fixture
def words(folder):
    return np.fromfile(folder / "block.bin", dtype="<u2").astype(np.uint16)


def inspected(capsys, path, *arguments):
    code, out, error = adamb(capsys, "inspect", path, "--json", "-", *arguments)
    return code, json.loads(out) if out else None, error


def test_a_sound_block_shows_health_ledger_and_partition(capsys, folder, words):
    code, out, _ = adamb(capsys, "inspect", folder / "block.bin")
    assert code == 0 and "✓ sound" in out
    for promised in ("header", "records", "values", "block", "1,024", "balls of level", "h = 4"):
        assert promised in out, promised


def test_the_ledger_sums_to_the_block_exactly(capsys, folder, words):
    code, found, _ = inspected(capsys, folder / "block.bin")
    assert code == 0 and found["sound"] and found["check"] == 0
    assert sum(found["ledger"].values()) == found["bytes"] == 1024 == 2 * len(words)
    assert found["ledger"]["unclaimed"] == 0


def test_the_digest_is_that_of_the_run(capsys, folder):
    _, found, _ = inspected(capsys, folder / "block.bin")
    assert found["digest"] == json.loads((folder / "run.json").read_text())["digest"]


def test_the_partition_and_counters_are_the_controllers(capsys, folder, words):
    _, found, _ = inspected(capsys, folder / "block.bin")
    stats = binding.read_stats(words)
    assert found["counters"]["episodes"] == stats["episodes"] == 150
    assert found["counters"]["splits"] == stats["splits"]
    assert sum(tree["balls"] for tree in found["partitions"]) == stats["trees"] + 3 * stats["splits"]
    view = BlockView(words)
    assert found["partitions"][0]["visited"] == sum(ball.visited for ball in view.balls(0))
    assert all(step["min"] <= step["mean"] <= step["max"] for step in found["values"])


# ---- the forms in which a dump arrives -----------------------------------------------------------------


def forms(words, folder):
    little = words.astype("<u2").tobytes()
    yield "raw.bin", little, []
    yield "printed.txt", repr(array("H", words.tolist())).encode(), []
    yield "repl.txt", b">>> print(w)\r\n" + repr(array("H", words.tolist())).encode() + b"\r\n>>> ", []
    yield "hex.txt", b"\n".join(f"{word:04x}".encode() for word in words), []
    yield "ram.bin", b"\0" * 512 + little + b"\xff" * 100, ["--offset", "0x200"]


def test_every_form_gives_the_same_block(capsys, folder, words, tmp_path):
    _, truth, _ = inspected(capsys, folder / "block.bin")
    for name, content, arguments in forms(words, folder):
        path = tmp_path / name
        path.write_bytes(content)
        code, found, error = inspected(capsys, path, *arguments)
        assert code == 0, (name, error)
        same = {key: value for key, value in found.items() if key not in ("file", "form", "offset")}
        assert same == {key: truth[key] for key in same}, name


class Flash:
    """Storage in memory as the store wants it."""

    page_bytes, sector_bytes, sectors = 256, 4096, 8

    def __init__(self):
        self.content = bytearray(b"\xff" * self.sector_bytes * self.sectors)

    def read(self, address, buffer):
        buffer[:] = self.content[address : address + len(buffer)]
        return 0

    def prog(self, address, buffer):
        self.content[address : address + len(buffer)] = buffer
        return 0

    def erase(self, address):
        self.content[address : address + self.sector_bytes] = b"\xff" * self.sector_bytes
        return 0


def saved(words):
    block = array("H", words.tolist())
    out = bytearray(snapshot.bytes(block))
    assert snapshot.save(block, out) == len(out)
    return bytes(out)


def learnt_of(found):
    """What a snapshot keeps: all but stale words behind the used ones."""
    return {
        key: found[key] for key in ("sound", "counters", "ledger", "partitions", "values", "configuration")
    }


def test_a_snapshot_opens_as_the_block_it_was(capsys, folder, words, tmp_path):
    _, truth, _ = inspected(capsys, folder / "block.bin")
    path = tmp_path / "controller.snapshot"
    path.write_bytes(saved(words))
    code, found, _ = inspected(capsys, path)
    assert code == 0 and found["form"] == "a snapshot" and learnt_of(found) == learnt_of(truth)


def test_a_snapshot_with_a_wrong_bit_is_damaged(capsys, words, tmp_path):
    content, path = bytearray(saved(words)), tmp_path / "controller.snapshot"
    content[16 + 2 * int(_spec.H_RETURN_MEAN)] ^= 4
    path.write_bytes(content)
    code, found, _ = inspected(capsys, path)
    assert code == 1 and found["problems"] == ["the snapshot's checksum does not match its words"]
    path.write_bytes(content[:200])
    code, _, error = inspected(capsys, path)
    assert code == 2 and "of which" in error


def test_the_newest_sound_save_of_a_flash_dump_is_opened(capsys, folder, words, tmp_path):
    flash, path = Flash(), tmp_path / "flash.bin"
    kept = store.open(flash, len(words))
    older = Recording.load(folder / "recording.npz").frames[5]
    old = array("H", [*older.tolist(), *[0] * (len(words) - len(older))])
    assert kept.save(old) == 0 and kept.save(array("H", words.tolist())) == 0
    path.write_bytes(flash.content)
    code, found, _ = inspected(capsys, path)
    assert code == 0 and found["form"] == "save 2 of a store" and found["counters"]["episodes"] == 150
    newest = found["offset"]
    flash.content[newest + 40] ^= 1
    path.write_bytes(flash.content)
    code, found, _ = inspected(capsys, path)
    assert code == 0 and found["form"] == "save 1 of a store"
    assert found["counters"] == BlockView(older).counters


def test_a_frame_of_a_recording_can_be_opened(capsys, folder):
    code, found, _ = inspected(capsys, folder / "recording.npz")
    assert code == 0 and found["counters"]["episodes"] == 150
    code, found, _ = inspected(capsys, folder / "recording.npz", "--frame", 0)
    assert code == 0 and found["counters"]["episodes"] == 0 and found["bytes"] == 1024
    code, _, error = inspected(capsys, folder / "recording.npz", "--frame", 9999)
    assert code == 2 and "frames 0 to" in error


def test_what_is_no_block_is_said_in_one_line(capsys, words, tmp_path):
    little = words.astype("<u2").tobytes()
    other = words.copy()
    other[_spec.H_HASH] ^= 1
    cases = {
        "empty": (b"", "at least"),
        "short": (little[:40], "at least"),
        "text": ("grüße".encode() * 40, "is not a block"),
        "swapped": (words.astype(">u2").tobytes(), "big-endian"),
        "shifted": (b"\0" * 64 + little, "--offset 64"),
        "version": (other.astype("<u2").tobytes(), "another version"),
        "numbers": (b"array('H', [1, 2, 3])", "not the words of a block"),
    }
    for name, (content, said) in cases.items():
        path = tmp_path / name
        path.write_bytes(content)
        assert said in refused(capsys, "inspect", path), name
    assert adamb(capsys, "inspect", tmp_path / "missing")[0] == 2
    assert adamb(capsys, "inspect", tmp_path / "swapped", "--offset", "x")[0] == 2


# ---- damage --------------------------------------------------------------------------------------------


def test_damage_is_exit_code_1_and_named(capsys, words, tmp_path):
    path = tmp_path / "damaged.bin"
    view = BlockView(words)
    record = next(ball.record for ball in view.balls(0) if ball.visited)
    words[_spec.H_FREE_N] += 1
    words[record * 4] = 0x7FFF
    path.write_bytes(words.astype("<u2").tobytes())
    code, out, _ = adamb(capsys, "inspect", path)
    assert code == 1 and "✕ damaged: a link leads to unit 32767, outside the pool" in out


def test_a_wrong_mean_is_found_though_every_link_is_right(capsys, words, tmp_path):
    path = tmp_path / "damaged.bin"
    step = int(words[_spec.H_STEPS_AT])
    assert not words[step + _spec.S_V_SLOT] & _spec.TAG
    words[step + _spec.S_V_AUX] ^= 1
    path.write_bytes(words.astype("<u2").tobytes())
    code, out, _ = adamb(capsys, "inspect", path)
    assert code == 1 and "adamb_check found" in out


def test_a_damaged_block_has_a_red_page(capsys, words, tmp_path):
    path, page = tmp_path / "damaged.bin", tmp_path / "page.html"
    words[_spec.H_FREE_N] += 1
    path.write_bytes(words.astype("<u2").tobytes())
    assert adamb(capsys, "inspect", path, "--html", page)[0] == 1
    text = page.read_text()
    assert '<header class="verdict bad">' in text and "Damaged block" in text


def test_no_damage_is_called_sound_and_none_crashes(words, tmp_path, capsys):
    """Sound means that adamb_check, the ledger and the walk all agree; anything else names a problem."""
    rng, path = random.Random(5), tmp_path / "block.bin"
    for _ in range(300):
        changed = words.copy()
        for _ in range(rng.choice((1, 1, 2, 5))):
            changed[rng.randrange(2, len(words))] = rng.choice((0, 0xFFFF, rng.randrange(0x10000)))
        path.write_bytes(changed.astype("<u2").tobytes())
        found = Inspection(read_block(path))
        assert found.sound == (found.check_code == 0 and not found.problems)
        if found.sound:
            assert found.ledger.total == 2 * len(words) and found.view is not None
        json.dumps(found.to_json())


def test_the_page_may_not_replace_a_strangers_file(capsys, folder, tmp_path):
    target = tmp_path / "mine.html"
    target.write_text("mine")
    code, _, error = adamb(capsys, "inspect", folder / "block.bin", "--html", target)
    assert code == 2 and "is not a report" in error and target.read_text() == "mine"
