"""A broken trace is refused with file and line; tests/cli/test_traces.py looks at the memory that takes."""

from __future__ import annotations

import gzip

import pytest

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim.traces import TraceReader
from adamb.host_sim.traces.info import trace_info
from support.trace_files import FORMATS, oracle, refused, rows

pytestmark = pytest.mark.usefixtures("empty_cache")


def test_damaged_gzip_is_refused(tmp_path):
    path = tmp_path / "bad.gz"
    packed = bytearray(gzip.compress(b"0x40 R\n" * 1000))
    packed[30:40] = b"\xff" * 10
    path.write_bytes(packed)
    assert "gzip" in refused(path)
    path.write_bytes(b"\x1f\x8b")
    assert "gzip" in refused(path)


@pytest.mark.parametrize("name", FORMATS)
def test_a_bad_line_in_every_format_names_file_and_line(tmp_path, name):
    path = tmp_path / "trace"
    good = FORMATS[name][0]
    path.write_text(good + "?? nonsense ??\n")
    line = good.count("\n") + 1
    message = refused(path)
    assert f"{path}:{line} = " in message
    assert f"{line - 1} lines were read" in message if line != 2 else "; 1 line was read" in message


def test_the_largest_address_is_accepted(tmp_path):
    path = tmp_path / "trace"
    path.write_text("0xffffffffffffffff R\n0x40 W\n" * 200)
    assert rows(path)[0][1] == 2**64 - 1
    info = trace_info(path)
    assert info.requests == 400 and round(info.objects) == 2


def test_empty_files_and_files_of_comments_are_refused(tmp_path):
    path = tmp_path / "trace"
    path.write_text("")
    assert "0 lines were read" in refused(path)
    path.write_bytes(gzip.compress(b""))
    assert "empty" in refused(path)
    path.write_text("# only\n\n# comments\n")
    assert "no request" in refused(path)
    with pytest.raises(InputError, match="no such file"):
        TraceReader(tmp_path / "missing")


def test_oracle_general_that_ends_in_the_middle_or_points_back_is_refused(tmp_path):
    path = tmp_path / "trace"
    data = oracle(range(1000), [1] * 1000, [-1] * 1000)
    path.write_bytes(data[:-5])
    assert "record 1000" in refused(path) and "999 records were read" in refused(path)
    back = oracle(range(2000), [1] * 2000, [-1] * 1500 + [3] + [-1] * 499)
    path.write_bytes(back)
    assert "record 1501" in refused(path)
