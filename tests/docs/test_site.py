"""The documentation as a site: every page, link, anchor and picture is there, with nothing from the network."""

import re

import pytest

from adamb.tools.maintain import site
from support.paths import ROOT


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    assert site.main(["--site-dir", str(folder)]) == 0, "links or anchors lead nowhere, or a page is in no section"
    return folder


def test_every_page_is_built_and_its_pictures_are_there(built):
    pages = [built / path.relative_to(ROOT).with_suffix(".html") for path in ROOT.glob("docs/[a-z]*.md")]
    pages += [built / "index.html", *(built / f"reference/{name}.html" for name in ("commands", "python", "c"))]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:img|script|link)[^>]*?(?:src|href)="([^"#]+)"', text)
        missing = [name for name in loaded if not (page.parent / name.partition("?")[0]).exists()]
        assert missing == [], page.name


def test_the_reference_has_commands_with_their_parameters_and_docstrings(built):
    commands = (built / "reference/commands.html").read_text(encoding="utf-8")
    python = (built / "reference/python.html").read_text(encoding="utf-8")
    assert "--budget" in commands and "adamb port" in commands
    assert "a row per seed and episode" in python
