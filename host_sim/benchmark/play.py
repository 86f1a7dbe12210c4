"""Playing the benchmark: which entries, in which order, kept where.

Every finished entry is a file of its own, so a bench that is killed resumes with what is missing, and two that
play different rows may share a folder. What is under way is played again.

An entry is a contender on a problem at a budget, tuned and scored; a reference is what reward there was to be
had. An entry asks for the cells that it wants next and is told what they earned, so entries can run side by
side, and what several of them want of one problem is played in one run. What a baseline did at one budget is
what it does at every budget that its peak leaves room in, so trials are handed from budget to budget and not
played again.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from adamb.firmware_model.host.errors import AdambError
from adamb.host_sim.benchmark import (
    BUDGETS,
    EPISODES,
    FIRST_BUDGETS,
    OURS,
    OWN,
    QUICK_SEEDS,
    SEEDS,
    SLOW_TUNING,
    UNTUNED,
    WINDOWS,
    BenchmarkContender,
    BenchmarkTask,
    Seeds,
    find_contenders,
    find_tasks,
    grid_for,
)
from adamb.host_sim.experiments import Experiment, JobStore, Progress, local_workers
from adamb.host_sim.experiments.cell import Cell, Choice, Outcome, digest_of, play_cells, windows
from adamb.host_sim.provenance import spec_hash, version
from adamb.host_sim.runner import simulate
from adamb.host_sim.user_code import names_file

TuningSchedule = Generator[list[Cell], list[Outcome], Outcome]
"""Gives cells to play, takes their outcomes, ends with the outcome of all."""
Trials = Generator[list[Cell], list[Outcome], list[dict[str, Any]]]

FINALISTS = 4
"""So many of the best choices of a short run are tried again in long runs."""
ROOM_BYTES = 256
"""More than any baseline asks for at once: with so much left at its peak, no request was ever refused."""


@cache
def core_digest() -> str:
    """Digest of the controller that runs here: its library as loaded, and what turns options into its numbers."""
    from adamb.firmware_model.host import binding

    name = "_core" if binding.loaded_as == "extension" else "binding"
    digest = hashlib.sha256(str(spec_hash()).encode())
    for part in (f"firmware_model.host.{name}", "firmware_model.host.options", "host_sim.agents.core"):
        module = import_module(f"adamb.{part}")
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Entry:
    """A cell to tune and score; `known` are outcomes of the same contender that may save runs, never change results."""

    cell: Cell
    tuning_seeds: tuple[int, ...]
    screening_episodes: int | None
    core: str | None
    known: tuple[Outcome, ...] = field(default=(), compare=False)

    def key(self) -> str:
        """A name for the result: baselines by their options, ours also by the core that plays."""
        tuning = [self.tuning_seeds, self.screening_episodes] if self.cell.tune else []
        return digest_of([self.cell.key(), tuning, self.core])

    def holds(self, outcome: Outcome) -> bool:
        return "agent" in outcome

    def play(self) -> Outcome:
        return play_schedules([self.schedule()])[0]

    def schedule(self) -> TuningSchedule:
        """Tune, then score what won: gives cells to play, takes their outcomes, ends with its own."""
        if self.core is not None and self.core != core_digest():
            return {"failed": "the core was rebuilt while the bench ran; start it again"}
        try:
            trials = yield from self._tune()
        except AdambError as error:
            return {"failed": str(error)}
        fitting = [trial for trial in trials if trial["reward"] is not None]
        if self.cell.tune and not fitting:
            return self._outcome(trials, {}, {"refused": "no choice fits", "rows": []})
        choice = max(fitting, key=lambda each: each["reward"])["choice"] if fitting else {}
        known = self._known_score(choice)
        if known is not None:
            return {**known, "budget_bytes": self.cell.budget_bytes, "trials": trials}
        (played,) = yield [self.cell.with_choice(tuple(choice.items()))]
        return played if played.get("failed") else self._outcome(trials, choice, played)

    def _tune(self) -> Trials:
        """The trials that decide: all choices, or in long runs the best of those in short ones."""
        choices = list(self.cell.choices()) if self.cell.tune else []
        if len(choices) > FINALISTS and self.screening_episodes is not None:
            screened = yield from self._trials(choices, self.screening_episodes)
            order = sorted(range(len(choices)), key=lambda i: -_number(screened[i]["reward"]))
            choices = [choices[i] for i in order[:FINALISTS]]
        return (yield from self._trials(choices, self.cell.episodes))

    def _trials(self, choices: Sequence[Choice], episodes: int) -> Trials:
        """The reward of each choice on the tuning seeds, played or known."""
        found = {choice: self._known_trial(choice, episodes) for choice in choices}
        left = [choice for choice in choices if found[choice] is None]
        cell = replace(self.cell, seeds=self.tuning_seeds, episodes=episodes, curves=0)
        played = (yield [cell.with_choice(choice) for choice in left]) if left else []
        for choice, outcome in zip(left, played, strict=True):
            if outcome.get("failed"):
                raise AdambError(outcome["failed"])
            rewards = [row["reward_per_episode"] for row in outcome["rows"]]
            found[choice] = {
                "choice": dict(choice),
                "episodes": episodes,
                "budget_bytes": self.cell.budget_bytes,
                "reward": float(np.mean(rewards)) if rewards else None,
                "bytes_peak": max((row["bytes_peak"] for row in outcome["rows"]), default=None),
            }
        return [trial for trial in found.values() if trial is not None]

    def _known_trial(self, choice: Choice, episodes: int) -> dict[str, Any] | None:
        for outcome in self.known:
            for trial in outcome["trials"]:
                same = trial["choice"] == dict(choice) and trial["episodes"] == episodes
                if same and holds_at(trial["budget_bytes"], trial["bytes_peak"], self.cell.budget_bytes):
                    return trial
        return None

    def _known_score(self, choice: Mapping[str, Any]) -> Outcome | None:
        for outcome in self.known:
            same = outcome["choice"] == choice and outcome["episodes"] == self.cell.episodes
            peak = max(outcome["bytes_peak"], default=None)
            if same and holds_at(outcome["played_at"], peak, self.cell.budget_bytes):
                return outcome
        return None

    def _outcome(self, trials: list[dict[str, Any]], choice: Mapping[str, Any], played: Outcome) -> Outcome:
        rows = played["rows"]
        return {
            "problem": self.cell.problem_label,
            "agent": self.cell.agent_label,
            "budget_bytes": self.cell.budget_bytes,
            "played_at": self.cell.budget_bytes,
            "episodes": self.cell.episodes,
            "refused": played["refused"],
            "choice": dict(choice),
            "seeds": [row["seed"] for row in rows],
            "reward": [row["reward_per_episode"] for row in rows],
            "bytes_peak": [row["bytes_peak"] for row in rows],
            "restarts": [row.get("restarts") for row in rows],
            "curve": played["curves"]["reward"] if played.get("curves") else None,
            "trials": trials,
            "seconds": played.get("seconds", {}).get("total"),
        }


def holds_at(played_at: int | None, peak: int | None, wanted: int | None) -> bool:
    """Whether a run under one cap is also the run under another: no cap was felt in it."""
    if played_at == wanted:
        return True
    caps = [math.inf if each is None else each for each in (played_at, wanted)]
    return peak is not None and peak + ROOM_BYTES <= min(caps)


def _number(reward: float | None) -> float:
    return -math.inf if reward is None else reward


def make_entry(
    task: BenchmarkTask, contender: BenchmarkContender, budget_bytes: int | None, seeds: Seeds, *, quick: bool
) -> Entry:
    """The entry of a contender on a problem at a budget."""
    ours = contender.kind == OURS
    tuning = seeds.tuning[:SLOW_TUNING] if task.slow else seeds.tuning
    long = task.group == "long"
    cell = Cell(
        **_problem_fields(task),
        agent=contender.agent,
        agent_label=contender.label,
        options=tuple(sorted(contender.options.items())),
        bonus=None,
        budget_bytes=budget_bytes,
        seeds=seeds.scored,
        curves=WINDOWS if task.drift != "none" else 0,
        tune=tuple(grid_for(contender, task, quick=quick).items()),
    )
    return Entry(cell, tuning, EPISODES if long else None, core_digest() if ours else None)


def _problem_fields(task: BenchmarkTask) -> dict[str, Any]:
    return {
        "problem": task.problem,
        "problem_label": task.label,
        "params": task.params,
        "episodes": task.episodes,
        "horizon": None,
        "instance": "random",
        "drift": task.drift,
        "continuing": False,
    }


@dataclass(frozen=True)
class Reference:
    """The reward that is possible on a problem: V*, or the best rule; and that of random actions."""

    task: BenchmarkTask
    seeds: tuple[int, ...]

    def key(self) -> str:
        fields = {**_problem_fields(self.task), "problem_label": None}
        return digest_of(["reference", fields, self.task.rules, self.seeds, version()])

    def holds(self, outcome: Outcome) -> bool:
        return "random" in outcome

    def play(self) -> Outcome:
        try:
            return self._measure()
        except AdambError as error:
            return {"failed": str(error)}

    def _measure(self) -> Outcome:
        problem, make = self._cell("random").build()
        result = simulate(problem, make(), episodes=self.task.episodes)
        chance = result.returns.mean(axis=1).tolist()
        found: Outcome = {"problem": self.task.label, "seeds": list(self.seeds), "random": chance}
        if result.optimal is not None:
            best, curve = result.optimal.mean(axis=1).tolist(), None
            if self.task.drift != "none":
                curve = windows(result.optimal, WINDOWS).round(6).tolist()
            return {**found, "unit": "V*", "best": best, "curve": curve}
        rewards = {name: self._rule(name) for name in self.task.rules}
        name = max(rewards, key=lambda each: float(np.mean(rewards[each])))
        means = {each: float(np.mean(values)) for each, values in rewards.items()}
        return {**found, "unit": name, "best": rewards[name], "curve": None, "rules": means}

    def _rule(self, name: str) -> list[float]:
        outcome = self._cell(f"rule:{name}").play(optimum=False)
        if outcome.get("failed"):
            raise AdambError(outcome["failed"])
        return [row["reward_per_episode"] for row in outcome["rows"]]

    def _cell(self, agent: str) -> Cell:
        fields = {**_problem_fields(self.task), "agent": agent, "agent_label": agent, "options": ()}
        return Cell(**fields, bonus=None, budget_bytes=None, seeds=self.seeds)


@dataclass(frozen=True)
class JobGroup:
    """Entries on one simulator, which draws what is asked of it once for all of them."""

    jobs: tuple[Entry, ...]

    def key(self) -> str:
        return digest_of([job.key() for job in self.jobs])

    def play(self) -> Outcome:
        """The outcomes in the order of the jobs."""
        return {"outcomes": play_schedules([job.schedule() for job in self.jobs])}


def with_known(entry: Entry, known: Sequence[Outcome]) -> Entry:
    """The entry with outcomes that may save runs. Ours gets none, as its layout may depend on the cap; nor
    does a user's own agent, as nobody knows what it makes of a cap."""
    own = entry.core is not None or names_file(entry.cell.agent)
    return entry if own else replace(entry, known=tuple(known))


