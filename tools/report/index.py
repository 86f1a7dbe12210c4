"""A page over many folders: what each holds, whether it kept its limits, and a link to its report."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from adamb.budgets.errors import AdambError, InputError
from adamb.host_sim.provenance import version
from adamb.tools.outputs import refuse_to_replace
from adamb.tools.report.markup import controls, section, table
from adamb.tools.report.page import Page, asset, build_from, fill, json_text, script
from adamb.tools.report.sources import READERS, RunSource, Source, read_folder
from adamb.tools.report.verdicts import number

REPORT, INDEX = "report.html", "index.html"
SCRIPTS = ("theme.js", "charts.js", "tables.js", "index.js")
HEADINGS = [
    "folder", "verdict", "what", "agent", ">cap", ">reward", ">of V*, last 100", ">peak bytes", ">seeds",
    "finished",
]  # fmt: skip


@dataclass
class IndexEntry:
    """One folder: its page, or why there is none."""

    folder: Path
    sources: Sequence[Source] = ()
    page: Page | None = None
    trouble: str = ""

    @property
    def ok(self) -> bool:
        return self.page is not None and self.page.ok

    @property
    def verdict(self) -> str:
        return self.trouble if self.page is None else self.page.headline

    def to_json(self) -> dict[str, Any]:
        return {"folder": str(self.folder), "ok": self.ok, "verdict": self.verdict}


def find_folders(bases: Sequence[Path]) -> list[Path]:
    """Every folder below these, or one of them, that a command has written."""
    found: dict[Path, None] = {}
    for base in bases:
        if not base.is_dir():
            reason = "is not a folder" if base.exists() else "is not there"
            raise InputError("index", str(base), f"{reason}; give a folder with the folders of runs in it")
        found |= dict.fromkeys(
            path for path in _walk(base) if any((path / name).is_file() for name in READERS)
        )
    if not found:
        places = ", ".join(map(str, bases))
        raise InputError("index", places, f"no folder below holds one of {', '.join(READERS)}")
    return list(found)


def _walk(base: Path) -> Iterator[Path]:
    for place, folders, _ in os.walk(base):
        folders.sort()
        yield Path(place)


def read_entry(folder: Path) -> IndexEntry:
    try:
        return IndexEntry(folder, read_folder(folder), build_from([folder]))
    except AdambError as error:
        return IndexEntry(folder, trouble=str(error))


def may_write(entry: IndexEntry) -> bool:
    """Whether the folder's own page may be written: not over a page that somebody else made."""
    try:
        refuse_to_replace(entry.folder / REPORT, force=False)
    except InputError:
        return False
    return entry.page is not None


def index_html(entries: Sequence[IndexEntry], target: Path, bases: Sequence[Path]) -> str:
    """The page, with links as they are from its place."""
    broken = [entry for entry in entries if not entry.ok]
    count = f"{len(entries)} folder{'' if len(entries) == 1 else 's'}"
    headline = f"{count}, every limit kept" if not broken else f"{len(broken)} of {count} with trouble"
    rows = [_row(entry, target.parent) for entry in entries]
    classes = ["" if entry.ok else "bad" for entry in entries]
    search = '<label>Show only <input type="search" id="filter" placeholder="a word"></label>'
    body = controls(search) + table(HEADINGS, rows, classes)
    lead = "Choose a heading to sort. A folder's name opens its own report."
    return fill(
        {
            "title": escape(headline),
            "status": "bad" if broken else "ok",
            "headline": escape(("✕ " if broken else "✓ ") + headline),
            "what": escape(f"Everything below {', '.join(map(str, bases))}"),
            "broken": "",
            "nav": "",
            "body": section("folders", "Folders", lead, body).html,
            "footer": escape(f"Written by adamb {version()}. The links lead to {REPORT} in each folder."),
            "data": json_text([entry.to_json() for entry in entries]),
            "blobs": "",
            "style": asset("style.css"),
            "script": script(SCRIPTS),
        }
    )


def _row(entry: IndexEntry, start: Path) -> list[str]:
    place = os.path.relpath(entry.folder, start)
    name = escape(place)
    if (entry.folder / REPORT).is_file() or may_write(entry):
        name = f'<a href="{escape(quote(os.path.join(place, REPORT)))}">{name}</a>'
    return [name, escape(entry.verdict), *_facts(entry)]


def _facts(entry: IndexEntry) -> list[str]:
    """What, agent, cap, reward, share, peak, seeds, finished."""
    run = next((source for source in entry.sources if isinstance(source, RunSource)), None)
    if run is None:
        return [escape("; ".join(" · ".join(source.parts()) for source in entry.sources)), *[""] * 7]
    found, details = run.summary, run.run.details
    half = found.reward_per_episode.ci95
    return [
        escape(found.problem),
        escape(run.agent),
        "none" if found.budget_bytes is None else number(found.budget_bytes),
        f"{found.reward_per_episode.mean:.3f}" + ("" if half is None else f" ± {half:.3f}"),
        "" if details.share_last100 is None else escape(details.share_last100.percent()),
        number(found.bytes_peak),
        str(found.seeds),
        escape(details.finished[:16].replace("T", " ")),
    ]
