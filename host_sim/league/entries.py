"""One entry of the league: a contender on a problem at a budget, tuned and scored; and what reward there was
to be had.

An entry is done whole or not at all. What a rival did at one budget is what it does at every budget that its
peak leaves room in, so trials are handed from budget to budget and not played again.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from adamb.budgets.errors import AdambError
from adamb.host_sim.league.courses import Course, Trials, play_courses
from adamb.host_sim.league.protocol import (
    EPISODES,
    OURS,
    SLOW_TUNING,
    WINDOWS,
    LeagueContender,
    LeagueTask,
    Seeds,
    grid_for,
)
from adamb.host_sim.provenance import spec_hash, version
from adamb.host_sim.runner import simulate
from adamb.host_sim.sweep.cells import Outcome, run_cell
from adamb.host_sim.sweep.spec import Cell, Choice
from adamb.host_sim.user_code import names_file

FINALISTS = 4
"""So many of the best choices of a short run are tried again in long runs."""
ROOM_BYTES = 256
"""More than any rival asks for at once: with so much left at its peak, no request was ever refused."""


@cache
def core_digest() -> str:
    """Of the controller that runs here: its library as loaded, and what turns options into its numbers."""
    from adamb.firmware_model.host import binding

    name = "_core" if binding.loaded_as == "extension" else "binding"
    budgets = [f"adamb.budgets.{part}" for part in ("controller", "bounds.paper", "thresholds")]
    digest = hashlib.sha256(str(spec_hash()).encode())
    for module in [f"adamb.firmware_model.host.{name}", *budgets, "adamb.host_sim.agents.core"]:
        digest.update(Path(str(import_module(module).__file__)).read_bytes())
    return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Entry:
    """What to play; `known` are outcomes of the same contender that may save runs, never change results."""

    cell: Cell
    tuning_seeds: tuple[int, ...]
    screening_episodes: int | None
    core: str | None
    known: tuple[Outcome, ...] = field(default=(), compare=False)

    def key(self) -> str:
        """A name for the result: rivals by their options, ours also by the core that plays."""
        tuning = [self.tuning_seeds, self.screening_episodes] if self.cell.tune else []
        return _digest([self.cell.key(), tuning, self.core])

    def play(self) -> Outcome:
        return play_courses([self.course()])[0]

    def course(self) -> Course:
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
        """What each choice earns on the tuning seeds, played or known."""
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


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:20]


def make_entry(
    task: LeagueTask, contender: LeagueContender, budget_bytes: int | None, seeds: Seeds, *, quick: bool
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


def _problem_fields(task: LeagueTask) -> dict[str, Any]:
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
    """The reward that is possible on a problem: V*, or the best baseline; and that of random actions."""

    task: LeagueTask
    seeds: tuple[int, ...]

    def key(self) -> str:
        fields = {**_problem_fields(self.task), "problem_label": None}
        return _digest(["reference", fields, self.task.baselines, self.seeds, version()])

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
                curve = windows(result.optimal).round(6).tolist()
            return {**found, "unit": "V*", "best": best, "curve": curve}
        rewards = {name: self._baseline(name) for name in self.task.baselines}
        name = max(rewards, key=lambda each: float(np.mean(rewards[each])))
        means = {each: float(np.mean(values)) for each, values in rewards.items()}
        return {**found, "unit": name, "best": rewards[name], "curve": None, "baselines": means}

    def _baseline(self, name: str) -> list[float]:
        outcome = run_cell(self._cell(f"baseline:{name}"), optimum=False)
        if outcome.get("failed"):
            raise AdambError(outcome["failed"])
        return [row["reward_per_episode"] for row in outcome["rows"]]

    def _cell(self, agent: str) -> Cell:
        fields = {**_problem_fields(self.task), "agent": agent, "agent_label": agent, "options": ()}
        return Cell(**fields, bonus=None, budget_bytes=None, seeds=self.seeds)


def windows(values: np.ndarray) -> np.ndarray:
    """Means of (n, K) over WINDOWS equal parts of the run, as the curves of a cell have them."""
    from adamb.host_sim.runner import record_points

    points = record_points(values.shape[1], WINDOWS)
    sums = np.cumsum(np.pad(values, ((0, 0), (1, 0))), axis=1)[:, [0, *points]]
    return np.diff(sums, axis=1) / np.diff([0, *points])


@dataclass(frozen=True)
class Joint:
    """Entries on one simulator, which draws what is asked of it once for all of them."""

    entries: tuple[Entry, ...]

    def key(self) -> str:
        return _digest([entry.key() for entry in self.entries])

    def play(self) -> Outcome:
        """The outcomes in the order of the entries."""
        return {"entries": play_courses([entry.course() for entry in self.entries])}


Piece = Entry | Reference


def play(piece: Piece | Joint) -> Outcome:
    """For an engine: a function of a module."""
    return piece.play()


def with_known(entry: Entry, known: Sequence[Outcome]) -> Entry:
    """The entry with outcomes that may save runs. Ours gets none, as its layout may depend on the cap; nor
    does a user's own agent, as nobody knows what it makes of a cap."""
    own = entry.core is not None or names_file(entry.cell.agent)
    return entry if own else replace(entry, known=tuple(known))
