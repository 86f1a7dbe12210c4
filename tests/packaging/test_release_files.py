"""What a release consists of, made twice."""

import io
import zipfile

from adamb.tools.maintain import release_files


def test_archives_hold_what_their_readers_install_and_no_trace_of_when():
    made = release_files.exports()
    assert made == release_files.exports()
    names = {}
    for name, content in made.items():
        archive = zipfile.ZipFile(io.BytesIO(content))
        names[name.split("-")[2].removesuffix(".zip")] = set(archive.namelist())
        assert {entry.date_time[3:] for entry in archive.infolist()} == {(0, 0, 0)}
    assert {"adamb/package.json", "adamb/mpy/adamb/core.mpy"} <= names["mip"]
    assert {"adamb/library.properties", "adamb/src/adamb_core.c"} <= names["arduino"]
    assert {"adamb/adamb.c", "adamb/adamb.h"} <= names["c"]
    assert {"adamb/adamb_timeout.cpp", "adamb/adamb_core.c"} <= names["ramulator2"]
