"""firmware_model/SPEC.md: rules have numbers without a gap, lines are short, a rule that is named exists."""

from __future__ import annotations

import re

from support.paths import ROOT, texts

SPEC = (ROOT / "firmware_model" / "SPEC.md").read_text(encoding="utf-8")
RULES = re.findall(r"(?m)^(?:- \*\*)?(\d+\.\d+)(?:\*\*|  ) *", SPEC)
"""Of lists, and of the numbered lines of procedures."""
SECTIONS = re.findall(r"(?m)^## (\d+)\. ", SPEC)
NAMED = re.compile(r"SPEC (\d+(?:\.\d+)?(?:(?: to|,| and) \d+\.\d+)*)")


def test_rules_are_numbered_without_a_gap():
    assert [int(section) for section in SECTIONS] == list(range(1, len(SECTIONS) + 1))
    for section in SECTIONS:
        numbers = [int(rule.split(".")[1]) for rule in RULES if rule.split(".")[0] == section]
        assert numbers == list(range(1, len(numbers) + 1)) != [], f"section {section}"


def test_every_rule_that_the_specification_refers_to_is_there():
    text = re.sub(r"(?m)\*\*\d+\.\d+\*\*|^\d+\.\d+  |Q0\.16", "", SPEC)
    assert [number for number in re.findall(r"\b\d+\.\d+\b", text) if number not in RULES] == []


def test_every_rule_that_code_and_documents_name_is_there():
    """As in SPEC 6.4, SPEC 8.4 to 8.12."""
    known, named = {*RULES, *SECTIONS}, 0
    for name, text in texts(".py", ".c", ".h", ".md", ".toml"):
        for numbers in NAMED.findall(re.sub(r"\s+(?:\*|#)?\s*", " ", text)):
            named += 1
            assert set(re.findall(r"\d+(?:\.\d+)?", numbers)) <= known, f"{name} names SPEC {numbers}"
    assert named > 20
