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
from adamb.host_sim.provenance import version
from adamb.tools.report import chip, more_sections, payload, sections
from adamb.tools.report import sources as kinds
from adamb.tools.report.bounds import RunBounds, run_bounds
from adamb.tools.report.league import league_payload, leagues_section
from adamb.tools.report.markup import Section
from adamb.tools.report.paper import claims, paper_payload
from adamb.tools.report.seed_table import seeds
from adamb.tools.report.verdicts import Judgement, headline, judge

SCRIPTS = (
    "theme.js",
    "block.js",
    "raster.js",
    "charts.js",
    "tables.js",
    "seeds.js",
    "contests.js",
    "explorer_paint.js",
    "explorer_ball.js",
    "explorer.js",
    "app.js",
)


@dataclass
class Page:
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


def build_from(folders: Sequence[Path]) -> Page:
    """A page about what the folders hold.

    Every value is of its declared kind when it gets here; values that contradict each other, which only a
    file that somebody has edited can hold, are reported.
    """
    try:
        made = build(kinds.read_sources(folders))
        made.html.encode()
    except (ValueError, LookupError, ArithmeticError) as error:
        places = ", ".join(map(str, folders))
        reason = f"{type(error).__name__}: {error}"
        raise InputError("run", places, f"holds values that no command writes ({reason})") from error
    return made


def build(sources: Sequence[kinds.Source]) -> Page:
    """A page about everything that was read."""
    runs = [source for source in sources if isinstance(source, kinds.RunSource)]
    latency = [source for source in sources if isinstance(source, kinds.LatencySource)]
    chips = [source for source in sources if isinstance(source, kinds.ChipSource)]
    profiles = [source for source in sources if isinstance(source, kinds.ProfileSource)]
    sweeps = [source for source in sources if isinstance(source, kinds.SweepSource)]
    leagues = [source for source in sources if isinstance(source, kinds.LeagueSource)]
    bounds = {id(run): run_bounds(run) for run in runs}
    judgements = _judge_all(sources, bounds, latency)
    blocks = [source for source in sources if isinstance(source, kinds.BlockSource)]
    replays: list[kinds.RunSource | kinds.BlockSource] = [
        run for run in runs if run.run.recording is not None
    ]
    replays += [block for block in blocks if block.inspection.view is not None]
    explorers = [_explorer(i, each, payload.BLOB_BYTES // len(replays)) for i, each in enumerate(replays)]
    data: dict[str, Any] = {
        "spec": payload.spec_constants() if explorers else None,
        "runs": [payload.run_payload(run, bounds[id(run)]) for run in runs],
        "latency": [payload.latency_payload(source) for source in latency],
        "profiles": [payload.profile_payload(source) for source in profiles],
        "sweeps": [payload.sweep_payload(source) for source in sweeps],
        "papers": [paper_payload(source) for source in sweeps],
        "leagues": [league_payload(source) for source in leagues],
        "explorers": [made.info for made in explorers],
    }
    parts = [
        sections.answers(judgements),
        sections.learning(runs),
        seeds(runs),
        sections.memory(runs, bounds),
        sections.ledger(runs),
        sections.block_ledger(blocks),
        sections.timeline(runs),
        more_sections.cost(latency),
        chip.chips(chips),
        more_sections.profile(profiles),
        claims(sweeps),
        more_sections.sweep(sweeps, data["sweeps"]),
        leagues_section(leagues),
        sections.partition(explorers),
        more_sections.provenance(sources),
    ]
    first = headline(judgements)
    return Page(assemble(first, sources, judgements, parts, data, explorers), first, judgements)


def _judge_all(
    sources: Sequence[kinds.Source], bounds: dict[int, RunBounds | None], latency: list[kinds.LatencySource]
) -> list[Judgement]:
    """A run is also judged by the measurements of its controller, which then need no answer of their own."""
    found = []
    for source in sources:
        about = [each for each in latency if isinstance(source, kinds.RunSource) and each.tells_about(source)]
        found.append(judge(source, bounds.get(id(source)), about))
    runs = [source for source in sources if isinstance(source, kinds.RunSource)]
    for source, judgement in zip(sources, found, strict=True):
        if isinstance(source, kinds.LatencySource):
            judgement.attached = any(source.tells_about(run) for run in runs)
    return found


def _explorer(number: int, source: kinds.RunSource | kinds.BlockSource, limit: int) -> payload.Explorer:
    if isinstance(source, kinds.BlockSource):
        assert source.inspection.view is not None
        episodes = [source.inspection.view.counters["episodes"]]
        return payload.explorer(number, source.label, [source.inspection.words], episodes, None, limit)
    recording = source.run.recording
    assert recording is not None
    label = f"{source.label}, seed {source.summary.seed_base}"
    frames, episodes = recording.frames, recording.episodes.tolist()
    return payload.explorer(number, label, frames, episodes, recording.optimum, limit)


def assemble(
    first: str,
    sources: Sequence[kinds.Source],
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
            "data": json_text(data),
            "blobs": "\n".join(blobs),
            "style": asset("style.css"),
            "script": script(SCRIPTS),
        }
    )


def json_text(data: Any) -> str:
    """JSON that cannot end the element it stands in."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def script(names: Sequence[str]) -> str:
    return "\n".join(asset(name) for name in names)


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
