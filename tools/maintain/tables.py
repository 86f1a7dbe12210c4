"""Tables of documents that no command of users prints, and the picture of README.md."""

from __future__ import annotations

import json
import re
import shlex
import tempfile
from array import array
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from adamb.firmware_model import _spec, core
from adamb.firmware_model.host.options import make_config, new_block
from adamb.firmware_model.host.sizes import format_bytes
from adamb.host_sim.problems import make_problem
from adamb.host_sim.runner import Estimate, estimate, simulate
from adamb.tools.inspect.word_names import word_name
from adamb.tools.maintain.documents import NUMBER, Region, regions, run
from adamb.tools.measure.ranking import RecoveryTime

ROOT = Path(__file__).resolve().parents[2]
BLOCK_BYTES = 4096
QUICK = ("reward per episode", "share of the optimum", "memory")
EDGE = "stroke: #ffffff; stroke-opacity: 0.55; stroke-width: 0.4"
BOX = re.compile(
    r'<path d="M (\S+) (\S+) \nL (\S+) \2 \nL \3 (\S+) \nL \1 \4 \nz\n" (clip-path="\S+") '
    rf'style="fill: (#\w+); {EDGE}"/>'
)
DARK = (
    "<style>@media(prefers-color-scheme:dark){text{fill:#e6edf3}"
    '[style*="fill: #333333"]{fill:#e6edf3!important}'
    '[style*="stroke: #333333"],[style*="stroke: #666666"]{stroke:#9198a1!important}}</style>'
)
"""What a dark page changes: letters and axes."""
LEFT_OUT = ("static", "rule:centre", "optimal")
KNOW = ("greedy", "myopic", "newsvendor", "t-star")
"""Rules that are given the distribution of the workload, where a table in short has them."""
ENGINE = re.compile(r"^ iCE40 (\w+) +engine 1\+1 +(\d+) +(\d+) +\d+ +\d+ +(\d+)$", re.MULTILINE)


