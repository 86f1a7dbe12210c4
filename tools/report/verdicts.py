"""Whether any limit was broken, and the answers a reader wants first; those about runs are in run_answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from adamb.budgets.sizes import format_bytes
from adamb.tools.report.bounds import RunBounds
from adamb.tools.report.sources import (
    BlockSource,
    LatencySource,
    ProfileSource,
    RunSource,
    Source,
    SweepSource,
)

OK, BAD, NOTE = "ok", "bad", "note"
FIT, LEARN, SPEED, FULL = "Did it fit?", "Did it learn?", "How fast does it decide?", "When memory ran out"
HEALTH, KNOWS = "Is it sound?", "What does it know?"


@dataclass(frozen=True)
class Answer:
    """One question with a few words in large type and sentences below them."""

    question: str
    status: str
    short: str
    text: str
    command: str = ""
    """What to type to know more."""


@dataclass
class Judgement:
    """Everything said about one source."""

    label: str
    kind: str
    violations: list[str]
    answers: list[Answer] = field(default_factory=list)
    attached: bool = False
    """Already told by the answers about a run."""

    @property
    def ok(self) -> bool:
        return not self.violations

    def to_json(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "kind": self.kind,
            "ok": self.ok,
            "violations": self.violations,
            "answers": [vars(answer) for answer in self.answers],
        }


def judge(source: Source, bounds: RunBounds | None, latency: list[LatencySource]) -> Judgement:
    """The judgement of any source; a run also takes its bounds and measurements of the same problem."""
    if isinstance(source, RunSource):
        from adamb.tools.report.run_answers import judge_run

        return judge_run(source, bounds, latency)
    if isinstance(source, LatencySource):
        broken = [f"bound broken: {line}" for line in source.data.get("violations", [])]
        return Judgement(source.label, "latency", broken, [speed_of_latency(source)])
    if isinstance(source, ProfileSource):
        return judge_profile(source)
    if isinstance(source, BlockSource):
        return judge_block(source)
    assert isinstance(source, SweepSource), source
    return judge_sweep(source)


def headline(judgements: list[Judgement]) -> str:
    """The first line of the page and of the terminal."""
    broken = [line for each in judgements for line in each.violations]
    if broken:
        first = broken[0][0].upper() + broken[0][1:]
        return first if len(broken) == 1 else f"{first}; and {len(broken) - 1} more"
    fitted = [answer.question for each in judgements for answer in each.answers if answer.status == OK]
    if HEALTH in fitted:
        return "The block is sound"
    if FIT in fitted:
        return "Every budget and every bound was kept" if len(judgements) > 1 else "Budget and bounds kept"
    return "No limit was broken"


def number(value: float) -> str:
    return f"{value:,.0f}"


def speed_of_latency(source: LatencySource) -> Answer:
    data = source.data
    unit, act, observe = data.get("unit", ""), data["act"], data["observe"]
    bound = data.get("bound_act")
    limit = "" if bound is None else f" (no act can take more than {number(bound)})"
    sentences = [
        f"On {data['target']} the dearest act takes {number(act['max'])} {unit}{limit},",
        f"the mean one {number(act['mean'])}.",
        f"Learning from it takes {number(observe['mean'])}, in 99.9 % of the calls at most",
        f"{number(observe['p999'])}, never more than {number(observe['max'])}.",
    ]
    if data.get("board"):
        low, high = data["board"]["act_max_us"]
        sentences.append(f"The dearest act on {data['board']['name']}: {low:,.1f} to {high:,.1f} µs.")
    broken = data.get("violations", [])
    sentences += [f"Broken: {line}." for line in broken]
    return Answer(SPEED, BAD if broken else OK, f"{number(act['max'])} {unit} at most", " ".join(sentences))


def judge_profile(source: ProfileSource) -> Judgement:
    """Bounds at every point, and the cap of the capped runs."""
    data, cap = source.data, source.data.get("budget_bytes")
    worst = {
        name: max(
            (point.get("bytes_max", 0) for point in data["points"] if point.get("run") == name), default=0
        )
        for name in ("capped", "uncapped")
    }
    broken = [f"bound broken: {line}" for line in data.get("violations", [])]
    if cap is not None and worst["capped"] > cap:
        used = f"{number(worst['capped'])} bytes used, the cap is {number(cap)} bytes"
        broken.insert(0, f"budget broken: {used}")
    text = f"Without a cap the worst seed used {number(worst['uncapped'])} bytes"
    text += f" in {number(data.get('episodes', 0))} episodes"
    if cap is not None and worst["capped"]:
        text += f", under a cap of {number(cap)} bytes {number(worst['capped'])}"
    text += ". Leaves, units, entries and bytes were compared with their exact bounds at every point."
    short = f"Broken {len(broken)} times" if broken else "Every bound held"
    return Judgement(source.label, "profile", broken, [Answer(FIT, BAD if broken else OK, short, text)])


def judge_sweep(source: SweepSource) -> Judgement:
    """A combination that was refused or passed its cap breaks a budget."""
    broken = []
    for row in source.rows:
        cap = row.get("budget_bytes")
        place = f"{row.get('problem')}, {row.get('agent')}, {format_bytes(float(cap)) if cap else 'no cap'}"
        if row.get("refused"):
            broken.append(f"budget broken: {place}: {row['refused']}")
        elif cap and float(row.get("bytes_peak_max") or 0) > float(cap):
            broken.append(f"budget broken: {place}: {number(float(row['bytes_peak_max']))} bytes used")
    short = f"{len(source.rows) - len(broken)} of {len(source.rows)} combinations"
    state = "" if source.data.get("finished", True) else " The sweep is not finished."
    text = (
        f"So many kept their cap, or had none. {number(float(source.data.get('cells') or 0))} cells.{state}"
    )
    return Judgement(source.label, "sweep", broken, [Answer(FIT, BAD if broken else OK, short, text)])


def judge_block(source: BlockSource) -> Judgement:
    """A block by itself has no budget to keep; it can be damaged."""
    found = source.inspection
    if found.sound:
        checked = "Every unit is owned once or free, every link and level is in range, every mean adds up."
        health = Answer(HEALTH, OK, "Yes", checked)
    else:
        health = Answer(HEALTH, BAD, "No: damaged", "; ".join(found.problems) + ".")
    answers = [health]
    if found.ledger is not None:
        used, total, peak = found.ledger.used_bytes, found.ledger.total, found.ledger.peak_bytes
        text = f"{number(used)} of {number(total)} bytes are in use, {number(peak)} at most so far."
        answers.append(Answer(FIT, NOTE, f"{format_bytes(used)} of {format_bytes(total)}", text))
    if found.view is not None:
        count = {name: number(value) for name, value in found.view.counters.items()}
        balls, visited = (number(sum(tree[key] for tree in found.trees)) for key in ("balls", "visited"))
        text = f"{balls} balls, {visited} of them visited. V of the first step is"
        text += f" {found.values[0]['mean']:.3f} on average over the states."
        answers.append(Answer(KNOWS, NOTE, f"{count['episodes']} episodes", text))
        never = count["refused"] == count["reclaims"] == count["no_room"] == "0"
        text = f"{count['refused']} splits were refused, {count['reclaims']} pieces reclaimed,"
        text += f" {count['no_room']} samples lent to a parent, {count['restarts']} restarts."
        answers.append(Answer(FULL, OK if never else NOTE, "It never did" if never else "It did", text))
    broken = [f"damaged block: {line}" for line in found.problems]
    return Judgement(source.label, "block", broken, answers)
