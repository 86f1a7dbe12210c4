"""firmware_model/SPEC.md: rules have numbers without a gap, lines are short, a rule that is named exists."""

from __future__ import annotations

import re
from collections.abc import Iterable

from support.tree import ROOT, texts

SPEC = (ROOT / "firmware_model" / "SPEC.md").read_text(encoding="utf-8")
RULES = re.findall(r"(?m)^- \*\*(\d+\.\d+)\*\* ", SPEC)
SECTIONS = re.findall(r"(?m)^## (\d+)\. ", SPEC)
NAMED = re.compile(r"SPEC (\d+(?:\.\d+)?(?:(?: to|,| and) \d+\.\d+)*)")


def unknown(files: Iterable[tuple[str, str]]) -> list[str]:
    """Rules that a text names and the specification does not have: "SPEC 6.4", "SPEC 8.1 to 8.11"."""
    known = {*RULES, *SECTIONS}
    return [
        f"{name} names SPEC {number}"
        for name, text in files
        for numbers in NAMED.findall(re.sub(r"\s+(?:\*|#)?\s*", " ", text))
        for number in re.findall(r"\d+(?:\.\d+)?", numbers)
        if number not in known
    ]


def test_rules_are_numbered_without_a_gap():
    assert [int(section) for section in SECTIONS] == list(range(1, len(SECTIONS) + 1))
    for section in SECTIONS:
        numbers = [int(rule.split(".")[1]) for rule in RULES if rule.split(".")[0] == section]
        assert numbers == list(range(1, len(numbers) + 1)) != [], f"section {section}"


def test_every_rule_that_the_specification_refers_to_is_there():
    text = re.sub(r"\*\*\d+\.\d+\*\*|Q0\.16", "", SPEC)
    assert [number for number in re.findall(r"\b\d+\.\d+\b", text) if number not in RULES] == []


def test_every_rule_that_code_and_documents_name_is_there():
    here = "tests/docs/test_spec_rules.py"
    files = [(name, text) for name, text in texts(".py", ".c", ".h", ".md", ".toml") if name != here]
    assert sum(len(NAMED.findall(text)) for _, text in files) > 20
    assert unknown(files) == []