def results() -> str:
    """Shares of V* over the problems of the shipped sweep `headline`, the best agent first."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in _headline() if line.startswith("|")]
    problems = rows[0][1:-1]
    best = [_mean(cell) for cell in rows[-1][1:-1]]
    lines = [
        f"| {rows[0][0]}, {len(problems)} problems | mean share of V* | lowest share | best on |",
        "|---|---|---|---|",
    ]
    for name, *cells, share in sorted(rows[2:-1], key=lambda row: -_mean(row[-1])):
        lowest, where = min(
            (_mean(cell) / most, problem) for cell, most, problem in zip(cells, best, problems, strict=True)
        )
        first = sum("**" in cell for cell in cells)
        lines.append(f"| {name} | {share} | {100 * lowest:.1f} % ({where}) | {first} |")
    return "\n".join(lines)


def _headline() -> list[str]:
    return run("adamb sweep headline --markdown --quiet").splitlines()


def _mean(cell: str) -> float:
    return float(cell.strip("*").split()[0])


def sizes() -> str:
    """A controller of 4 KiB with one state and one action: as C, in MicroPython, as a decision engine."""
    from adamb.budgets.boards import load_board
    from adamb.tools.device.emulator import core
    from adamb.tools.device.emulator.callgraph import stack_report
    from adamb.tools.device.micropython import costs

    board, shapes = load_board("pico"), costs.shape_rows("1+1")
    image = core.core_image("cortex-m0", "size")
    stack = max(stack_report(image, [root]).bytes for root in core.HOT_PATH)
    bare = shapes["module"]
    forms = [("C", core.flash("cortex-m0").running_bytes, BLOCK_BYTES + stack, bare.c_act, bare.c_observe)]
    for row in (costs.FormCost(**each) for each in costs.kept()["rows"]):
        if row.processor == costs.ON_BOARDS and row.core in ("module", "bytecode"):
            name = {"module": "C, in MicroPython's firmware", "bytecode": "MicroPython bytecode"}[row.core]
            forms.append((name, row.flash_bytes, BLOCK_BYTES + row.heap_bytes, row.act, row.observe))
    lines = [
        f"| {board.title} | flash, bytes | RAM, bytes | `act`, instructions | `observe` |",
        "|---|---:|---:|---|---|",
    ]
    for name, flash, ram, *calls in sorted(forms, key=lambda form: form[1]):
        cells = [f"{call:,}: {costs.times(board.seconds(call))}" for call in calls]
        lines.append(f"| {name} | {flash:,} | {ram:,} | {' | '.join(cells)} |")
    found = ENGINE.search((ROOT / "docs" / "hardware.md").read_text(encoding="utf-8"))
    assert found, "docs/hardware.md has no row of the engine"
    part, luts, flip_flops, nanoseconds = found.groups()
    lines.append(
        f"| engine, iCE40 {part} | {luts} LUTs, {flip_flops} flip-flops | {BLOCK_BYTES:,} | {nanoseconds} ns | – |"
    )
    return "\n".join(lines)


def quick() -> str:
    """What the first two commands print first, without the frame, whose width depends on times."""
    played = run("adamb run oil-laplace --budget 4KiB --seeds 10 --quiet").splitlines()
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in played if line.startswith("│")]
    shown = [f"{name:<22}{value}" for name, value in cells if name.startswith(QUICK)]
    planned = run("adamb plan --dims 1+1 --board pico --no-costs").splitlines()
    return "\n".join([played[0], *shown, planned[0]])


def budgets() -> str:
    """The rule of `adamb plan`: what each problem with a known optimum needs by measurement, and loses in 4 KiB."""
    from adamb.budgets.planner import START_BYTES
    from adamb.host_sim.problem import Problem, make_problem, problem_class, problem_names
    from adamb.tools.measure import sizing

    by_size: dict[int, list[str]] = {}
    most: dict[str, Estimate] = {}
    for name in (name for name in problem_names() if problem_class(name)[0].solve is not Problem.solve):
        rows = sizing.measure(partial(make_problem, name, sizing.SEEDS), sizing.BUDGETS, {})
        smallest = next(row.budget_bytes for row in rows if row.level)
        by_size.setdefault(smallest, []).append(name)
        lost = min((row for row in rows if row.budget_bytes <= START_BYTES), key=lambda row: -row.budget_bytes).loss
        if smallest > START_BYTES and lost is not None:
            most[name] = lost
    lines = ["| smallest level budget | problems of five steps |", "|---|---|"]
    lines += [f"| {format_bytes(size)} | {', '.join(names)} |" for size, names in sorted(by_size.items())]
    lines += ["", *(f"In {format_bytes(START_BYTES)} {name} loses {lost.percent()}." for name, lost in most.items())]
    return "\n".join(lines)


def drawing() -> str:
    """The partition that a run has learnt above the exact Q*, for light and for dark pages."""
    with tempfile.TemporaryDirectory() as folder:
        run(f"adamb run oil-laplace --budget 4KiB --seeds 1 --plot --quiet --out {folder}/run")
        return slim((Path(folder) / "run" / "partition.svg").read_text(encoding="utf-8"))


def slim(svg: str) -> str:
    """The same picture without a background, in fewer bytes: two decimals, and what all boxes share once."""
    svg = re.sub(r"(?s)<metadata>.*?</metadata>\s*", "", svg)
    svg = re.sub(r'(?s)<path d="[^"]*" style="fill: #ffffff"/>\s*', "", svg, count=1)
    svg = re.sub(r"(\d+\.\d\d)\d+", r"\1", svg)
    svg = BOX.sub(r'<path d="M\1 \2H\3V\4H\1z" \5 style="fill: \6"/>', svg)
    shared = re.compile(r'(<g id="PolyCollection_\d+")>(\s*<path [^>]*?)(clip-path="\S+")')
    svg = shared.sub(rf'\1 \3 style="{EDGE}">\2\3', svg)
    svg = re.sub(r'(V[\d.]+H[\d.]+z") clip-path="\S+"', r"\1", svg)
    svg = svg.replace("<style", DARK + "<style", 1)
    return re.sub(r"(?m)^ +|\s*\n(?=[^<\s])", lambda gap: " " if "\n" in gap[0] else "", svg)


def comparison(*arguments: str) -> str:
    """What `adamb compare` says in short, after the command: of one problem every agent, of several, with `--` between
    their arguments, what each agent earns."""
    words, calls = list(arguments), []
    while words:
        end = words.index("--") if "--" in words else len(words)
        calls.append(words[:end])
        words = words[end + 1 :]
    shown = "\n".join(f"- `{shlex.join(['adamb', 'compare', *call])}`" for call in calls)
    played = [_compared(call) for call in calls]
    return f"{shown}\n\n{_agents(played[0]) if len(played) == 1 else _problems(played)}"


def _compared(call: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        run(shlex.join(["adamb", "compare", *call, "--quiet", "--json", f"{folder}/found.json"]))
        content: dict[str, Any] = json.loads((Path(folder) / "found.json").read_text(encoding="utf-8"))
    rows = [row for row in content["rows"] if row["why_not"] is None and row["agent"] not in LEFT_OUT]
    rules = [row for row in rows if row["kind"] == "rule"]
    rules.sort(key=lambda row: -row["last"]["mean"])
    content["rows"] = [row for row in rows if row not in rules] + rules
    return content


def _problems(played: list[dict[str, Any]]) -> str:
    columns = list(dict.fromkeys(_label(row) for each in played for row in each["rows"]))
    lines = [f"| problem | {' | '.join(columns)} |", "|---|" + "---:|" * len(columns)]
    for each in played:
        by_agent = {_label(row): row for row in each["rows"]}
        for name, figure in ((f"`{each['problem']}`", "last"), ("− adamb", "difference")):
            cells = (_estimate(by_agent.get(column, {}).get(figure)) for column in columns)
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _agents(played: dict[str, Any]) -> str:
    changes, rows = played["drift"] == "half", played["rows"]
    columns: dict[str, Callable[[dict[str, Any]], str]] = {
        "agent": _label,
        "return": lambda row: _estimate(row["last"]),
    }
    if rows[0]["share"]:
        columns["of V*"] = lambda row: Estimate(**row["share"]).percent()
    columns[f"− adamb {format_bytes(played['cap_bytes'])}"] = lambda row: _estimate(row["difference"])
    if changes:
        columns["200 before"] = lambda row: _estimate(row["before_change"])
        columns["20 after"] = lambda row: _estimate(row["after_change"])
        columns["back"] = lambda row: _recovery(row["recovery"])
        columns["lead back"] = lambda row: _recovery(row["recovery_of_lead"])
        columns["seeds"] = lambda row: str(row["seeds_back"])
    else:
        columns["bytes"] = lambda row: str(row["bytes_peak"] or "—")
    lines = [f"| {' | '.join(columns)} |", "|---|" + "---:|" * (len(columns) - 1)]
    lines += [f"| {' | '.join(cell(row) for cell in columns.values())} |" for row in rows]
    return "\n".join(lines)


def _recovery(found: dict[str, int | None] | None) -> str:
    return "—" if found is None else str(RecoveryTime(**found))


def _label(row: dict[str, Any]) -> str:
    name = row["agent"].removeprefix("rule:")
    return name if row["budget_bytes"] is None else f"{name} {format_bytes(row['budget_bytes'])}"


def _estimate(figure: dict[str, float] | None) -> str:
    return "" if figure is None else str(Estimate(**figure))


def in_short() -> str:
    """What 4 KiB beat and lose to in the comparisons of memory-systems-tables.md, by the intervals there."""
    text = (ROOT / "docs" / "memory-systems-tables.md").read_text(encoding="utf-8")
    lines = ["| problem | beats | level with | loses to |", "|---|---|---|---|"]
    for region in regions(text):
        if " comparison " in region.command and "-set " not in region.command:
            for problem, differences in _differences(region):
                verdicts: list[list[str]] = [[], [], []]
                for label, cell in differences.items():
                    found = NUMBER.fullmatch(cell)
                    if found and not label.startswith("adamb "):
                        mean, half = float(found["mean"]), float(found["half"] or 0)
                        name = label.removesuffix(f" {format_bytes(BLOCK_BYTES)}")
                        verdicts[1 + (mean > half) - (mean < -half)].append(f"{name}*" if name in KNOW else name)
                lines.append(f"| `{problem}` | {' | '.join(', '.join(names) for names in verdicts)} |")
    return "\n".join(lines)


def _differences(region: Region) -> list[tuple[str, dict[str, str]]]:
    """By problem, of each agent the difference to 4 KiB as the table has it."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in region.body.splitlines() if line[:1] == "|"]
    head = rows[0]
    if head[0] == "problem":
        named = zip(rows[2::2], rows[3::2], strict=True)
        return [(own[0].strip("`"), dict(zip(head[1:], other[1:], strict=True))) for own, other in named]
    column = next(i for i, name in enumerate(head) if name.startswith("− adamb"))
    return [(region.command.split(" comparison ")[1].split()[0], {row[0]: row[column] for row in rows[2:]})]


