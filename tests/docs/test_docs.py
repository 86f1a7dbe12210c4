"""What the documents say is so: their blocks run, commands print their tables, what they name exists."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest
import typer

from adamb.host_sim.experiments.sweep import COLUMNS, TIMINGS, TUNING
from adamb.host_sim.results.run import RunCurves
from adamb.tools.cli import app
from adamb.tools.device.micropython.interpreter import run_program
from adamb.tools.device.micropython.package import board_files
from adamb.tools.maintain.documents import BLOCK, Block, blocks, difference, environment, regions, run
from adamb.tools.maintain.tables import drawing
from adamb.tools.measure import ablation
from support.campaigns import few
from support.paths import ROOT, copy_sources

DOCUMENTS = [ROOT / "README.md", ROOT / "firmware_model" / "DESIGN.md", *sorted((ROOT / "docs").glob("*.md"))]
NAMES = [path.relative_to(ROOT).as_posix() for path in DOCUMENTS]
NAMING = [*NAMES, "CONTRIBUTING.md"]
"""Documents whose files, links and commands must exist; the blocks of the last are not for tests to run."""

RUNNABLE = ("sh", "python")
SET_UP = re.compile(r"^(make demo|make device|\. \.venv/bin/activate)\n", re.MULTILINE)
"""What is done where tests run; on a clone these lines are run too."""

GROUP = typer.main.get_command(app)
COMMANDS = {name: GROUP.get_command(None, name) for name in GROUP.list_commands(None)}


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def execute(block: Block, folder: Path) -> None:
    if block.file is not None:
        (folder / block.file).write_text(block.body, encoding="utf-8")
    if "test" not in block.words or block.language not in RUNNABLE:
        return
    if "micropython" in block.words:
        run_program(block.body, dict(board_files("mpy", optional=True))).require_success()
        return
    python = [sys.executable, "-c", block.body]
    command = python if block.language == "python" else ["bash", "-euc", block.body]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"block at line {block.line}:\n{block.body}\n{done.stdout}{done.stderr}"
    assert "Traceback" not in done.stderr and "Warning" not in done.stderr, done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_the_blocks_of_a_document_run_in_their_order(name, tmp_path):
    for block in blocks(text_of(name)):
        execute(replace(block, body=SET_UP.sub("", block.body)), tmp_path)


def script(text: str) -> str:
    """All blocks of a document in one shell, as somebody types them who reads it from top to bottom."""
    lines = ["set -eu"]
    for block in blocks(text):
        if block.file is not None:
            lines += [f"cat > {block.file} <<'END'", block.body + "END"]
        elif block.language == "sh":
            lines.append(block.body)
        elif block.language == "python" and "micropython" not in block.words:
            lines += ["python - <<'END'", block.body + "END"]
    return "\n".join(lines)


@pytest.mark.campaign
def test_the_first_pages_work_on_a_clone_that_has_had_nothing_but_their_commands(tmp_path):
    """With the system's Python and path only: whatever a block needs, a block before it has set up."""
    pages = "".join(map(text_of, ["README.md", "docs/experiments.md", "docs/boards.md"]))
    copy_sources(tmp_path / "adamb")
    hidden = ("PYTHON", "VIRTUAL_ENV", "ADAMB", "PYTEST")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    ours = str(Path(sys.executable).parent)
    clean["PATH"] = os.pathsep.join(part for part in os.environ["PATH"].split(os.pathsep) if part != ours)
    clean["PYTHON"] = getattr(sys, "_base_executable", sys.executable)
    done = subprocess.run(
        ["bash", "-c", script(pages)], cwd=tmp_path / "adamb", env=clean,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert "Traceback" not in done.stderr and "Warning" not in done.stderr, done.stderr
    made = {path.name for path in (tmp_path / "adamb").iterdir()}
    assert {"runs", "pico-port", "controller", "first.toml"} <= made


@pytest.mark.parametrize("name", NAMES)
def test_every_command_block_is_tested(name):
    for block in blocks(text_of(name)):
        if block.language in RUNNABLE:
            assert "test" in block.words, f"{name}, line {block.line}: not marked as tested"


PARTS = "python -m adamb.tools.maintain parts"
TABLES = [(name, each.command) for name in NAMES for each in regions(text_of(name))]
WHOLE = [each for each in TABLES if each[1] != PARTS]
IN_README = sum(name == "README.md" for name, _ in TABLES)


@pytest.mark.parametrize("table", few(WHOLE, IN_README), ids=": ".join)
def test_a_table_is_what_its_command_prints(table):
    name, command = table
    region = next(each for each in regions(text_of(name)) if each.command == command)
    found = region.difference()
    assert found is None, f"{name}: `{command}` prints something else (make core renews it)\n{found}"


@pytest.mark.campaign
def test_the_table_of_the_parts_is_what_its_command_prints_of_every_fifth():
    """Each row compares with the whole core, so a change of the core shows in any of them."""
    region = next(each for each in regions(text_of("docs/learning.md")) if each.command == PARTS)
    lines = region.body.splitlines()
    named = {line.split("|")[1].strip(): line for line in lines if "±" in line}
    assert list(named) == [part.title for part in ablation.PARTS]
    some = list(named)[::5]
    written = [line for line in lines if "±" not in line or line in map(named.get, some)]
    found = difference("\n".join(written), run(f"{PARTS} --only {','.join(part.name for part in ablation.PARTS[::5])}"))
    assert found is None, f"`{PARTS}` prints something else (make core renews it)\n{found}"


@pytest.mark.parametrize("name", NAMES)
def test_every_table_of_numbers_has_a_command(name):
    """Means with intervals stand only in sections that say which command prints them."""
    text = text_of(name)
    for region in regions(text):
        text = text.replace(region.body, "")
    for section in re.split(r"^#+ ", text, flags=re.MULTILINE):
        if "±" in section:
            command = re.search(r"^```\w*\n(adamb |python -m adamb\.)", section, re.MULTILINE)
            assert command, section.splitlines()[0]


@pytest.mark.parametrize("name", NAMING)
def test_files_and_tests_that_a_document_names_exist(name):
    folders = "tests|tools|host_sim|budgets|firmware_model|docs"
    for path, _, test in re.findall(rf"`((?:{folders})/[\w/.-]*?)(::(\w+))?`", text_of(name)):
        assert (ROOT / path).exists(), path
        if test:
            assert f"def {test}(" in (ROOT / path).read_text(), f"{path}::{test}"
    for link in re.findall(r"\]\((?!http)([^)#]+)\)", text_of(name)):
        assert ((ROOT / name).parent / link).exists(), link


@pytest.mark.parametrize("name", NAMING)
def test_commands_that_a_document_names_exist(name):
    for command in re.findall(r"`adamb ([a-z][a-z-]+)", BLOCK.sub("", text_of(name))):
        assert command in COMMANDS, f"{name} names adamb {command}"


def test_a_page_lists_every_command():
    listed = set(re.findall(r"`adamb ([a-z][a-z-]+)", text_of("docs/commands.md")))
    shown = {name for name, command in COMMANDS.items() if not command.hidden}
    assert shown <= listed


def test_the_columns_of_csv_files_are_documented():
    page = (ROOT / "docs" / "experiments.md").read_text()
    curves = [each.name for each in fields(RunCurves)]
    for file, columns in (("results", COLUMNS), ("tuning", TUNING), ("timings", TIMINGS), ("curves", curves)):
        (row,) = (line for line in page.splitlines() if line.startswith(f"| `{file}.csv`"))
        assert [name for name in columns if f"`{name}`" not in row] == [], file


def test_the_index_has_every_page_and_no_other():
    listed = re.findall(r"(?m)^\| \[([\w-]+\.md)\]\(\1\) \| ", text_of("docs/README.md"))
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert sorted(listed) == sorted(pages)


def test_the_picture_of_the_readme_is_what_its_command_draws():
    """Letters and colours of all boxes, not the bytes, which differ between versions of matplotlib."""
    seen = re.compile(r">([^<>]+)</text>|fill: (#\w+)")
    written = text_of("docs/partition.svg")
    assert seen.findall(written) == seen.findall(drawing()), "make core ONLY=tables"
    assert "prefers-color-scheme:dark" in written
    assert len(written) < 300 * 1024 and "docs/partition.svg" in text_of("README.md")


def test_the_environment_of_the_guide_is_made_with_no_other_import():
    named = re.findall(r"`(gymnasium\.make\([^`]*\))`", text_of("docs/your-problem.md"))
    assert named
    for call in named:
        command = [sys.executable, "-c", f"import gymnasium; {call}.reset(seed=1)"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
