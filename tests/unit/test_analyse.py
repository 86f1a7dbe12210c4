"""The analysers of `make lint` see every C file."""

from __future__ import annotations

from adamb.tools.maintain import analyse
from support.paths import ROOT


def test_all_c_of_the_packages_is_analysed_or_excused_with_a_reason():
    files = [path for folder in analyse.FOLDERS for path in (ROOT / folder).rglob("*.c")]
    names = {path.relative_to(ROOT).as_posix() for path in files if path.name not in analyse.GENERATED}
    assert len(names) > 30 and names == set(analyse.sources()) | set(analyse.EXCUSED)
    assert not set(analyse.sources()) & set(analyse.EXCUSED)
    assert all(len(reason) > 30 for reason in analyse.EXCUSED.values())


def test_only_files_that_another_build_reads_are_excused():
    foreign = ('#include "adamb_module.h"', "#include <simavr/")
    for file in analyse.EXCUSED:
        assert any(header in (ROOT / file).read_text() for header in foreign), file
    own = ("__asm__", "export_name")  # assembly, or what only WebAssembly has
    assert all(any(word in (ROOT / file).read_text() for word in own) for file in analyse.CROSS)
