"""Will it fit? The worst case of a job, the block it needs, and what a given block allows.

A certificate is a number of bytes that no run of the job can exceed: it does not depend on the
environment, on what the controller chooses, or on the seed. Less memory than that is usually enough; the
controller then starts to reclaim when the block fills, which can happen at `first_binding_episode` at the
earliest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from adamb.budgets.boards import Board, board_names, load_board
from adamb.budgets.bounds.layout import Layout
from adamb.budgets.bounds.paper import partition_size, storage
from adamb.budgets.bounds.units import ControllerBound, reclaim_mark
from adamb.firmware_model import _spec as spec
from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.options import BLOCK_BYTES_MAX, MEMORY_OPTIONS, Number, exact, make_config
from adamb.firmware_model.host.sizes import parse_size

EPISODES_MAX = 10_000_000
UNIT_BYTES = int(spec.UNIT_WORDS) * 2

START_BYTES, START_STEPS, START_LONGER_BYTES = 4096, 5, 8192
"""To begin with: what suffices for nearly all of our problems, of five steps and of more (docs/sizing.md)."""
C_CORES = {"c": "the C core", "usermod": "the C core in MicroPython's firmware"}
ALWAYS, RECLAIMS, NEVER = "fits always", "fits until an episode, then reclaims", "does not fit"


def parse_dims(text: str, most: int = spec.DIM_MAX) -> tuple[int, int]:
    """`1+1` or `2+2`: state and action dimensions."""
    match = re.fullmatch(r"\s*(\d{1,3})\s*[+x,]\s*(\d{1,3})\s*", str(text))
    if match is None or not all(1 <= int(size) <= most for size in match.groups()):
        raise InputError("dims", text, f"write both dimensions, 1 to {most} each, as 1+1 or 2+3")
    return int(match[1]), int(match[2])


@dataclass(frozen=True)
class PlannedJob:
    """Job of a controller; anything left out follows from the mode.

    >>> job = PlannedJob(d_s=1, d_a=1, horizon=5, episodes=2000)
    >>> job.settings["share"], job.minimum_bytes < job.certificate_bytes
    ('auto', True)
    """

    d_s: int
    d_a: int
    horizon: int
    episodes: int
    mode: str = "tracking"
    share: str | None = None
    split: str | None = None
    gamma: Number | None = None
    phi: Number | None = None

    def __post_init__(self) -> None:
        Layout(self.d_s, self.d_a, self.horizon, self.mode)
        if not 1 <= self.episodes <= EPISODES_MAX:
            raise InputError("episodes", self.episodes, f"must be from 1 to {EPISODES_MAX}")

    @cached_property
    def settings(self) -> dict[str, Any]:
        """share, split, gamma and phi with the defaults of the mode filled in."""
        given = {"mode": self.mode, **{key: getattr(self, key) for key in MEMORY_OPTIONS}}
        words = make_config(self.d_s, self.d_a, self.horizon, given).words
        return {key: words[key] for key in MEMORY_OPTIONS}

    @cached_property
    def bound(self) -> ControllerBound:
        layout = Layout(self.d_s, self.d_a, self.horizon, self.mode)
        chosen = self.settings
        return ControllerBound(layout, layout.rule(chosen["gamma"], chosen["phi"], chosen["split"]), chosen["share"])

    @cached_property
    def certificate_bytes(self) -> int:
        """A block of this size starts, and never fills in the job's episodes."""
        return max(self.minimum_bytes, self.bound.block_bytes(self.episodes))

    @property
    def minimum_bytes(self) -> int:
        """Least bytes that init asks for: header, a few units per tree and V tree, the table of the sharing
        test."""
        small = int(spec.TREE_UNITS)
        per_step, shared = small * self.horizon, int(spec.SHARE_TABLE_UNITS) + small
        trees = per_step if self.settings["share"] == "off" else max(per_step, shared)
        units = self.bound.header_units + int(spec.POOL_SPARE) + trees + int(spec.VALUE_UNITS) * self.horizon
        return units * UNIT_BYTES


