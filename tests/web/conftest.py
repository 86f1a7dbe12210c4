"""Reports to look at and a real browser to look with; without a browser the tests here are skipped."""

from __future__ import annotations

import shutil
from contextlib import contextmanager

import pytest

from adamb.tools.cli import main

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium that is installed here; nothing is downloaded."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip(f"no browser here: none of {', '.join(NAMES)} is installed")
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield launched
        launched.close()


RUNS = {
    "full": "oil-laplace --budget 1KiB --episodes 300 --seeds 3",
    "steps": "oil-laplace --budget 4KiB --episodes 200 --seeds 2 --agent-set share=off --set drift=half",
    "wide": "ambulance-2 --budget 4KiB --episodes 200 --seeds 1",
}


class Made(dict):
    """Things that are made when they are first asked for, so that few tests need few of them."""

    def __init__(self, make):
        super().__init__()
        self.make = make

    def __missing__(self, name):
        self[name] = self.make(name)
        return self[name]


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """Small recorded runs of different kinds."""
    base = tmp_path_factory.mktemp("runs")

    def run(name):
        assert main(["run", *RUNS[name].split(), "--record", "--quiet", "--out", str(base / name)]) == 0
        return base / name

    return Made(run)


@pytest.fixture(scope="session")
def reports(folders, tmp_path_factory):
    """Every folder as a page, all of them compared, and a block by itself."""
    base = tmp_path_factory.mktemp("pages")

    def page(name):
        path = base / f"{name}.html"
        if name == "block":
            assert main(["inspect", str(folders["full"] / "block.bin"), "--out", str(path)]) == 0
        else:
            chosen = list(RUNS) if name == "compared" else [name]
            assert main(["report", *(str(folders[each]) for each in chosen), "--out", str(path)]) == 0
        return path

    return Made(page)


class Visit:
    """An open page with everything it said and asked for."""

    def __init__(self, page):
        self.page, self.errors, self.requests = page, [], []
        page.on("console", lambda message: self.errors.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def open(self, path):
        self.page.goto(path.as_uri())
        self.page.evaluate("adambReport.ready")
        return self


@pytest.fixture
def visit(browser):
    """visit(path, width=…, …) opens a report; every visit must end without errors and requests."""

    @contextmanager
    def opened(path, *, width=1280, height=1100, scheme="light", touch=False):
        size = {"width": width, "height": height}
        context = browser.new_context(viewport=size, color_scheme=scheme, has_touch=touch, is_mobile=touch)
        try:
            found = Visit(context.new_page()).open(path)
            yield found
            assert found.errors == []
            assert found.requests == [path.as_uri()]
        finally:
            context.close()

    return opened
