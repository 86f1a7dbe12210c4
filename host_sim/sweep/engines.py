"""Who computes the cells of a sweep: processes on this computer, or the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from adamb.budgets.errors import AdambError, InputError
from adamb.host_sim.provenance import version
from adamb.host_sim.sweep.cells import Outcome, run_cell
from adamb.host_sim.sweep.spec import Cell

RETRIES = 3


class Work(Protocol):
    """A piece of work with a name for its result."""

    def key(self) -> str: ...


Piece = TypeVar("Piece", bound=Work)
Engine = Callable[[Sequence[Cell]], Iterator[tuple[Cell, Outcome]]]


def local_engine(jobs: int | None = None) -> Engine:
    """Processes on this computer; a process that dies (out of memory, killed) costs only its own cell."""
    return processes(run_cell, jobs)


def processes(
    play: Callable[[Piece], Outcome], jobs: int | None = None
) -> Callable[[Sequence[Piece]], Iterator[tuple[Piece, Outcome]]]:
    """The same for any work that a function of a module can do."""

    def run(cells: Sequence[Piece]) -> Iterator[tuple[Piece, Outcome]]:
        from joblib import Parallel, cpu_count, delayed
        from joblib.externals.loky.process_executor import BrokenProcessPool

        workers = min(jobs or cpu_count(), len(cells))
        left, failures = {cell.key(): cell for cell in cells}, 0
        while left:
            pool = Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)
            try:
                for key, outcome in pool(delayed(_keyed)(play, cell) for cell in list(left.values())):
                    yield left.pop(key), outcome
            except BrokenProcessPool as error:
                failures += 1
                if failures > RETRIES:
                    reason = "a worker process died again and again (out of memory?); try fewer --jobs"
                    raise AdambError(f"{reason}; the finished cells are saved") from error

    return run


def _keyed(play: Callable[[Piece], Outcome], cell: Piece) -> tuple[str, Outcome]:
    return cell.key(), play(cell)


def dask_engine(address: str, timeout_seconds: float = 10) -> Engine:
    """Workers of a Dask cluster; a worker that dies gives its cells back to the scheduler."""

    def run(cells: Sequence[Cell]) -> Iterator[tuple[Cell, Outcome]]:
        with _client(address, timeout_seconds) as client:
            from distributed import KilledWorker, as_completed
            from distributed.client import FutureCancelledError
            from distributed.comm import CommClosedError

            here = version()
            futures = {
                client.submit(run_cell, cell, here, key=f"adamb-{cell.key()}", retries=RETRIES): cell
                for cell in cells
            }
            try:
                for future in as_completed(list(futures), loop=client.loop):
                    yield futures[future], future.result()
            except KilledWorker as error:
                raise AdambError(f"{error}; the finished cells are saved") from error
            except (CommClosedError, FutureCancelledError) as error:
                lost = f"the scheduler {address} went away; the finished cells are saved"
                raise AdambError(f"{lost}, the same command goes on from there") from error

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
