"""`--trace FILE`: the files a problem replays, as the parameter the problem knows them by."""

from __future__ import annotations

from adamb.budgets.errors import InputError

HELP = "trace file to replay in place of the synthetic workload; once more for a second tenant"


def with_traces(problem: str, parameters: dict[str, str], traces: list[str] | None) -> dict[str, str]:
    """The parameters with `trace` set; an InputError where the problem takes another number of files."""
    if not traces:
        return parameters
    from adamb.host_sim.registry import problem_class

    cls, _ = problem_class(problem)
    taken = getattr(cls, "trace_files", 0)
    shown = " ".join(traces)
    if not taken:
        raise InputError("trace", shown, f"{problem} replays no trace; dram-* take one, cache-* two")
    if "trace" in parameters:
        raise InputError("trace", shown, f"is given by --set trace={parameters['trace']} already")
    if len(traces) != taken:
        files = "one file" if taken == 1 else f"{taken} files, --trace A --trace B, one a tenant"
        raise InputError("trace", shown, f"{problem} takes {files}")
    if taken > 1 and any("," in path for path in traces):
        raise InputError("trace", shown, "a comma separates the files, so none may have one in its name")
    return {**parameters, "trace": ",".join(traces)}