def play_schedules(schedules: Sequence[TuningSchedule]) -> list[Outcome]:
    """The end of every schedule."""
    ends: dict[int, Outcome] = {}
    outcomes: dict[int, Any] = dict.fromkeys(range(len(schedules)))
    while outcomes:
        wanted: dict[int, list[Cell]] = {}
        for i, found in outcomes.items():
            try:
                wanted[i] = schedules[i].send(found)
            except StopIteration as end:
                ends[i] = end.value
        outcomes = _play(wanted)
    return [ends[i] for i in range(len(schedules))]


def _play(wanted: Mapping[int, Sequence[Cell]]) -> dict[int, list[Outcome]]:
    """Outcomes of the cells by who wanted them, in order."""
    groups: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
    for i, cells in wanted.items():
        for j, cell in enumerate(cells):
            alone = (i, j) if cell.curves else ()
            key = (cell.problem, cell.params, cell.seeds, cell.episodes, cell.horizon, cell.instance,
                   cell.drift, cell.continuing, alone)  # fmt: skip
            groups.setdefault(key, []).append((i, j))
    found: dict[tuple[int, int], Outcome] = {}
    for places in groups.values():
        found |= zip(places, play_cells([wanted[i][j] for i, j in places]), strict=True)
    return {i: [found[i, j] for j in range(len(cells))] for i, cells in wanted.items()}


