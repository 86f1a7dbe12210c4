"""Traces are recognised by content and read to the last request."""

from __future__ import annotations

import gc
import gzip
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import adamb.host_sim.traces as store
from adamb.host_sim.traces import TraceReader, open_store
from adamb.host_sim.traces.formats import recognise
from adamb.host_sim.traces.info import trace_info
from support.trace_files import FORMATS, oracle, refused, rows

SEED = 5
pytestmark = pytest.mark.usefixtures("empty_cache")


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("packed", [False, True])
def test_every_text_format_is_recognised_by_content_and_windows_does_not_matter(tmp_path, name, packed):
    text, expected = FORMATS[name]
    path = tmp_path / "some.file"
    for mark, written in ((b"", text), (b"\xef\xbb\xbf", text), (b"", text.replace("\n", "\r\n").rstrip("\r\n"))):
        content = mark + written.encode()
        path.write_bytes(gzip.compress(content) if packed else content)
        assert TraceReader(path).format == name
        assert rows(path) == expected


PLAIN = ["0x40 R", "LD 0x40", "ST 64", "3 640", "3 640 1280", "0x40 READ 3", "7: read 0x40", "64", "0x40"]
ODD = [
    "", " ", "# note", "0x40  R ", "\t0X4f\tW\r", "st 64", "4 0x40", "4 640 7 7", "0x40 read 9", "12 ",
    "7:(8)write 0x40 0xab ", "7: read 0x40 0x", "7 : read 0x40", "0" * 19, "0xfffffffffffffffff R",
]  # fmt: skip


def by_line(path):
    """The same file through the readers that know one line only."""
    out, text = [], None
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if not line.strip() or line.strip().startswith(b"#"):
            continue
        text = text or recognise(line)
        if text is None or not text.read(line, out):
            return number
    return out or None


@given(lines=st.lists(st.sampled_from(PLAIN + ODD), min_size=1, max_size=12), first=st.sampled_from(PLAIN))
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_plain_lines_read_in_c_are_those_read_by_line(tmp_path, lines, first):
    path = tmp_path / "trace"
    path.write_text("\n".join([first, *[first] * 3, *lines]))
    expected = by_line(path)
    if isinstance(expected, int):
        assert f"{path}:{expected} = " in refused(path)
    else:
        assert rows(path) == expected


def test_lines_that_cross_blocks_are_read_once(tmp_path, monkeypatch):
    numbers = np.random.default_rng(SEED).integers(0, 10**9, 3000).tolist()
    path = tmp_path / "ids"
    path.write_text("\n".join(f"{n}\n# {n}" if n % 7 == 0 else str(n) for n in numbers))
    for size in (1, 7, 64, 1000):
        monkeypatch.setattr("adamb.host_sim.traces.BLOCK_BYTES", size)
        assert [row[1] for row in rows(path)] == numbers


def test_scsi_codes_of_a_block_trace_are_reads_and_writes(tmp_path):
    path = tmp_path / "trace.csv"
    codes = ["2a", "28", "0x2A", "0a", "88", "aa", "08", "8a", "a8"]
    text = "version,time,op,size,lbn\n" + "".join(f"1,33898,{code},512,{i}\n" for i, code in enumerate(codes))
    path.write_text(text)
    assert [row[3] for row in rows(path)] == [1, 0, 1, 1, 0, 1, 0, 1, 0]
    path.write_text(text + "1,33899,42,512,7\n")
    message = refused(path)
    assert f"{path}:11" in message and "a SCSI code such as 28 or 2a in column 3" in message


@pytest.mark.parametrize(
    "header, cell, unit, expected",
    [
        ("id", "7", "objects", (0, 7, 1, 0)),
        ("key", "0x40", "objects", (0, 64, 1, 0)),
        ("address", "0x1000", "bytes", (0, 4096, 64, 0)),
        ("Addr", "4160", "bytes", (0, 4160, 64, 0)),
        ("offset", "1024", "extents", (0, 1024, 512, 0)),
        ("lbn", "3", "extents", (0, 1536, 512, 0)),
    ],
)
def test_the_name_of_a_csv_column_says_whether_it_holds_ids_bytes_or_blocks(tmp_path, header, cell, unit, expected):
    path = tmp_path / "trace.csv"
    path.write_text(f"{header}\n{cell}\n")
    assert TraceReader(path).unit == unit and rows(path) == [expected]


