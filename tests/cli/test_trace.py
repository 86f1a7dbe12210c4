"""`adamb trace info` tells what a trace holds and answers every broken file with one line."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from support.command import adamb, refused


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "requests.gz"
    lines = np.random.default_rng(3).zipf(1.3, 4000) % 500
    path.write_bytes(gzip.compress("".join(f"0x{n * 64:x} {'RW'[n % 2]}\n" for n in lines).encode()))
    return path


def test_the_summary_names_format_requests_writes_footprint_rows_and_misses(capsys, trace):
    code, out, error = adamb(capsys, "trace", "info", trace)
    assert code == 0 and error == ""
    for promised in ("ramulator", "4,000", "writes", "footprint", "row hits", "LRU miss ratio", "#"):
        assert promised in out


def test_json_goes_to_stdout_or_to_a_file(capsys, trace, tmp_path):
    code, out, _ = adamb(capsys, "trace", "info", trace, "--json", "-")
    found = json.loads(out)
    assert code == 0 and found["requests"] == 4000 and found["format"] == "ramulator"
    assert found["miss_ratio"][0][0] == 1 and 0 <= found["row_hit_rate"] <= 1
    target = tmp_path / "info.json"
    assert adamb(capsys, "trace", "info", trace, "--json", target)[0] == 0
    assert json.loads(target.read_text()) == found
    code, _, error = adamb(capsys, "trace", "info", trace, "--json", target)
    assert code == 2 and "--force" in error


@pytest.mark.parametrize("kind, magic", [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_the_picture_is_written(capsys, trace, tmp_path, kind, magic):
    target = tmp_path / f"picture.{kind}"
    assert adamb(capsys, "trace", "info", trace, "--plot", target)[0] == 0
    assert target.read_bytes().startswith(magic)


def test_a_picture_of_an_unknown_kind_is_refused_before_reading(capsys, trace, tmp_path):
    code, _, error = adamb(capsys, "trace", "info", trace, "--plot", tmp_path / "picture.doc")
    assert code == 2 and ".png" in error


@pytest.mark.parametrize(
    "content, named",
    [
        (b"", "0 lines were read"),
        (b"0x40 R\nhello\n", "trace:2"),
        (b"0x40 R\n0x40 READ 3\n", "trace:2"),
        (gzip.compress(b"0x40 R\n" * 9000)[:-30], "gzip"),
        (bytes(range(256)) * 40, "binary data"),
        (b"9" * 200_000, "65536"),
    ],
)
def test_broken_traces_give_one_line_and_exit_code_2(capsys, tmp_path, content, named):
    path = tmp_path / "trace"
    path.write_bytes(content)
    assert named in refused(capsys, "trace", "info", path)


def test_a_missing_file_is_named(capsys, tmp_path):
    assert "nowhere" in refused(capsys, "trace", "info", tmp_path / "nowhere")
