"""What the ablation (tools/measure) takes out of the core is there, once, under its present value."""

from __future__ import annotations

import shutil

import pytest

from adamb.firmware_model.host import _binding_build as build
from adamb.tools.measure import ablation


@pytest.mark.parametrize("part", ablation.PARTS, ids=lambda part: part.name)
def test_every_part_can_be_taken_out(part, tmp_path):
    shutil.copy(build.FIRMWARE / "c" / part.file, tmp_path)
    before = (tmp_path / part.file).read_text()
    part.remove(tmp_path)
    assert (tmp_path / part.file).read_text() != before


def test_a_part_that_is_not_there_is_named(tmp_path):
    (tmp_path / "adamb_core.c").write_text("int x;\n")
    gone = ablation.AblatedLine("gone", "adamb_core.c", "int y;", "int z;")
    with pytest.raises(SystemExit, match="no single line 'int y;'"):
        gone.remove(tmp_path)


def test_a_part_that_nobody_knows_is_refused_with_those_there_are(capsys):
    with pytest.raises(SystemExit):
        ablation.main(["--only", "splits early,magic"])
    assert "--only magic: must be among follows finer actions, keeps" in capsys.readouterr().err
