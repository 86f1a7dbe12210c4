"""Documents, docstrings, comments and help texts use common words, and lines of documents end at 100."""

from __future__ import annotations

import re

import pytest

from support.tree import ROOT, texts

FORBIDDEN = {
    r"luck(?:y|ily)?|unlucky": "random draws, chance",
    r"lessons?": "observe call",
    r"dear(?:er|est|ly)?": "expensive, worst case",
    r"hop(?:e|es|ed|eful)": "optimism",
    r"anew": "again, reinitialised",
    r"guard[ .]mind": "handle",
    r"cr(?:y|ies|ying) wolf": "false positive",
    r"lends?|lent": "borrows",
    r"little brother": "small version",
    r"rules of the field|the field's rules": "standard heuristics",
    r"rubbish": "arbitrary words",
    r"everybody": "every agent",
    r"another life|the same life|(?:a long|a short|no|one) life|random lives|have lived": "run",
    r"to the letter": "without changes",
    r"wears it off": "corrects it",
}
"""Words of our own that strangers do not know, and what to write instead."""

ALLOWED: dict[str, str] = {
    "tests/docs/test_words.py": "lists the words",
}
"""Files in which a word is legitimate, and why."""

WORD = re.compile("|".join(rf"(?<![\w.])(?:{word})(?!\w)" for word in FORBIDDEN), re.IGNORECASE)
SUFFIXES = (".md", ".py", ".c", ".h", ".in", ".toml", ".js", ".html")
DOCUMENTS = [name for name, _ in texts(".md")]


def private_words(text: str) -> list[str]:
    """The lines that have one, with the word to write instead."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for match in WORD.finditer(line.replace("_", " ")):
            better = next(said for word, said in FORBIDDEN.items() if re.fullmatch(word, match[0], re.I))
            found.append(f"line {number}: {match[0]!r}, better: {better}")
    return found


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


def glued_headings(text: str) -> list[str]:
    """Headings that a reflow has put behind other text, or in front of it without an empty line."""
    prose = re.sub(r"(?ms)^```.*?^```$", "", text)
    behind = re.findall(r"(?m)^.*\S +#{2,4} [A-Z].*$", prose)
    return behind + re.findall(r"(?m)^#{1,4} .*\n(?!\n|\Z).*$", prose)


def test_no_private_word_comes_back():
    found = [
        f"{name}, {each}"
        for name, text in texts(*SUFFIXES)
        if name not in ALLOWED
        for each in private_words(text)
    ]
    assert not found, "\n".join(found)


def test_every_exception_is_needed():
    for name in ALLOWED:
        assert private_words((ROOT / name).read_text(encoding="utf-8")), f"{name} needs no exception"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_lines_of_a_document_end_at_100(name):
    assert long_lines((ROOT / name).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_heading_of_a_document_has_a_line_of_its_own(name):
    assert glued_headings((ROOT / name).read_text(encoding="utf-8")) == []


# ---- the tester itself ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line", ["the same luck", "def test_the_dearest():", "/* anew */", "guard_mind(code)"]
)
def test_a_private_word_is_found(line):
    assert private_words(f"first\n{line}\n")[0].startswith("line 2: ")


@pytest.mark.parametrize("line", ["talent", "silent", "blessons", "endearing", "shopes"])
def test_a_part_of_a_word_is_not(line):
    assert private_words(line) == []


def test_a_glued_heading_is_found():
    assert glued_headings("# A\n\nb.  ### C\n\n## D\ne\n") == ["b.  ### C", "## D\ne"]
    assert glued_headings("# A\n\n```\n# b\nc\n```\n\n## D\n") == []


def test_a_long_line_is_found_and_a_table_is_not():
    assert long_lines(f"{'x' * 101}\n| {'x' * 101} |\n```\n{'x' * 101}\n```\n") == [1]