OPTIONS = {"share": "off", "bonus": 0.25, "detect": False}
STATE, REWARD, NEXT = 0.30, 0.40, 0.60


def worked_example() -> str:
    """One act and one observe call with every word they change, for firmware_model/DESIGN.md."""
    config = make_config(1, 1, 2, OPTIONS, seed=1)
    words = new_block(core.required_words(config))
    controller = core.init(config, words)
    before, action = list(words), [0]
    controller.act(0, [_code(STATE)], action)
    lines = _changed(f"act(h=0, state={STATE:.2f}) plays {action[0] / 65536:.4f}", before, words)
    before = list(words)
    controller.observe(0, _code(REWARD), [_code(NEXT)])
    lines += _changed(f"observe(h=0, reward={REWARD:.2f}, next={NEXT:.2f})", before, words)
    return "\n".join(lines)


def _code(value: float) -> int:
    return int(value * 65536)


def _changed(title: str, before: list[int], after: array[int]) -> list[str]:
    lines = [title]
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        if old != new:
            name = word_name(after, index)
            lines.append(f"  {name:<52} {old:04x} -> {new:04x}  {_meaning(name, new)}")
    return lines


def _meaning(name: str, word: int) -> str:
    """The word as a number a person would write."""
    last = name.rsplit(" ", 1)[-1]
    if last in ("reward", "reward_mean", "reward_top", "state", "action") or " aux " in name:
        return f"{word / 65536:.4f}"
    if last == "v_aux":
        return f"mean of both sides {word / 4096:.4f}"
    if last == "link" or "slot" in name or last == "root":
        if not word & _spec.TAG:
            return f"link to unit {word}"
        value = word & _spec.VALUE_MASK
        if name.startswith("V node") or last == "v_slot":
            return f"V = {value / 4096:.4f}"
        return f"surplus {(value - _spec.SURPLUS_ZERO) / 4096:+.4f}"
    if last == "n":
        return f"n = {word & _spec.N_MAX}, clock bits {word >> _spec.CREDIT_SHIFT}"
    return f"{word}"


