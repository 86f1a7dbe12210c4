"""The file itself: answers and tables as HTML, data and code inside, nothing outside."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from adamb.budgets.errors import InputError
from adamb.host_sim.runner import version
from adamb.tools.report import more_sections, payload, sections
from adamb.tools.report.bounds import run_bounds
from adamb.tools.report.markup import Section
from adamb.tools.report.sources import (
    BlockSource,
    LatencySource,
    ProfileSource,
    RunSource,
    Source,
    SweepSource,
    read_sources,
)
from adamb.tools.report.verdicts import Judgement, headline, judge

SCRIPTS = (
    "block.js",
    "raster.js",
    "charts.js",
    "explorer_paint.js",
    "explorer_ball.js",
    "explorer.js",
    "app.js",
)
GENERATOR = '<meta name="generator" content="adamb report">'


@dataclass
class Report:
    """A finished page and what it says."""

    html: str
    headline: str
    judgements: list[Judgement]

    @property
    def ok(self) -> bool:
        return all(each.ok for each in self.judgements)

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "headline": self.headline,
            "sources": [each.to_json() for each in self.judgements],
            "version": version(),
        }


def build_from(folders: Sequence[Path]) -> Report:
    """A page about what the folders hold; anybody may have edited their files, which is then told as such."""
    try:
        made = build(read_sources(folders))
        made.html.encode()
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        places = ", ".join(map(str, folders))
        reason = f"{type(error).__name__}: {error}"
        raise InputError("run", places, f"holds values that no command writes ({reason})") from error
    return made


def build(sources: Sequence[Source]) -> Report:
    """A page about everything that was read."""
    runs = [source for source in sources if isinstance(source, RunSource)]
    latency = [source for source in sources if isinstance(source, LatencySource)]
    profiles = [source for source in sources if isinstance(source, ProfileSource)]
    sweeps = [source for source in sources if isinstance(source, SweepSource)]
    bounds = {id(run): run_bounds(run) for run in runs}
    judgements = [
        judge(source, bounds.get(id(source)), [each for each in latency if same_controller(source, each)])
        for source in sources
    ]
    for source, judgement in zip(sources, judgements, strict=True):
        if isinstance(source, LatencySource):
            judgement.attached = any(same_controller(run, source) for run in runs)
    blocks = [source for source in sources if isinstance(source, BlockSource)]
    replays: list[RunSource | BlockSource] = [run for run in runs if run.recording is not None]
    replays += [block for block in blocks if block.inspection.view is not None]
    explorers = [_explorer(i, each, payload.BLOB_BYTES // len(replays)) for i, each in enumerate(replays)]
    data: dict[str, Any] = {
        "spec": payload.spec_constants() if explorers else None,
        "runs": [payload.run_payload(run, bounds[id(run)]) for run in runs],
        "latency": [payload.latency_payload(source) for source in latency],
        "profiles": [payload.profile_payload(source) for source in profiles],
        "sweeps": [payload.sweep_payload(source) for source in sweeps],
        "explorers": [made.info for made in explorers],
    }
    parts = [
        sections.answers(judgements),
        sections.learning(runs),
        sections.memory(runs, bounds),
        sections.ledger(runs),
        sections.block_ledger(blocks),
        sections.timeline(runs),
        more_sections.cost(latency),
        more_sections.profile(profiles),
        more_sections.sweep(sweeps, data["sweeps"]),
        sections.partition(explorers),
        more_sections.provenance(sources),
    ]
    first = headline(judgements)
    return Report(assemble(first, sources, judgements, parts, data, explorers), first, judgements)


def same_controller(source: Source, measured: LatencySource) -> bool:
    """Whether a measurement tells about a run: the same controller on the same problem under the same cap."""
    if source.data.get("agent", "adamb") != "adamb":
        return False
    return all(source.data.get(key) == measured.data.get(key) for key in ("problem", "mode", "budget_bytes"))


def _explorer(number: int, source: RunSource | BlockSource, limit: int) -> payload.Explorer:
    if isinstance(source, BlockSource):
        episodes = [source.inspection.view.counters["episodes"]]
        return payload.explorer(number, source.label, [source.inspection.words], episodes, None, limit)
    recording = source.recording
    assert recording is not None
    label = f"{source.label}, seed {source.first_seed}"
    frames, episodes = recording.frames, recording.episodes.tolist()
    return payload.explorer(number, label, frames, episodes, recording.optimum, limit)


def assemble(
    first: str,
    sources: Sequence[Source],
    judgements: list[Judgement],
    parts: list[Section | None],
    data: dict[str, Any],
    explorers: list[payload.Explorer],
) -> str:
    shown = [part for part in parts if part is not None]
    broken = [line for each in judgements for line in each.violations]
    status = (
        "bad" if broken else "ok" if any(a.status == "ok" for j in judgements for a in j.answers) else "note"
    )
    listed = "".join(f"<li>{escape(line)}</li>" for line in broken) if len(broken) > 1 else ""
    mark = {"ok": "✓ ", "bad": "✕ ", "note": ""}[status]
    blobs = [
        f'<script id="{name}" type="text/plain">{text}</script>'
        for made in explorers
        for name, text in made.blobs.items()
    ]
    return fill(
        {
            "title": escape(f"{first}: " + ", ".join(source.label for source in sources)),
            "status": status,
            "headline": escape(mark + first),
            "what": sections.what(sources),
            "broken": f"<ul>{listed}</ul>" if listed else "",
            "nav": "".join(f'<a href="#{part.id}">{escape(part.name)}</a>' for part in shown),
            "body": "\n".join(part.html for part in shown),
            "footer": escape(f"Written by adamb {version()}. This file needs no network and no other file."),
            "data": json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"),
            "blobs": "\n".join(blobs),
            "style": asset("style.css"),
            "script": "\n".join(asset(name) for name in SCRIPTS),
        }
    )


def asset(name: str) -> str:
    return resources.files("adamb.tools.report").joinpath(name).read_text(encoding="utf-8")


def fill(values: dict[str, str]) -> str:
    """The template with its comments replaced; in one pass, so that a value is never taken for a comment."""
    pieces = asset("template.html")
    found: list[str] = []
    rest = pieces
    while True:
        starts = [
            (rest.find(opening), opening, closing) for opening, closing in (("<!--{", "}-->"), ("/*{", "}*/"))
        ]
        known = [start for start in starts if start[0] >= 0]
        if not known:
            return "".join([*found, rest])
        at, opening, closing = min(known)
        end = rest.index(closing, at)
        found += [rest[:at], values[rest[at + len(opening) : end]]]
        rest = rest[end + len(closing) :]
