"""What the documents say is so: their blocks run, commands print their tables, what they name exists."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from adamb.tools.cli import app
from adamb.tools.documents import Block, blocks, difference, environment, regions, run

ROOT = Path(__file__).parents[2]
DOCUMENTS = [path for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))] if path.is_file()]
NAMES = [path.relative_to(ROOT).as_posix() for path in DOCUMENTS]
RUNNABLE = ("sh", "python")


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def commands_of(block: Block) -> str:
    """The lines as a user of this installation would type them; `make TARGET` becomes the target's recipe."""
    lines = []
    for line in block.body.splitlines():
        made = re.fullmatch(r"make (\w+)", line.strip())
        lines += _recipe(made[1]) if made else [line]
    return "set -eu\n" + "\n".join(lines).replace(".venv/bin/", "")


def _recipe(target):
    """What make would run for a target once everything is installed."""
    command = ["make", "--no-print-directory", "-n", "-o", ".venv/.installed", target]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def execute(block: Block, folder: Path) -> None:
    if block.file is not None:
        (folder / block.file).write_text(block.body, encoding="utf-8")
    if "test" not in block.words or block.language not in RUNNABLE:
        return
    python = [sys.executable, "-c", block.body]
    command = python if block.language == "python" else ["bash", "-c", commands_of(block)]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"block at line {block.line}:\n{block.body}\n{done.stdout}{done.stderr}"
    assert "Traceback" not in done.stderr and "Warning" not in done.stderr, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_blocks_of_a_document_run_in_their_order(name, tmp_path):
    found = blocks(text_of(name))
    for block in found:
        execute(block, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_every_command_block_is_tested(name):
    for block in blocks(text_of(name)):
        if block.language in RUNNABLE:
            assert "test" in block.words, f"{name}, line {block.line}: not marked as tested"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "command"), [(name, each.command) for name in NAMES for each in regions(text_of(name))]
)
def test_a_table_is_what_its_command_prints(name, command):
    region = next(each for each in regions(text_of(name)) if each.command == command)
    found = difference(region.body, region.made())
    assert found is None, f"{name}: `{command}` prints something else (make tables renews it)\n{found}"


@pytest.mark.parametrize("name", NAMES)
def test_every_table_of_numbers_has_a_command(name):
    """Means with intervals stand only in sections that say which command prints them."""
    text = text_of(name)
    for region in regions(text):
        text = text.replace(region.body, "")
    for section in re.split(r"^#+ ", text, flags=re.MULTILINE):
        if "±" in section:
            assert re.search(r"^```\w*\nadamb ", section, re.MULTILINE), section.splitlines()[0]


def quoted_tables(text):
    """Command -> {first cell of a row: the second, with an interval}, for a block and the table after it."""
    found = {}
    for command, table in re.findall(r"^```\n(adamb [^\n]+)\n```\n\n((?:\|.*\n)+)", text, re.MULTILINE):
        rows = [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
        found[command] = {row[0]: row[1] for row in rows if "±" in row[1]}
    return found


@pytest.mark.slow
@pytest.mark.parametrize("problem", ["dram-lite", "dram-drain", "allocation-2x1"])
def test_a_quoted_comparison_is_what_its_command_prints(problem):
    """Those of docs/on-chip.md that take seconds; the others differ from these in problem and budget only."""
    tables = quoted_tables(text_of("docs/on-chip.md"))
    command = next(each for each in tables if each.startswith(f"adamb compare {problem} "))
    printed = {}
    for line in run(f"{command} --quiet").splitlines():
        mean = re.search(r"-?[\d.]+ ± [\d.]+", line)
        if mean:
            printed[line[: mean.start()].strip()] = mean[0]
    assert len(tables[command]) > 5
    for label, mean in tables[command].items():
        assert difference(mean, printed[label]) is None, f"{command}: {label}: {mean}, now {printed[label]}"


@pytest.mark.parametrize("name", NAMES)
def test_files_and_tests_that_a_document_names_exist(name):
    folders = "tests|tools|host_sim|budgets|firmware_model|docs"
    for path, _, test in re.findall(rf"`((?:{folders})/[\w/.-]*?)(::(\w+))?`", text_of(name)):
        assert (ROOT / path).exists(), path
        if test:
            assert f"def {test}(" in (ROOT / path).read_text(), f"{path}::{test}"
    for link in re.findall(r"\]\((?!http)([^)#]+)\)", text_of(name)):
        assert ((ROOT / name).parent / link).exists(), link


@pytest.mark.parametrize("name", NAMES)
def test_commands_that_a_document_names_exist(name):
    known = {command.name for command in app.registered_commands} | {g.name for g in app.registered_groups}
    for command in re.findall(r"`adamb ([a-z][a-z-]+)", text_of(name)):
        assert command in known, f"{name} names adamb {command}"


def test_the_readme_lists_every_command():
    listed = set(re.findall(r"`adamb ([a-z][a-z-]+)", text_of("README.md")))
    known = {command.name for command in app.registered_commands} | {g.name for g in app.registered_groups}
    assert {name for name in known if name} <= listed


# ---- the tester itself ---------------------------------------------------------------------------------


def test_a_failing_block_fails(tmp_path):
    with pytest.raises(AssertionError, match="line 3"):
        execute(Block("sh", ("test",), "adamb run no-such-problem\n", 3), tmp_path)
    with pytest.raises(AssertionError, match="line 4"):
        execute(Block("python", ("test",), "raise SystemExit(3)\n", 4), tmp_path)
    execute(Block("sh", (), "false\n", 5), tmp_path)


@pytest.mark.parametrize(
    ("written", "printed", "same"),
    [
        ("| a | 1.25 ± 0.02 |", "| a | 1.26 ± 0.02 |", True),
        ("| a | **1.25 ± 0.02** |", "| a | 1.26 ± 0.02 |", True),
        ("| a | 1.25 ± 0.02 |", "| a | 1.29 ± 0.02 |", False),
        ("| a | 1.25 ± 0.02 | 90.2 % |", "| a | 1.25 ± 0.02 | 95.0 % |", False),
        ("| a | 1.25 ± 0.02 |", "| b | 1.25 ± 0.02 |", False),
        ("bytes 6680", "bytes 6688", False),
        ("a\nb", "a", False),
    ],
)
def test_numbers_agree_within_their_intervals_and_words_exactly(written, printed, same):
    assert (difference(written, printed) is None) == same