FRESHER_SEEDS, FRESHER_GAMMA = 400, 2
FRESHER_PLACES = {"random": "deposits at random places", "paper": "deposit at .75"}
FRESHER_RULES = ("decreasing", "free")


def _earned(instance: str, seeds: int, **options: Any) -> np.ndarray:
    """Mean return of an episode, per seed; every episode starts at a random place."""
    start = {"start": "random"}
    problem = make_problem("oil-laplace", range(seeds), instance=instance, episodes=2000, params=start)
    played = simulate(problem, "adamb", mode="paper", gamma=FRESHER_GAMMA, **options)
    return np.asarray(played.returns.mean(axis=1))


def fresher_effects(instance: str, seeds: int) -> dict[str, Estimate]:
    """By rule of Q: by how many per cent of the text's reward the core earns more, paired by seed."""
    core, found = _earned(instance, seeds, core="c"), {}
    for rule in FRESHER_RULES:
        text = _earned(instance, seeds, core="double", q_rule=rule)
        found[rule] = estimate(100 * (core - text) / text.mean())
    return found


def fresher_q(seeds: str | int = FRESHER_SEEDS) -> str:
    """The worth of the fresher Q of the integer core, for docs/paper.md.

    The text renews Q of a ball only when it is played. The integer core in mode paper keeps Q as a surplus over
    today's expectation of V, so Q follows V at once. Both play on the same seeds with the same bonus and split
    threshold, the text in doubles: once with a Q that never rises, as in the core, so that only the fresher Q
    differs (and rounding and clamping), once as it is printed.
    """
    lines = [
        "Reward of the integer core in mode paper above that of the text in doubles, in per cent of it,",
        f"oil-laplace, γ = {FRESHER_GAMMA}, 2000 episodes, {seeds} paired seeds, 95 % intervals.\n",
        f"| place | {' | '.join(f'`q_rule={rule}`' for rule in FRESHER_RULES)} |\n|---|---|---|",
    ]
    for instance, place in FRESHER_PLACES.items():
        found = fresher_effects(instance, int(seeds)).values()
        lines.append(f"| {place} | {' | '.join(f'{each.mean:+.1f} ± {each.ci95 or 0:.1f} %' for each in found)} |")
    return "\n".join(lines)
