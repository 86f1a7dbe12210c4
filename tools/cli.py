"""The `adamb` command. Each subcommand registers itself; errors and exit codes are decided here."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import typer

from adamb.budgets.errors import AdambError

COMMANDS = (
    "run_command",
    "compare_command",
    "planning_command",
    "sweep_command",
    "bench_command",
    "boards_command",
    "plan_command",
    "profile_command",
    "check_budget_command",
    "speed_command",
    "latency_command",
    "port_command",
    "trace_command",
    "snapshot_command",
    "report_command",
    "inspect_command",
    "doctor_command",
)
"""Modules of this package with `register(app)`, in the order of the help text."""

OK, VIOLATED, USAGE, INTERRUPTED = 0, 1, 2, 130

app = typer.Typer(
    name="adamb",
    help="Model-based reinforcement learning with adaptive discretization inside a fixed number of bytes.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _root(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    if version:
        from adamb.host_sim.runner import version as installed

        typer.echo(f"adamb {installed()}")
        raise typer.Exit(OK)


for _module in COMMANDS:
    import_module(f"adamb.tools.{_module}").register(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; a mistake of the user becomes one line on stderr and exit code 2."""
    command: Any = typer.main.get_command(app)
    try:
        code = command.main(
            args=None if arguments is None else list(arguments), prog_name="adamb", standalone_mode=False
        )
        return code if isinstance(code, int) else OK
    except AdambError as error:
        return _fail(str(error))
    except (KeyboardInterrupt, typer.Abort):
        print("adamb: stopped", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        return _fail(describe_os_error(error))
    except MemoryError:
        return _fail("this computer has not enough memory for that; take fewer seeds or episodes")
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        return _usage_error(error)


def describe_os_error(error: OSError) -> str:
    """What went wrong with which file, in one line."""
    reason = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {reason}" if error.filename else reason


def _usage_error(error: Any) -> int:
    """Click's own complaints (unknown option, not a number) in the same form as ours."""
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message(), file=sys.stderr)
        return USAGE
    context = getattr(error, "ctx", None)
    path = getattr(context, "command_path", "adamb")
    return _fail(f"{' '.join(error.format_message().split())} (see {path} --help)")


def _fail(message: str) -> int:
    print(f"adamb: error: {' '.join(message.split())}", file=sys.stderr)
    return USAGE


if __name__ == "__main__":
    sys.exit(main())
