"""The analysers of `make analyse` see every C file, and each finds what is planted for it."""

from __future__ import annotations

import shutil

import pytest

from adamb.tools.maintain import analyse
from support.tree import ROOT

PLANTED = {
    "=conversion": ("gcc", "unsigned char low(int wide);\nunsigned char low(int wide) { return wide; }\n"),
    "analyzer-double-free": (
        "gcc",
        "#include <stdlib.h>\nvoid twice(char *p);\nvoid twice(char *p) { free(p); free(p); }\n",
    ),
    "bugprone-sizeof-expression": (
        "clang-tidy",
        "#include <string.h>\nvoid f(char *p);\nvoid f(char *p) { memset(p, 0, sizeof(sizeof(*p))); }\n",
    ),
    "uninitvar": ("cppcheck", "int f(int a);\nint f(int a) { int b; if (a) b = 1; return b; }\n"),
}


@pytest.fixture
def place(tmp_path):
    shutil.copy(ROOT / ".clang-tidy", tmp_path)
    for folder in analyse.INCLUDES:
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize("what", PLANTED)
def test_a_planted_fault_is_found(what, place):
    tool, text = PLANTED[what]
    (place / "host_sim" / "c" / "planted.c").write_text(text, encoding="utf-8")
    files = analyse.sources(place)
    assert files == ["host_sim/c/planted.c"]
    lines = next(lines for name, lines in analyse.commands(files).items() if name.startswith(tool))
    if not lines:
        pytest.skip("needs gcc")
    assert what in "".join(analyse.findings(line, place) for line in lines)


def test_sound_code_has_no_finding(place):
    (place / "firmware_model" / "c" / "sound.c").write_text("int one(void);\nint one(void) { return 1; }\n")
    work = analyse.commands(analyse.sources(place))
    assert [analyse.findings(line, place) for lines in work.values() for line in lines] == [""] * sum(
        len(lines) for lines in work.values()
    )


def test_all_c_of_the_packages_is_analysed_or_excused_with_a_reason():
    files = [path for folder in analyse.FOLDERS for path in (ROOT / folder).rglob("*.c")]
    names = {path.relative_to(ROOT).as_posix() for path in files if path.name not in analyse.GENERATED}
    assert len(names) > 45 and names == set(analyse.sources()) | set(analyse.EXCUSED)
    assert not set(analyse.sources()) & set(analyse.EXCUSED)
    assert all(len(reason) > 30 for reason in analyse.EXCUSED.values())


def test_only_files_that_another_build_reads_are_excused():
    foreign = ('#include "adamb_module.h"', "#include <simavr/")
    for file in analyse.EXCUSED:
        assert any(header in (ROOT / file).read_text() for header in foreign), file
    assert all("__asm__" in (ROOT / file).read_text() for file in analyse.CROSS)


@pytest.mark.parametrize("file", ["tools/device/loop/target/adamb_link.c", *analyse.CROSS])
def test_a_fault_planted_below_tools_is_found(file, place):
    (place / file).parent.mkdir(parents=True, exist_ok=True)
    (place / file).write_text("unsigned f(char *p);\nunsigned f(char *p) { return sizeof(sizeof(*p)); }\n")
    assert analyse.sources(place) == [file]
    lines = analyse.commands([file])["clang-tidy"]
    said = "".join(analyse.findings(line, place) for line in lines)
    assert "bugprone-sizeof-expression" in said


def test_a_new_deviation_from_misra_is_found(place):
    (place / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "misra.md", place / "docs")
    (place / "firmware_model" / "c" / "jump.c").write_text(
        "int f(int a);\nint f(int a)\n{\nagain:\n    if (a) {\n        goto again;\n    }\n    return a;\n}\n"
    )
    assert any("rule 15.1 " in line for line in analyse.undocumented(place))
