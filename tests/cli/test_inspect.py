"""`adamb inspect` opens any dump of a block: every byte has an owner, and damage never passes for health."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from array import array

import numpy as np
import pytest

from adamb.firmware_model import _spec, snapshot, store
from adamb.firmware_model.host import binding
from adamb.firmware_model.host.options import make_config, new_block
from adamb.firmware_model.host.reader import BlockView
from adamb.host_sim.recording import Recording
from adamb.tools.inspect.block_file import read_block
from adamb.tools.inspect.findings import Inspection
from support.command import adamb, refused
from support.flash import Flash


@pytest.fixture
def folder(recorded):
    return recorded


@pytest.fixture
def words(folder):
    return np.fromfile(folder / "block.bin", dtype="<u2").astype(np.uint16)


def inspected(capsys, path, *arguments):
    code, out, error = adamb(capsys, "inspect", path, "--json", "-", *arguments)
    return code, json.loads(out) if out else None, error


def test_the_ledger_sums_to_the_block_exactly_and_is_shown(capsys, folder, words):
    code, found, _ = inspected(capsys, folder / "block.bin")
    assert code == 0 and found["sound"] and found["check"] == 0
    assert found["digest"] == json.loads((folder / "run.json").read_text())["digest"]
    assert sum(found["ledger"].values()) == found["bytes"] == 1024 == 2 * len(words)
    assert found["ledger"]["unclaimed"] == 0
    out = adamb(capsys, "inspect", folder / "block.bin")[1]
    for promised in ("✓ sound", "header", "records", "values", "1,024", "balls of level", "h = 4"):
        assert promised in out, promised


def test_the_partition_and_counters_are_the_controllers(capsys, folder, words):
    _, found, _ = inspected(capsys, folder / "block.bin")
    stats = binding.read_stats(words)
    assert found["counters"]["episodes"] == stats["episodes"] == 120
    assert found["counters"]["splits"] == stats["splits"]
    assert sum(tree["balls"] for tree in found["partitions"]) == stats["trees"] + 3 * stats["splits"]
    view = BlockView(words)
    assert found["partitions"][0]["visited"] == sum(ball.visited for ball in view.balls(0))
    assert all(step["min"] <= step["mean"] <= step["max"] for step in found["values"])


def test_the_next_episode_and_the_returns_that_decide_it_are_shown(capsys, folder, words, tmp_path):
    path = tmp_path / "block.bin"
    for held, kind in ((0, "stepwise"), (1, "held")):
        words[_spec.H_HELD] = held
        path.write_bytes(words.astype("<u2").tobytes())
        code, found, _ = inspected(capsys, path)
        episodes = found["episodes"]
        assert code == 0 and episodes["next"] == kind
        assert episodes["held"]["action"] == list(BlockView(words).held_action)
        out = " ".join(adamb(capsys, "inspect", path)[1].split())
        assert f"next episode {kind}, mean return held {episodes['held']['mean_return']:.3f} (of " in out
        assert f"stepwise {episodes['stepwise']['mean_return']:.3f} (of {episodes['stepwise']['n']})" in out
    assert found["ledger"]["held partition"] > 0 and episodes["held"]["balls"] > 1


# ---- the forms in which a dump arrives -----------------------------------------------------------------


TOOLS = {
    "block.ihex": ("objcopy", "-I", "binary", "-O", "ihex", "--change-addresses=0x20000000", "IN", "OUT"),
    "block.srec": ("objcopy", "-I", "binary", "-O", "srec", "--change-addresses=0x20000000", "IN", "OUT"),
    "xxd.txt": ("xxd", "IN", "OUT"),
    "xxd-bytes.txt": ("xxd", "-g1", "-c", "32", "-u", "IN", "OUT"),
    "xxd-plain.txt": ("xxd", "-p", "IN", "OUT"),
    "xxd-pairs.txt": ("xxd", "-p", "-c", "2", "IN", "OUT"),
    "gdb.txt": ("gdb", "-batch", "-nx", "-ex", "x/512hx &block", "PROGRAM"),
    "gdb-words.txt": ("gdb", "-batch", "-nx", "-ex", "x/256wx &block", "PROGRAM"),
    "gdb.bin": ("gdb", "-batch", "-nx", "-ex", "dump binary memory OUT &block (char *)&block + 1024", "PROGRAM"),
}
"""What makes a dump in each form: real tools."""


def probed(name, little, folder):
    """The name, what the tool makes of a block, and no further arguments."""
    given, made = folder / "given.bin", folder / f"made-{name}"
    given.write_bytes(little)
    if "PROGRAM" in TOOLS[name]:
        numbers = ",".join(str(int.from_bytes(little[i : i + 2], "little")) for i in range(0, len(little), 2))
        (folder / "held.c").write_text(f"unsigned short block[] = {{{numbers}}};\nint main(void) {{ return 0; }}\n")
        subprocess.run(["cc", "-g", "-o", folder / "held", folder / "held.c"], check=True)
    places = {"IN": str(given), "OUT": str(made), "PROGRAM": str(folder / "held")}
    command = [places.get(word, word.replace("OUT", str(made))) for word in TOOLS[name]]
    done = subprocess.run(command, check=True, capture_output=True)
    return name, made.read_bytes() if made.exists() else done.stdout, []


def forms(words, folder):
    little = words.astype("<u2").tobytes()
    yield "raw.bin", little, []
    yield "printed.txt", repr(array("H", words.tolist())).encode(), []
    yield "repl.txt", b">>> print(w)\r\n" + repr(array("H", words.tolist())).encode() + b"\r\n>>> ", []
    yield "hex.txt", b"\n".join(f"{word:04x}".encode() for word in words), []
    yield from (probed(name, little, folder) for name in TOOLS if shutil.which(TOOLS[name][0]))
    yield "ram.bin", b"\0" * 512 + little + b"\xff" * 100, ["--at", "0x200"]


def test_every_form_gives_the_same_block(capsys, folder, words, tmp_path):
    _, truth, _ = inspected(capsys, folder / "block.bin")
    for name, content, arguments in forms(words, tmp_path):
        path = tmp_path / name
        path.write_bytes(content)
        code, found, error = inspected(capsys, path, *arguments)
        assert code == 0, (name, error)
        same = {key: value for key, value in found.items() if key not in ("file", "form", "offset")}
        assert same == {key: truth[key] for key in same}, name


HEX = ":10000000A1AD000102030405060708090A0B0C0D47\n:00000001FF\n"
RECORD = "S1130000A1AD000102030405060708090A0B0C0D43\nS9030000FC\n"
ROWS = "00000000: a1ad 0001 0203 0405 0607 0809 0a0b 0c0d  ................\n"
GDB = "0x20000000 <block>:\t0xada1\t0x0100\t0x0302\t0x0504\n0x20000008 <block+8>:\t0x0706\t0x0908\n"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (HEX.replace("0D47", "0E47"), 1, "checksum 47, should be 46"),
        (HEX.replace("0C0D47", "0C"), 1, "says 16 bytes of data and has 14"),
        (HEX.replace("47\n", "4\n"), 1, "has 41 digits, too few"),
        (HEX.splitlines()[0], 1, "no end record"),
        (HEX.replace(":00", "00"), 2, "is no record: '00000001FF'"),
        (HEX.replace(":00000001FF", ":020000042000DA\n:0100000000FF\n:00000001FF"), 3, "bytes behind"),
        (RECORD.replace("0D43", "0D44"), 1, "checksum 44, should be 43"),
        (RECORD.splitlines()[0], 1, "no end record"),
        (ROWS + ROWS.replace("00000000", "00000020"), 2, "is at 0x20, the line before ends at 0x10"),
        (ROWS + "0000001", 2, "is no record: '0000001'"),
        (GDB.replace("0x20000008", "0x2000000a"), 2, "is at 0x2000000a, the line before ends at 0x20000008"),
        (GDB + "Cannot access memory at address 0x2000000c\n", 3, "is no record: 'Cannot access memory'"),
        ("a1ad0001\na1a\n", 2, "is no row of bytes: 'a1a'"),
    ],
)
def test_a_torn_print_is_one_line_that_names_the_line(capsys, tmp_path, text, line, said):
    path = tmp_path / "torn.txt"
    path.write_text(text)
    error = refused(capsys, "inspect", path)
    assert f"{path}, line {line}" in error and said in error and "trace" not in error


def test_a_print_of_a_probe_may_hold_a_snapshot_or_a_block_further_on(capsys, words, tmp_path):
    path = tmp_path / "dump.txt"
    data = saved(words)
    path.write_text("\n".join(data[i : i + 30].hex() for i in range(0, len(data), 30)))
    code, found, _ = inspected(capsys, path)
    assert code == 0 and found["form"] == "a snapshot"
    path.write_text((b"\0" * 64 + words.astype("<u2").tobytes()).hex())
    assert "there is one at byte 64: add --at 64" in refused(capsys, "inspect", path)
    assert inspected(capsys, path, "--at", "64")[0] == 0


def saved(words):
    block = array("H", words.tolist())
    out = bytearray(snapshot.bytes(block))
    assert snapshot.save(block, out) == len(out)
    return bytes(out)


def learnt_of(found):
    """Facts that a snapshot keeps: all but stale words behind the used ones."""
    return {key: found[key] for key in ("sound", "counters", "ledger", "partitions", "values", "configuration")}


def test_a_snapshot_opens_as_the_block_it_was(capsys, folder, words, tmp_path):
    _, truth, _ = inspected(capsys, folder / "block.bin")
    path = tmp_path / "controller.snapshot"
    path.write_bytes(saved(words))
    code, found, _ = inspected(capsys, path)
    assert code == 0 and found["form"] == "a snapshot" and learnt_of(found) == learnt_of(truth)


def test_a_snapshot_with_a_wrong_bit_is_damaged(capsys, words, tmp_path):
    content, path = bytearray(saved(words)), tmp_path / "controller.snapshot"
    content[16 + 2 * int(_spec.H_STEPS_MEAN)] ^= 4
    path.write_bytes(content)
    code, found, _ = inspected(capsys, path)
    assert code == 1 and found["problems"] == ["the snapshot's checksum does not match its words"]
    path.write_bytes(content[:200])
    code, _, error = inspected(capsys, path)
    assert code == 2 and "of which" in error


def test_the_newest_sound_save_of_a_flash_dump_is_opened(capsys, folder, words, tmp_path):
    flash, path = Flash(256, 4096, 8), tmp_path / "flash.bin"
    kept = store.open(flash, len(words))
    older = Recording.load(folder / "recording.npz").frames[5]
    old = array("H", [*older.tolist(), *[0] * (len(words) - len(older))])
    assert kept.save(old) == 0 and kept.save(array("H", words.tolist())) == 0
    path.write_bytes(flash.data)
    code, found, _ = inspected(capsys, path)
    assert code == 0 and found["form"] == "save 2 of a store" and found["counters"]["episodes"] == 120
    newest = found["offset"]
    flash.data[newest + 40] ^= 1
    path.write_bytes(flash.data)
    code, found, _ = inspected(capsys, path)
    assert code == 0 and found["form"] == "save 1 of a store"
    assert found["counters"] == BlockView(older).counters


def test_a_frame_of_a_recording_can_be_opened(capsys, folder):
    code, found, _ = inspected(capsys, folder / "recording.npz")
    assert code == 0 and found["counters"]["episodes"] == 120
    code, found, _ = inspected(capsys, folder / "recording.npz", "--at", 0)
    assert code == 0 and found["counters"]["episodes"] == 0 and found["bytes"] == 1024
    code, _, error = inspected(capsys, folder / "recording.npz", "--at", 9999)
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
        "shifted": (b"\0" * 64 + little, "--at 64"),
        "version": (other.astype("<u2").tobytes(), "another version"),
        "numbers": (b"array('H', [1, 2, 3])", "not the words of a block"),
    }
    for name, (content, said) in cases.items():
        path = tmp_path / name
        path.write_bytes(content)
        assert said in refused(capsys, "inspect", path), name
    assert adamb(capsys, "inspect", tmp_path / "missing")[0] == 2
    assert adamb(capsys, "inspect", tmp_path / "swapped", "--at", "x")[0] == 2


# ---- damage --------------------------------------------------------------------------------------------


def test_damage_is_exit_code_1_and_named_on_a_red_page(capsys, words, tmp_path):
    path, page = tmp_path / "damaged.bin", tmp_path / "page.html"
    record = next(ball.record for ball in BlockView(words).balls(0) if ball.visited)
    words[_spec.H_FREE_N] += 1
    words[record * 4] = 0x7FFF
    path.write_bytes(words.astype("<u2").tobytes())
    code, out, _ = adamb(capsys, "inspect", path, "--out", page)
    assert code == 1 and "✕ damaged: a link of routing leads to unit 32767, outside the pool" in out
    text = page.read_text()
    assert '<header class="verdict bad">' in text and "Damaged block" in text


def test_a_wrong_mean_is_found_though_every_link_is_right(capsys, words, tmp_path):
    path = tmp_path / "damaged.bin"
    step = int(words[_spec.H_STEPS_AT])
    assert not words[step + _spec.S_V_SLOT] & _spec.TAG
    words[step + _spec.S_V_AUX] ^= 1
    path.write_bytes(words.astype("<u2").tobytes())
    code, out, _ = adamb(capsys, "inspect", path)
    assert code == 1 and "adamb_check found" in out


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


# ---- as a checked file, and back ------------------------------------------------------------------------


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


def test_a_dump_becomes_a_snapshot_and_comes_back_byte_for_byte(capsys, dump, tmp_path):
    kept, back = tmp_path / "kept.snapshot", tmp_path / "back.bin"
    code, out, error = adamb(capsys, "inspect", dump, "--out", kept)
    assert code == 0 and "for a block of" in out, error
    assert adamb(capsys, "inspect", kept, "--out", back)[0] == 0
    assert back.read_bytes() == dump.read_bytes()
    assert "exists already" in refused(capsys, "inspect", kept, "--out", back)
    back.unlink()
    code, out, _ = adamb(capsys, "inspect", kept, "--out", back, "--budget", "8KiB", "--json", "-")
    assert json.loads(out)["block_bytes"] == 8192 and back.read_bytes() == dump.read_bytes().ljust(8192, b"\0")


def test_a_damaged_snapshot_is_not_restored(capsys, dump, tmp_path):
    kept, back = tmp_path / "kept.snapshot", tmp_path / "back.bin"
    assert adamb(capsys, "inspect", dump, "--out", kept)[0] == 0
    assert "the saved block has" in refused(capsys, "inspect", kept, "--out", back, "--budget", "512B")
    assert "not a block" in refused(capsys, "inspect", kept, "--out", tmp_path / "again.snapshot")
    data = bytearray(kept.read_bytes())
    data[100] ^= 8
    for content in (bytes(data), b"short"):
        kept.write_bytes(content)
        assert "damaged" in refused(capsys, "inspect", kept, "--out", back)
    assert not back.exists()
