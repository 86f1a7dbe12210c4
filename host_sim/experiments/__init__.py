"""Experiments: jobs that are not in the store are played, here or on a cluster, and every finished one is kept.

Every outcome is a file of its own, written whole and flushed before the next is taken, so an experiment that is
killed at any moment resumes with what is missing when it is started again. This is the only way to resume.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from adamb.firmware_model.host.errors import AdambError, InputError
from adamb.host_sim.experiments.cell import Outcome
from adamb.host_sim.files import PART, json_bytes, write_atomic
from adamb.host_sim.provenance import version

RETRIES = 3


class Job(Protocol):
    """Work that is done whole or not at all: a cell, or several that depend on one another."""

    def key(self) -> str:
        """A name for the outcome: a hash of all that decides it, with the version of the code."""

    def play(self) -> Outcome:
        """Plain data; `failed` in it says why there is nothing to keep."""

    def holds(self, outcome: Outcome) -> bool:
        """Whether a stored outcome is a whole one of this job."""


Workers = Callable[[Sequence[Any]], Iterator[tuple[Any, Outcome]]]
Progress = Callable[[int, int, Any], None]
"""Called with how many jobs are done, of how many, and the last one; None for it at the start."""


class JobStore:
    """A folder of outcomes, one file for each finished job."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, job: Job) -> Outcome | None:
        """The outcome, or None while the job is not done or its file is not whole."""
        try:
            outcome = json.loads((self.folder / f"{job.key()}.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        return outcome if isinstance(outcome, dict) and job.holds(outcome) else None

    def put(self, job: Job, outcome: Outcome) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomic(self.folder / f"{job.key()}.json", json_bytes(outcome, indent=None))

    def clean(self) -> None:
        """Remove what a killed process was writing."""
        for part in self.folder.glob(f".*{PART}"):
            part.unlink()


class Experiment:
    """Plays the jobs that the store does not have, and counts.

    A job that fails does not stop the others; `describe` names it in the error that ends the experiment.
    """

    def __init__(
        self, store: JobStore, workers: Workers, total: int, describe: Callable[[Any], str], progress: Progress | None
    ) -> None:
        self.store, self.workers, self.describe = store, workers, describe
        self.progress = progress or (lambda done, total, job: None)
        self.done, self.total = 0, total
        self.counted: set[str] = set()
        self.failures: list[str] = []

    def start(self, known: Sequence[Job]) -> None:
        """Report how much is there from before; what depends on other jobs counts when it comes."""
        self._missing(known)
        self.progress(self.done, self.total, None)

    def _missing(self, jobs: Sequence[Job]) -> list[Job]:
        """The jobs that are not done; the others are counted once."""
        missing = []
        for job in jobs:
            if self.store.get(job) is None:
                missing.append(job)
            elif (key := job.key()) not in self.counted:
                self.counted.add(key)
                self.done += 1
        return missing

    def play(self, jobs: Sequence[Job]) -> None:
        missing = self._missing(jobs)
        for job, outcome in self.workers(missing) if missing else ():
            if outcome.get("failed"):
                self.failures.append(f"{self.describe(job)}: {outcome['failed']}")
                continue
            self.store.put(job, outcome)
            self.counted.add(job.key())
            self.done += 1
            self.progress(self.done, self.total, job)

    def raise_failures(self, saved: str) -> None:
        if self.failures:
            others = f" (and {len(self.failures) - 1} more)" if len(self.failures) > 1 else ""
            raise AdambError(f"{self.failures[0]}{others}; {saved}")


def play_job(job: Job, expected_version: str) -> tuple[str, Outcome]:
    """Run by a worker, which may be another computer with another version."""
    if expected_version != version():
        raise AdambError(f"a worker has adamb {version()}, the sweep {expected_version}; they must be equal")
    return job.key(), job.play()


def local_workers(processes: int | None = None) -> Workers:
    """Processes on this computer; a process that dies (out of memory, killed) costs only its own job."""

    def run(jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome]]:
        from joblib import Parallel, cpu_count, delayed
        from joblib.externals.loky.process_executor import BrokenProcessPool

        n = min(processes or cpu_count(), len(jobs))
        here, left, failures = version(), {job.key(): job for job in jobs}, 0
        while left:
            pool = Parallel(n_jobs=n, return_as="generator_unordered", batch_size=1)
            try:
                for key, outcome in pool(delayed(play_job)(job, here) for job in list(left.values())):
                    yield left.pop(key), outcome
            except BrokenProcessPool as error:
                failures += 1
                if failures > RETRIES:
                    reason = "a worker process died again and again (out of memory?); try fewer --jobs"
                    raise AdambError(f"{reason}; the finished cells are saved") from error

    return run


def dask_workers(address: str, timeout_seconds: float = 10) -> Workers:
    """Workers of a Dask cluster; a worker that dies gives its jobs back to the scheduler."""

    def run(jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome]]:
        with _client(address, timeout_seconds) as client:
            from distributed import KilledWorker, as_completed
            from distributed.client import FutureCancelledError
            from distributed.comm import CommClosedError

            here = version()
            futures = {
                client.submit(play_job, job, here, key=f"adamb-{job.key()}", retries=RETRIES): job for job in jobs
            }
            try:
                for future in as_completed(list(futures), loop=client.loop):
                    yield futures[future], future.result()[1]
            except KilledWorker as error:
                raise AdambError(f"{error}; the finished cells are saved") from error
            except (CommClosedError, FutureCancelledError) as error:
                lost = f"the scheduler {address} went away; the finished cells are saved"
                raise AdambError(f"{lost}, the same command resumes there") from error

    return run


def _client(address: str, timeout_seconds: float) -> Any:
    try:
        import logging

        from distributed import Client
    except ImportError:
        raise InputError("engine", "dask", "is not installed; pip install 'adamb[cluster]'") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=timeout_seconds, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split()) or "no answer"
        raise InputError("scheduler", address, f"cannot be reached: {reason}") from None
    try:
        client.wait_for_workers(1, timeout=timeout_seconds)
    except TimeoutError:
        client.close()
        raise InputError("scheduler", address, "has no workers") from None
    return client
