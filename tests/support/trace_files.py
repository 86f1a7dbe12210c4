"""Traces in every format that is read, what is in a file, and what is said about one that is broken."""

from __future__ import annotations

import struct

import pytest

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim.traces import TraceReader

FORMATS = {
    "ramulator": ("0x12345680 R\n0x4cbd56c0 W\n", [(0, 0x12345680, 64, 0), (0, 0x4CBD56C0, 64, 1)]),
    "load-store": ("LD 0x40\nST 128\n", [(0, 0x40, 64, 0), (0, 128, 64, 1)]),
    "cpu": ("3 20734016\n8 20841280 20841344\n", [(4, 20734016, 64, 0), (13, 20841280, 64, 0), (13, 20841344, 64, 1)]),
    "dramsim3": ("0x2000D5C0 READ  30\n0x1FF96FC0 WRITE   160\n", [(30, 0x2000D5C0, 64, 0), (160, 0x1FF96FC0, 64, 1)]),
    "dramsys": (
        "# made by hand\n31:\tread\t0x400140\n33:\t(16) write\t0x200\t0xffff\n",
        [(31, 0x400140, 64, 0), (33, 0x200, 16, 1)],
    ),
    "lackey": (
        "==7== Lackey, an example Valgrind tool\nI  04016b80,3\n S 1ffeffe7e0,8\n M 0421c7f0,4\n"
        "I  04016b83,5\n L 04f6b868,8\n==7== \n",
        [(1, 0x1FFEFFE7E0, 8, 1), (1, 0x421C7F0, 4, 0), (1, 0x421C7F0, 4, 1), (2, 0x4F6B868, 8, 0)],
    ),
    "spc": (
        "0,20941264,8192,W,0.551706\n1,3, 512,r,0.554041,more\n",
        [(551706, 20941264 * 512, 8192, 1), (554041, (1 << 56) | 3 * 512, 512, 0)],
    ),
    "ids": ("17\n0x12\n\n17\n", [(0, 17, 1, 0), (0, 18, 1, 0), (0, 17, 1, 0)]),
    "msr": (
        "128166372003061629,hm,1,Read,383496192,32768,58000\n128166372016382155,hm,0,Write,4096,512,1\n",
        [(128166372003061629, (1 << 56) | 383496192, 32768, 0), (128166372016382155, 4096, 512, 1)],
    ),
    "csv": ("time,key,size,op\n1,7,100,get\n2.5,9,50,set\n", [(1, 7, 100, 0), (2, 9, 50, 1)]),
}


def oracle(ids, sizes, following):
    return b"".join(
        struct.pack("<IQIq", i, name, size, later)
        for i, (name, size, later) in enumerate(zip(ids, sizes, following, strict=True))
    )


def rows(path):
    return [tuple(int(v) for v in row)[:4] for batch in TraceReader(path) for row in batch.tolist()]


def refused(path):
    with pytest.raises(InputError) as caught:
        for _ in TraceReader(path):
            pass
    message = str(caught.value)
    assert str(path) in message and "\n" not in message and len(message) < 1500
    return message