PARTS = 2
"""Into so many runs the entries of one slow simulator at one budget are put: its draws are drawn so often."""


@dataclass(frozen=True)
class Bench:
    """A request: problems, budgets, rows; `quick` has fewer seeds, episodes and choices."""

    tasks: tuple[BenchmarkTask, ...]
    budgets: tuple[int, ...]
    contenders: tuple[BenchmarkContender, ...]
    seeds: Seeds
    quick: bool = False

    def budgets_of(self, task: BenchmarkTask, contender: BenchmarkContender) -> list[int | None]:
        """Long runs have the first budgets only; after a jump the controller is watched without a cap too."""
        found: list[int | None] = [each for each in self.budgets if task.group != "long" or each in FIRST_BUDGETS]
        uncapped = task.drift == "half" and contender.label == UNTUNED
        return [*found, None] if uncapped else found

    def with_everyone(self) -> Bench:
        """A request for all rows of the benchmark, and those of the user that were asked for."""
        own = [each for each in self.contenders if each.kind == OWN]
        return replace(self, contenders=(*find_contenders(None), *own))

    def entries(self) -> list[Entry]:
        """Everything, whether played already or not."""
        return [entry for phase in self.phases() for entry in phase]

    def references(self) -> list[Reference]:
        return [Reference(task, self.seeds.scored) for task in self.tasks]

    def phases(self) -> Iterator[list[Entry]]:
        """Entries that do not wait for one another, the most telling first."""
        rest = [each for each in self.budgets if each not in FIRST_BUDGETS]
        first = [each for each in FIRST_BUDGETS if each in self.budgets]
        orders: list[tuple[Sequence[int | None], tuple[str, ...]]] = [
            (first, ("stationary", "drift", "slow", "long")),
            ([*rest, None], ("stationary", "drift", "slow")),
        ]
        for budgets, groups in orders:
            for group in groups:
                for budget in budgets:
                    found = list(self._phase(group, budget))
                    if found:
                        yield found

    def _phase(self, group: str, budget: int | None) -> Iterator[Entry]:
        for task in self.tasks:
            if ("slow" if task.slow else task.group) != group:
                continue
            for contender in self.contenders:
                if contender.drift_only and task.drift == "none":
                    continue
                if budget in self.budgets_of(task, contender):
                    yield make_entry(task, contender, budget, self.seeds, quick=self.quick)


