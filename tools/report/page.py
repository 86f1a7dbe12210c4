"""The files themselves: a page about some folders, and one over many that links to theirs.

Answers and tables are HTML, data and code are inside, nothing is outside.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

from adamb.firmware_model.host.errors import AdambError, InputError
from adamb.firmware_model.host.sizes import format_bytes
from adamb.host_sim.provenance import version
from adamb.tools.outputs import refuse_to_replace
from adamb.tools.report import blocks, comparisons, measurements, runs
from adamb.tools.report import sources as kinds
from adamb.tools.report.blocks import TEXT_BYTES, Replay, replay
from adamb.tools.report.markup import Section, controls, panel, section, small_title, table, title
from adamb.tools.report.verdicts import Judgement, RunBounds, headline, judge_run, number, run_bounds
from adamb.tools.terminal.run_view import WORDS

JUDGES: dict[type[kinds.Source], Callable[[Any], Judgement]] = {
    kinds.LatencySource: measurements.judge_latency,
    kinds.ChipSource: measurements.judge_chip,
    kinds.ProfileSource: measurements.judge_profile,
    kinds.SweepSource: comparisons.judge_sweep,
    kinds.BenchmarkSource: comparisons.judge_benchmark,
    kinds.BlockSource: blocks.judge_block,
}
"""For all kinds but runs, which are judged with their bounds and measurements of the same problem."""
SCRIPTS = ("charts.js", "tables.js", "partition.js", "explorer.js", "app.js")


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
    """A page about the content of folders.

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
    found: dict[type, list[Any]] = {
        kind: [source for source in sources if isinstance(source, kind)] for kind in kinds.Source.__subclasses__()
    }
    played, latency, sweeps = found[kinds.RunSource], found[kinds.LatencySource], found[kinds.SweepSource]
    profiles, benchmarks, dumps = found[kinds.ProfileSource], found[kinds.BenchmarkSource], found[kinds.BlockSource]
    bounds = {id(run): run_bounds(run) for run in played}
    judgements = _judge_all(sources, bounds, latency)
    replays = _replays(played, dumps)
    seeds = [[comparisons.sweep_seeds(source, row) for row in source.sweep.rows] for source in sweeps]
    parts = [
        answers(judgements),
        runs.learning(played),
        runs.seeds(played),
        runs.memory(played, bounds),
        blocks.ledger(played),
        blocks.block_ledger(dumps),
        runs.timeline(played),
        measurements.cost(latency),
        measurements.chips(found[kinds.ChipSource]),
        measurements.profile(profiles),
        comparisons.claims(sweeps),
        comparisons.sweep(sweeps),
        comparisons.benchmarks_section(benchmarks),
        blocks.partition(replays),
        words(played),
        provenance(sources),
    ]
    first = headline(judgements)
    return Page(assemble(first, sources, judgements, parts, {"sweeps": seeds}, replays), first, judgements)


def what(sources: Sequence[kinds.Source]) -> str:
    """The line below the verdict: what this page is about."""
    first = sources[0]
    if len(sources) == 1 and isinstance(first, kinds.RunSource):
        run = first.summary
        cap = "no cap" if run.budget_bytes is None else f"a cap of {format_bytes(run.budget_bytes)}"
        last = run.seed_base + run.seeds - 1
        span = f"seed {last}" if run.seeds == 1 else f"seeds {run.seed_base} to {last}"
        length = f"{number(run.episodes)} episodes of {run.horizon} steps"
        return escape(f"{run.problem}, {first.agent}, {cap}: {length}, {span}")
    if len(sources) == 1 and isinstance(first, kinds.BlockSource):
        block = first.inspection
        size = f"{number(2 * len(block.words))} bytes, {block.file.form}, digest {block.digest}"
        return escape(f"{block.file.path}: {size}")
    return escape("; ".join(source.label for source in sources))


def answers(judgements: list[Judgement]) -> Section:
    """Cards for one source; for several also a table, so that they can be compared."""
    judgements = [each for each in judgements if not each.attached]
    if len(judgements) == 1:
        return section("answers", "In short", "", cards(judgements[0]))
    runs = [each for each in judgements if each.kind == "run"]
    body = ""
    if len(runs) > 1:
        questions = [answer.question for answer in runs[0].answers]
        rows = [[f"<b>{escape(run.label)}</b>", *(escape(a.short) for a in run.answers)] for run in runs]
        body += panel(table(["", *questions], rows, ["" if run.ok else "bad" for run in runs]))
    body += "".join(title(each.label) + cards(each) for each in judgements)
    return section("answers", "In short", "", body)


def cards(judgement: Judgement) -> str:
    found = []
    for answer in judgement.answers:
        short = f'<p class="short">{escape(answer.short)}</p>'
        text = f"<h3>{escape(answer.question)}</h3>{short}<p>{escape(answer.text)}</p>"
        text += f"<p><code>{escape(answer.command)}</code></p>" if answer.command else ""
        found.append(f'<article class="card {answer.status}">{text}</article>')
    return f'<div class="cards">{"".join(found)}</div>'


def words(played: Sequence[kinds.RunSource]) -> Section | None:
    """What the words of a run mean for the reader."""
    if not played:
        return None
    rows = "".join(f"<dt>{escape(word)}</dt><dd>{escape(text)}</dd>" for word, text in WORDS.items())
    return section("words", "What the words mean", "", f'<div class="panel provenance"><dl>{rows}</dl></div>')


def provenance(sources: Sequence[kinds.Source]) -> Section:
    body = "".join(
        f'<div class="panel provenance">{small_title(source.label)}<dl>{_facts(source)}</dl></div>'
        for source in sources
    )
    return section("provenance", "Where this comes from", "", body)


