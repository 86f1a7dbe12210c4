"""Lines of documents end at 100, so that a change shows as one."""

from __future__ import annotations

import pytest

from support.paths import ROOT, texts


def long_lines(text: str) -> list[int]:
    """Numbers of lines above 100 characters outside tables, code and what a command has printed."""
    found, fenced, printed = [], False, False
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.startswith("```")
        printed = (printed or line.startswith("<!-- begin")) and not line.startswith("<!-- end")
        quoted = fenced or printed or line.startswith(("|", "    "))
        if len(line) > 100 and not quoted:
            found.append(number)
    return found


@pytest.mark.parametrize("name", [name for name, _ in texts(".md")])
def test_lines_of_a_document_end_at_100(name):
    assert long_lines((ROOT / name).read_text(encoding="utf-8")) == []