def make_bench(
    *,
    only: Sequence[str] | None = None,
    budgets: Sequence[int] | None = None,
    agents: Sequence[str] | None = None,
    quick: bool = False,
) -> Bench:
    """The benchmark or a part of it; unknown names are InputErrors."""
    wanted = tuple(sorted(set(budgets))) if budgets else FIRST_BUDGETS if quick else BUDGETS
    return Bench(
        tuple(find_tasks(only, quick=quick)),
        tuple(sorted(wanted)),
        tuple(find_contenders(agents)),
        QUICK_SEEDS if quick else SEEDS,
        quick,
    )


def store_of(folder: Path) -> JobStore:
    return JobStore(folder / "entries")


def relatives(store: JobStore, entry: Entry, budgets: Sequence[int]) -> Iterator[Outcome]:
    """Outcomes of the same contender at other budgets, or in the shorter runs of the same problem."""
    if entry.core is not None:
        return
    lengths = {entry.cell.episodes, entry.screening_episodes or entry.cell.episodes}
    for episodes in sorted(lengths):
        for budget in (*BUDGETS, *(each for each in budgets if each not in BUDGETS)):
            cell = replace(entry.cell, budget_bytes=budget, episodes=episodes)
            screening = entry.screening_episodes if episodes == entry.cell.episodes else None
            found = store.get(Entry(cell, entry.tuning_seeds, screening, None))
            if found is not None:
                yield found