@dataclass(frozen=True)
class Plan:
    """The answer for one job, with or without a memory to fit into.

    >>> Plan(PlannedJob(1, 1, 5, 2000), budget_bytes=128).verdict
    'does not fit'
    """

    job: PlannedJob
    budget_bytes: int | None
    board: Board | None = None
    runtime: str | None = None
    measured_bytes: int | None = None
    """What was found to suffice for the task, where that was measured."""

    @property
    def certificate_bytes(self) -> int:
        return self.job.certificate_bytes

    @cached_property
    def units(self) -> int:
        return self.job.bound.units(self.job.episodes)

    @cached_property
    def leaves(self) -> int:
        return self.job.bound.forest.leaves(self.job.episodes)

    @cached_property
    def first_binding_episode(self) -> int | None:
        """The first episode in which the block can be full enough for reclaiming; None if it never can."""
        if self.budget_bytes is None:
            return None
        return self.job.bound.first_binding_episode(self.budget_bytes, EPISODES_MAX)

    @cached_property
    def largest_episodes(self) -> int | None:
        """The most episodes for which this memory is certain to be enough; None without a limit."""
        first = self.first_binding_episode
        return None if first is None else max(0, first - 1)

    @property
    def start_bytes(self) -> int:
        """A block to begin with, as far as there is room: not a bound, but measured, or a rule from measurements."""
        if self.measured_bytes is not None:
            return self.measured_bytes
        wanted = START_BYTES if self.job.horizon <= START_STEPS else START_LONGER_BYTES
        return max(self.job.minimum_bytes, min(wanted, self.budget_bytes or wanted))

    @property
    def verdict(self) -> str:
        available = BLOCK_BYTES_MAX if self.budget_bytes is None else min(self.budget_bytes, BLOCK_BYTES_MAX)
        if available < self.job.minimum_bytes:
            return NEVER
        return ALWAYS if self.certificate_bytes <= available else RECLAIMS

    @property
    def sentence(self) -> str:
        """The verdict with its number."""
        if self.verdict == RECLAIMS and self.first_binding_episode is not None:
            return f"fits until episode {self.first_binding_episode}, then reclaims"
        if self.verdict == ALWAYS:
            return f"fits always: at most {self.certificate_bytes} bytes in {self.job.episodes} episodes"
        if self.verdict == NEVER:
            return f"does not fit: {self.job.minimum_bytes} bytes are needed to start"
        return f"fits until the pool's limit of {BLOCK_BYTES_MAX} bytes, then reclaims"

    @cached_property
    def changes(self) -> list[str]:
        """Changes that would make the verdict `fits always`, cheapest first; empty when it is."""
        if self.verdict == ALWAYS or self.budget_bytes is None:
            return []
        ideas, room = [], self.board.available_bytes(self.runtime) if self.board else BLOCK_BYTES_MAX
        if self.verdict == RECLAIMS:
            ideas.append("nothing, if reclaiming is acceptable: the cap holds anyway")
            if phi := self._phi_that_fits():
                ideas.append(f"phi {phi} (a coarser partition): at most {self._with(phi=phi)} bytes")
            if self.job.settings["share"] != "on" and self._with(share="on") <= self.budget_bytes:
                ideas.append(f"share on (one tree for all steps): at most {self._with(share='on')} bytes")
        if self.verdict == NEVER:
            for runtime, what in C_CORES.items():
                if self.board and self.runtime not in ("c", runtime):
                    there = self.board.available_bytes(runtime)
                    if there >= self.job.minimum_bytes:
                        ideas.append(f"{what}, --runtime {runtime}: {there} bytes there")
            if self.job.minimum_bytes <= room:
                ideas.append(f"a budget of {self.job.minimum_bytes} bytes or more")
        if self.certificate_bytes <= BLOCK_BYTES_MAX and (self.verdict != NEVER or room):
            beyond = "" if self.certificate_bytes <= room else ", more than this board has"
            ideas.append(f"a budget of {self.certificate_bytes} bytes, which fits always{beyond}")
        wanted = self.certificate_bytes if self.verdict == RECLAIMS else self.job.minimum_bytes
        board = smallest_board(wanted, self.runtime)
        if board and board.name != _name(self.board):
            ideas.append(f"the board {board.name}")
        if self.verdict == NEVER and room:
            ideas.append(f"a horizon below {self.job.horizon} or fewer dimensions")
        return ideas

    def _with(self, **changed: Any) -> int:
        return replace(self.job, **changed).certificate_bytes

    def _phi_that_fits(self) -> int | None:
        """The smallest power-of-two multiple of phi, as a whole number, that fits always."""
        assert self.budget_bytes is not None
        phi = max(1, round(exact("phi", self.job.settings["phi"])))
        for _ in range(10):
            phi *= 2
            if self._with(phi=phi) <= self.budget_bytes:
                return phi
        return None

    @property
    def finest_because(self) -> str:
        """Why balls get no finer than the finest level of the job."""
        tree, level = self.job.bound.forest.tree, self.job.bound.forest.finest_leaf(self.job.episodes)
        needed = tree.samples_for_level(level + 1)
        return self.job.bound.rule.finest_because if needed is None else f"the next takes {needed} samples of one tree"

    def parts(self) -> dict[str, int]:
        """The most units of each kind: each in a history of its own, so they add up to more than `units`."""
        kinds = ("records", "blocks", "counts", "values")
        return {kind: self.job.bound.most(kind, self.job.episodes) for kind in kinds}

    def paper(self) -> dict[str, Any]:
        """The paper's bounds beside ours; for split=own only, as its lemma is."""
        chosen, job = self.job.settings, self.job
        d, (gamma, phi) = job.d_s + job.d_a, (float(exact(name, chosen[name])) for name in ("gamma", "phi"))
        trees, samples = job.bound.forest.shapes(job.episodes)[0]
        leaves = partition_size(samples, d=d, gamma=gamma, phi=phi)
        entries = storage(samples, horizon=trees, d=d, d_s=job.d_s, gamma=gamma, phi=phi)
        return {
            "leaves": trees * leaves.value,
            "leaves_condition_met": leaves.met and chosen["split"] == "own",
            "entries": entries.value,
            "entries_condition_met": entries.met and chosen["split"] == "own",
            "exponent": entries.exponent,
        }

    def to_json(self) -> dict[str, Any]:
        job, rule = self.job, self.job.bound.rule
        plain = {key: v if isinstance(v, str | int | float) else str(v) for key, v in job.settings.items()}
        needs = {"start": self.start_bytes, "always": self.certificate_bytes, "at_all": job.minimum_bytes}
        smallest = {name: _name(smallest_board(needed, self.runtime)) for name, needed in needs.items()}
        mark = None if self.budget_bytes is None else reclaim_mark(self.budget_bytes // UNIT_BYTES)
        return {
            "dims": f"{job.d_s}+{job.d_a}",
            "horizon": job.horizon,
            "episodes": job.episodes,
            "mode": job.mode,
            **plain,
            "thresholds": list(rule.thresholds),
            "finest_level": job.bound.forest.finest_leaf(job.episodes),
            "finest_possible": rule.finest,
            "finest_because": self.finest_because,
            "leaves": self.leaves,
            "units": self.units,
            "parts": self.parts(),
            "entries": job.bound.most("entries", job.episodes),
            "bytes": self.certificate_bytes,
            "start_bytes": self.start_bytes,
            "header_bytes": job.bound.header_units * UNIT_BYTES,
            "minimum_bytes": job.minimum_bytes,
            "paper": self.paper(),
            "board": _name(self.board),
            "runtime": self.runtime,
            "budget_bytes": self.budget_bytes,
            "reclaim_mark_units": mark,
            "first_binding_episode": self.first_binding_episode,
            "largest_episodes": self.largest_episodes,
            "smallest_board": smallest,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "fits": self.verdict != NEVER,
            "change": self.changes,
        }


def _name(board: Board | None) -> str | None:
    return None if board is None else board.name


def smallest_board(needed: int, runtime: str | None = None) -> Board | None:
    """Of our boards the one with the least memory that has room for a block of so many bytes.

    >>> smallest_board(PlannedJob(1, 1, 5, 2000).minimum_bytes).name
    'uno'
    """
    if needed > BLOCK_BYTES_MAX:
        return None
    boards = [load_board(name) for name in board_names()]
    if runtime in ("micropython", "usermod"):
        boards = [board for board in boards if board.micropython_heap_bytes is not None]
    fitting = [board for board in boards if board.available_bytes(runtime) >= needed]
    return min(fitting, key=lambda board: (board.ram_bytes, board.name), default=None)


def plan(
    job: PlannedJob, *, board: str | None = None,
    budget_bytes: int | str | None = None, runtime: str | None = None,
) -> Plan:  # fmt: skip
    """Plan a job for a board, for a number of bytes (the smaller of both counts), or for no limit at all.

    >>> plan(PlannedJob(1, 1, 5, episodes=100), board="rp2040").verdict
    'fits always'
    """
    found = load_board(board) if board is not None else None
    limits = [] if budget_bytes is None else [parse_size(budget_bytes)]
    if found is not None:
        limits.append(found.available_bytes(runtime))
        runtime = runtime or found.runtime
    return Plan(job, min(*limits, BLOCK_BYTES_MAX) if limits else None, found, runtime)