@pytest.mark.parametrize("header", ["address", "lba"])
def test_an_address_that_is_no_number_is_refused_with_its_line(tmp_path, header):
    path = tmp_path / "trace.csv"
    path.write_text(f"{header}\n64\nabc\n")
    assert f"{path}:3 = 'abc'" in refused(path) and "in column 1" in refused(path)


@pytest.mark.parametrize(
    "lines", [["0x40 READ 30", "0x80 READ 12"], ["31: read 0x40", "30: read 0x80"], ["0x40 READ 30", "0x4 read 9"]]
)
@pytest.mark.parametrize("before", [0, 70_000])
def test_times_of_the_memory_that_go_back_are_refused_with_their_line(tmp_path, lines, before):
    path = tmp_path / "trace"
    path.write_text("\n".join([lines[0]] * (before + 1) + [lines[1]]))
    message = refused(path)
    assert f"{path}:{before + 2} = " in message and "must not go back" in message


def test_times_of_disks_may_go_back_a_little_as_they_do_in_published_traces(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("9,hm,1,Read,0,512,1\n7,hm,1,Write,512,512,1\n12,hm,1,Read,0,512,1\n8,hm,1,Read,0,512,1\n")
    assert [row[0] for row in rows(path)] == [9, 7, 12, 8]
    assert trace_info(path).duration == 5


def test_the_words_of_dramsim2_are_read(tmp_path):
    path = tmp_path / "k6.trc"
    path.write_text("0x3F8FD00 P_MEM_RD 12\n0x3F8FD40 P_MEM_WR 15\n0x3F8FD40 P_FETCH 15\n")
    assert [(row[0], row[3]) for row in rows(path)] == [(12, 0), (15, 1), (15, 0)]
    path.write_text("0x3F8FD00 P_MEM_RD 12\n0x3F8FD40 BOFF 15\n")
    assert f"{path}:2" in refused(path)


def test_msr_with_its_header_and_named_columns_in_any_order(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n" + FORMATS["msr"][0])
    assert TraceReader(path).format == "msr" and rows(path) == FORMATS["msr"][1]
    path.write_text('"size","Object_ID"\n5,abc\n6,abd\n5,abc\n')
    first, second, third = rows(path)
    assert first == third != second and first[2] == 5


@pytest.mark.parametrize("packed", [False, True])
def test_oracle_general_is_read(tmp_path, packed):
    path = tmp_path / "trace.oracleGeneral"
    data = oracle([7, 2**63 + 1, 7], [10, 20, 10], [3, -1, -1])
    path.write_bytes(gzip.compress(data) if packed else data)
    reader = TraceReader(path)
    records = np.concatenate(list(reader))
    assert reader.format == "oracleGeneral" and reader.unit == "objects"
    assert records["address"].tolist() == [7, 2**63 + 1, 7]


def test_a_store_reads_any_slice_and_notices_a_changed_file(tmp_path):
    path = tmp_path / "ids"
    numbers = np.random.default_rng(SEED).integers(0, 10**9, 70_000)
    path.write_text("\n".join(map(str, numbers)))
    store = open_store(path)
    assert len(store) == 70_000 and store[69_990:]["address"].tolist() == numbers[69_990:].tolist()
    assert open_store(path)[5:9]["address"].tolist() == numbers[5:9].tolist()
    path.write_text("1\n2\n3\n")
    assert len(open_store(path)) == 3


def test_a_store_that_is_forgotten_in_a_circle_closes_its_file_in_silence(tmp_path, monkeypatch):
    """The collector may finalize the file before the store, where the file is the younger one."""
    path, honest, said = tmp_path / "ids", store._decoded, []

    def decoded(*arguments):
        gc.collect(0)
        return honest(*arguments)

    path.write_text("1\n2\n3\n")
    monkeypatch.setattr(store, "_decoded", decoded)
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    gc.collect()
    gc.disable()
    try:
        forgotten = open_store(path)
        forgotten.circle = forgotten
        del forgotten
        gc.collect()
    finally:
        gc.enable()
    assert said == []


def test_a_store_works_where_nothing_can_be_kept(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("ADAMB_CACHE", str(blocked / "below"))
    path = tmp_path / "ids"
    path.write_text("1\n2\n3\n")
    assert open_store(path)[1:]["address"].tolist() == [2, 3]