def run_bench(bench: Bench, folder: Path, *, jobs: int | None = None, progress: Progress | None = None) -> None:
    """Play what is missing; `progress(done, of, job)` follows it."""
    store, workers = store_of(folder), local_workers(jobs)

    def play(missing: Sequence[Entry | Reference]) -> Iterator[tuple[Entry | Reference, Outcome]]:
        for job, outcome in workers(_grouped([_informed(each, store, bench) for each in missing], bench)):
            if isinstance(job, JobGroup):
                yield from zip(job.jobs, outcome["outcomes"], strict=True)
            else:
                yield job, outcome

    phases = list(_with_references(bench))
    everything = [job for phase in phases for job in phase]
    experiment = Experiment(store, play, len(everything), describe, progress)
    experiment.start(everything)
    for phase in phases:
        experiment.play(phase)
    experiment.raise_failures("the other entries are saved")


def _with_references(bench: Bench) -> Iterator[list[Entry | Reference]]:
    """The phases; what a problem has to offer is measured with the first of its entries."""
    waiting = {job.task.label: job for job in bench.references()}
    for phase in bench.phases():
        labels = dict.fromkeys(entry.cell.problem_label for entry in phase)
        first = [waiting.pop(label) for label in labels if label in waiting]
        yield [*first, *phase]


def _informed(job: Entry | Reference, store: JobStore, bench: Bench) -> Entry | Reference:
    if isinstance(job, Reference):
        return job
    return with_known(job, list(relatives(store, job, bench.budgets)))


def _grouped(jobs: Sequence[Entry | Reference], bench: Bench) -> list[Entry | Reference | JobGroup]:
    """The jobs of a phase, with the entries of a slow simulator in a few common runs."""
    slow = {task.label for task in bench.tasks if task.slow}
    by_task: dict[str, list[Entry]] = {}
    rest: list[Entry | Reference | JobGroup] = []
    for job in jobs:
        if isinstance(job, Entry) and job.cell.problem_label in slow and not names_file(job.cell.agent):
            by_task.setdefault(job.cell.problem_label, []).append(job)
        else:
            rest.append(job)
    groups = [JobGroup(tuple(found[i::PARTS])) for found in by_task.values() for i in range(PARTS) if found[i:]]
    return [*groups, *rest]


def describe(job: Entry | Reference) -> str:
    """A job in words."""
    from adamb.firmware_model.host.sizes import format_bytes

    if isinstance(job, Reference):
        return f"{job.task.label} × V*"
    budget = job.cell.budget_bytes
    cap = "no cap" if budget is None else format_bytes(budget)
    return f"{job.cell.problem_label} × {job.cell.agent_label}, {cap}"


def missing(bench: Bench, folder: Path) -> tuple[int, int]:
    """Number of entries of these problems and budgets that are not there, and of all; every row counts."""
    store = store_of(folder)
    everyone = bench.with_everyone().entries()
    return sum(store.get(entry) is None for entry in everyone), len(everyone)


def results(bench: Bench, folder: Path) -> tuple[dict[str, Outcome], list[Outcome]]:
    """Stored outcomes: references by problem, and those of entries. A part that was not played is absent."""
    store = store_of(folder)
    references = {job.task.label: store.get(job) for job in bench.references()}
    everyone = bench.with_everyone()
    outcomes = [store.get(entry) for entry in everyone.entries()]
    known = {label: found for label, found in references.items() if found is not None}
    return known, [found for found in outcomes if found is not None and found["problem"] in known]