def _facts(source: kinds.Source) -> str:
    rows = []
    for name, value in {"place": source.place, **source.facts()}.items():
        text = escape(_flat(value) if isinstance(value, dict) else str(value))
        if value is not None and text:
            rows.append(f"<dt>{name}</dt><dd>{f'<code>{text}</code>' if name == 'command' else text}</dd>")
    return "".join(rows)


def _flat(values: dict[str, Any]) -> str:
    """`a 1, b 2`, nested ones in brackets; lists are too long for a line."""
    parts = []
    for key, value in values.items():
        if isinstance(value, dict):
            parts += [f"{key} ({_flat(value)})"] if value else []
        elif not isinstance(value, list):
            parts.append(f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}")
    return ", ".join(parts)


def _judge_all(
    sources: Sequence[kinds.Source], bounds: dict[int, RunBounds | None], latency: list[kinds.LatencySource]
) -> list[Judgement]:
    """A run is also judged by the measurements of its controller, which then need no answer of their own."""
    found = []
    for source in sources:
        if isinstance(source, kinds.RunSource):
            found.append(judge_run(source, bounds[id(source)], [each for each in latency if each.is_about(source)]))
            continue
        judgement = JUDGES[type(source)](source)
        if isinstance(source, kinds.LatencySource):
            judgement.attached = any(isinstance(run, kinds.RunSource) and source.is_about(run) for run in sources)
        found.append(judgement)
    return found


def _replays(played: Sequence[kinds.RunSource], blocks: Sequence[kinds.BlockSource]) -> list[Replay]:
    """One for every run that was recorded and every block that can be walked."""
    found: list[tuple[Any, ...]] = []
    for run in played:
        if (kept := run.run.recording) is not None:
            label = f"{run.label}, seed {run.summary.seed_base}"
            found.append((label, kept.frames, kept.episodes.tolist(), kept.optimum, kept.meta["problem"].get("ranges")))
    for block in blocks:
        if (view := block.inspection.view) is not None:
            found.append((block.label, [block.inspection.words], [view.counters["episodes"]], None))
    return [replay(*each, limit=TEXT_BYTES // len(found)) for each in found]


def assemble(
    first: str,
    sources: Sequence[kinds.Source],
    judgements: list[Judgement],
    parts: list[Section | None],
    data: dict[str, Any],
    replays: Sequence[Replay],
) -> str:
    shown = [part for part in parts if part is not None]
    broken = [line for each in judgements for line in each.violations]
    status = "bad" if broken else "ok" if any(a.status == "ok" for j in judgements for a in j.answers) else "note"
    listed = "".join(f"<li>{escape(line)}</li>" for line in broken) if len(broken) > 1 else ""
    mark = {"ok": "✓ ", "bad": "✕ ", "note": ""}[status]
    blobs = [f'<script id="replay-{i}" type="text/plain">{each.text}</script>' for i, each in enumerate(replays)]
    return fill(
        {
            "title": escape(f"{first}: " + ", ".join(source.label for source in sources)),
            "status": status,
            "headline": escape(mark + first),
            "what": what(sources),
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
    return re.sub(
        r"<!--\{(\w+)\}-->|/\*\{(\w+)\}\*/", lambda found: values[found[1] or found[2]], asset("template.html")
    )


# ---- the page over many folders ------------------------------------------------------------------------

REPORT, INDEX = "report.html", "index.html"
HEADINGS = [
    "folder", "verdict", "what", "agent", ">cap", ">reward", ">of V*, last 100", ">peak bytes", ">seeds",
    "finished",
]  # fmt: skip


@dataclass
class IndexEntry:
    """One folder: its page, or why there is none."""

    folder: Path
    sources: Sequence[kinds.Source] = ()
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
        found |= dict.fromkeys(path for path in _walk(base) if any((path / name).is_file() for name in kinds.READERS))
    if not found:
        places = ", ".join(map(str, bases))
        raise InputError("index", places, f"no folder below holds one of {', '.join(kinds.READERS)}")
    return list(found)


def _walk(base: Path) -> Iterator[Path]:
    for place, folders, _ in os.walk(base):
        folders.sort()
        yield Path(place)


def read_entry(folder: Path) -> IndexEntry:
    try:
        return IndexEntry(folder, kinds.read_folder(folder), build_from([folder]))
    except AdambError as error:
        return IndexEntry(folder, trouble=str(error))


def may_write(entry: IndexEntry) -> bool:
    """True unless the folder has a page that somebody else made."""
    try:
        refuse_to_replace(entry.folder / REPORT)
    except InputError:
        return False
    return entry.page is not None


def index_html(entries: Sequence[IndexEntry], target: Path, bases: Sequence[Path]) -> str:
    """The page, with links as they are from its place."""
    broken = [entry for entry in entries if not entry.ok]
    count = f"{len(entries)} folder{'' if len(entries) == 1 else 's'}"
    headline = f"{count}, every limit kept" if not broken else f"{len(broken)} of {count} with trouble"
    rows = [_index_row(entry, target.parent) for entry in entries]
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
            "data": "",
            "blobs": "",
            "style": asset("style.css"),
            "script": script(SCRIPTS[:2]),
        }
    )


def _index_row(entry: IndexEntry, start: Path) -> list[str]:
    place = os.path.relpath(entry.folder, start)
    name = escape(place)
    if (entry.folder / REPORT).is_file() or may_write(entry):
        name = f'<a href="{escape(quote(os.path.join(place, REPORT)))}">{name}</a>'
    return [name, escape(entry.verdict), *_index_facts(entry)]


def _index_facts(entry: IndexEntry) -> list[str]:
    """Problem, agent, cap, reward, share, peak, seeds, finished."""
    run = next((source for source in entry.sources if isinstance(source, kinds.RunSource)), None)
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
