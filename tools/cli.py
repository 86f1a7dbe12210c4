"""The `adamb` command. Each subcommand registers itself; errors become one line and an exit code here."""

from __future__ import annotations

import codecs
import io
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from adamb.firmware_model.host import StaleCore
from adamb.firmware_model.host.errors import AdambError, InputError
from adamb.tools.stopping import INTERRUPTED, OK, USAGE, sigterm_as_interrupt
from adamb.tools.terminal import QUIET

PANELS = ("Experiments", "Budgets", "Boards and chips", "More")
"""Headings of `adamb --help`; a command names its own when it registers itself."""
RENAMED = {
    "agents": "list agents", "bench": "sweep benchmark", "boards": "list boards", "check-budget": "profile --check",
    "doctor": "list tools", "lookahead": "compare --lookahead", "problems": "list problems",
    "snapshot": "inspect FILE --out", "speed": "latency --target implementations", "trace": "inspect",
}  # fmt: skip
"""What a command was called before."""


class Commands(TyperGroup):
    """Every file of commands/ is a command, imported when it is asked for: that keeps the start quick.

    A file has the name of its command, and a `register(app)`. A name without a file is one of before, or a
    mistake; for the help text all files are imported.
    """

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.waiting = {path.stem for path in (Path(__file__).parent / "commands").glob("[!_]*.py")}

    def list_commands(self, ctx: Any) -> list[str]:
        for stem in tuple(self.waiting):
            self._load(stem)
        commands: Any = self.commands
        order = {panel: place for place, panel in enumerate(PANELS)}
        return sorted(commands, key=lambda name: (order.get(commands[name].rich_help_panel, len(order)), name))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        self._load(cmd_name)
        if cmd_name in RENAMED:
            raise InputError("command", cmd_name, f"is now adamb {RENAMED[cmd_name]}")
        if cmd_name not in self.commands:
            self.list_commands(ctx)
        return self.commands.get(cmd_name)

    def invoke(self, ctx: Any) -> Any:
        """Here, because further up Ctrl-C is already an exit code without a word."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            print("adamb: stopped", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None

    def _load(self, stem: str) -> None:
        if stem in self.waiting:
            self.waiting.remove(stem)
            found = typer.Typer()
            import_module(f"adamb.tools.commands.{stem}").register(found)
            self.commands.update(typer.main.get_group(found).commands)


app = typer.Typer(
    name="adamb",
    cls=Commands,
    help="Model-based reinforcement learning with adaptive discretization inside a fixed number of bytes.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _root(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
    quiet: bool = typer.Option(False, "--quiet", help="Show no progress; may stand anywhere in the line."),
) -> None:
    QUIET.set(quiet)
    if version:
        from adamb.host_sim.provenance import version as installed

        typer.echo(f"adamb {installed()}")
        raise typer.Exit(OK)


def _refuse_dash(given: Sequence[str]) -> None:
    """No command prints what --out names: a page, pictures and folders are no text."""
    if "--out=-" in given or ("--out", "-") in pairwise(given):
        raise InputError("out", "-", "names a file or a folder; only --json takes - for standard output")


NO_MEMORY = "there is not enough memory; take fewer seeds or episodes, or raise the limit (ulimit -v)"
#: How the loader says that a limit on memory left no room for a library (glibc, musl).
UNMAPPED = ("failed to map segment", "cannot allocate memory", "Cannot allocate memory", "Error mapping")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; a mistake of the user becomes one line on stderr and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        speak_plainly(stream)
    command: Any = typer.main.get_command(app)
    try:
        with sigterm_as_interrupt():
            given = list(sys.argv[1:] if arguments is None else arguments)
            given.sort(key=lambda word: word != "--quiet")  # wherever it stood
            _refuse_dash(given)
            code = command.main(args=given, prog_name="adamb", standalone_mode=False)
        return code if isinstance(code, int) else OK
    except AdambError as error:
        return _fail(str(error))
    except OSError as error:
        from adamb.tools.outputs import describe_os_error

        return _fail(describe_os_error(error))
    except MemoryError:
        return _fail(NO_MEMORY)
    except StaleCore as error:
        return _fail(str(error))
    except (Exception, SystemExit) as error:
        if isinstance(error, ImportError) and any(words in str(error) for words in UNMAPPED):
            return _fail(f"{NO_MEMORY} ({error})")
        if hasattr(error, "format_message"):
            return _usage_error(error)
        from adamb.host_sim.user_code import locate_in_user_code

        found = locate_in_user_code(error)
        if not isinstance(found, AdambError):
            raise
        return _fail(str(found))


PLAIN = {"±": "+-", "–": "-", "—": "-", "−": "-", "…": "...", "×": "x", "·": "*", "µ": "u", "∞": "inf"}
PLAIN |= {"≤": "<=", "≥": ">=", "≲": "<~", "→": "->", "√": "sqrt", "✓": "ok", "✕": "!!", "█": "#"}
PLAIN |= {"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "π": "pi", "φ": "phi"}
PLAIN |= {"Σ": "sum", "ℓ": "l", "⌈": "ceil(", "⌉": ")", "▲": "^", "▼": "v", "°": " deg", "½": "1/2", "₊": "+"}


def speak_plainly(stream: Any) -> None:
    """A terminal that knows only ASCII gets other letters in place of those that it cannot show."""
    if not isinstance(stream, io.TextIOWrapper):
        return  # text kept in memory has no encoding to fail
    try:
        "±─é".encode(stream.encoding)
    except UnicodeEncodeError:
        codecs.register_error("adamb", _plain)
        stream.reconfigure(errors="adamb")
    except LookupError:
        return


def _plain(error: Any) -> tuple[str, int]:
    """What cannot be encoded, sign by sign: lines of tables, our own signs, letters without their accent."""
    from unicodedata import normalize  # rarely needed

    def plain(sign: str) -> str:
        if "─" <= sign <= "╿":
            return "-"
        bare = normalize("NFKD", sign)[0]
        return PLAIN.get(sign) or (bare if bare.isascii() else "?")

    return "".join(map(plain, error.object[error.start : error.end])), error.end


NUMBERS = {"int": "a whole number", "integer": "a whole number", "float": "a number"}


def _wrong_number(error: Any) -> str | None:
    """`episodes = '1e3': must be a whole number`; None where the complaint is another one.

    The message of the library leaves out the value, which its cause has; in older versions it was there.
    """
    found: list[Any] = getattr(error.__cause__, "errors", list)()
    older = re.fullmatch(r"(.+) is not a valid (\w+)\.", getattr(error, "message", ""))
    value, word = older.groups() if older else ("", "")
    if found:
        value, word = repr(found[0]["input"]), found[0]["type"].partition("_")[0]
    return f"{error.param.name} = {value}: must be {NUMBERS[word]}" if word in NUMBERS else None


def _usage_error(error: Any) -> int:
    """Click's own complaints (unknown option, not a number) in the same form as ours."""
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message(), file=sys.stderr)
        return USAGE
    context: Any = getattr(error, "ctx", None)
    path = getattr(context, "command_path", "adamb")
    message = _wrong_number(error) or " ".join(error.format_message().split())
    return _fail(f"{message} ({_setting(error, context)}see {path} --help)")


def _setting(error: Any, context: Any) -> str:
    """What to write for an option that is none, but the name of a setting."""
    name = str(getattr(error, "option_name", "")).removeprefix("--")
    taken = {option for each in getattr(getattr(context, "command", None), "params", ()) for option in each.opts}
    if not name or not {"--set", "--agent-set"} & taken:
        return ""
    from adamb.firmware_model.host.options import OPTIONS
    from adamb.tools.options import SETTINGS

    of_agent = name.replace("-", "_") in OPTIONS and "--agent-set" in taken
    of_problem = name in SETTINGS and "--set" in taken
    option = "--agent-set" if of_agent else "--set"
    return f"write {option} {name}=VALUE; " if of_agent or of_problem else ""


def _fail(message: str) -> int:
    print(f"adamb: error: {' '.join(message.split())}", file=sys.stderr)
    return USAGE


if __name__ == "__main__":
    sys.exit(main())
