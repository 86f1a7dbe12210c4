"""Every line and every branch of the C core is run by the drivers of this folder.

The drivers judge what they run; the test counts. `python tests coverage FOLDER` leaves the pages of the
report in a folder.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from support.coverage import gcovr, measure, missing
from support.paths import CORE


@pytest.mark.skipif(not shutil.which("gcc") or not shutil.which("gcov"), reason="needs gcc and gcov")
def test_every_line_and_branch_of_the_core_is_run(tmp_path):
    measure(tmp_path)
    report = json.loads(gcovr(tmp_path, "--json"))
    names = {Path(str(file["file"])).name for file in report["files"]}
    assert names == {path.name for path in CORE.glob("*.c")} | {"adamb_internal.h"}
    assert sum(len(file["lines"]) for file in report["files"]) > 1000
    assert missing(report) == []
