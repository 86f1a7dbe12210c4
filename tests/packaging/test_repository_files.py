"""The files around the code: hooks that work, and versions, titles and lists that agree with each other."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
import yaml

from support.paths import ROOT

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
CHANGES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def read_yaml(name: str) -> dict:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """An empty repository with our hooks."""
    if shutil.which("git") is None:
        pytest.skip("no git here")
    folder = tmp_path_factory.mktemp("hooks")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    shutil.copy(ROOT / ".pre-commit-config.yaml", folder)
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    return folder


def hook(repository, stage: str, *arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "pre_commit", "run", "--hook-stage", stage, *arguments]
    own_cache = os.environ | {"PRE_COMMIT_HOME": str(repository / ".git" / "hooks-cache")}
    return subprocess.run(command, cwd=repository, env=own_cache, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("message", "fine"),
    [
        ("tools/cli.py: List the boards.\n", True),
        ("firmware_model/c: Say when thresholds end.\n# Please enter the commit message\n", True),
        ("Merge branch 'main'\n", True),
        (f"tools: {'A' * 64}.\n", True),
        (f"tools: {'A' * 65}.\n", False),
        ("List the boards.\n", False),
        ("tools/cli.py: list the boards.\n", False),
        ("tools/cli.py: List the boards\n", False),
    ],
)
def test_the_hook_judges_the_subject_of_a_commit(repository, message, fine):
    (repository / "MESSAGE").write_text(message, encoding="utf-8")
    done = hook(repository, "commit-msg", "--commit-msg-filename", "MESSAGE")
    assert (done.returncode == 0) == fine, done.stdout + done.stderr


def test_the_hook_before_a_commit_is_make_lint(repository):
    (repository / "Makefile").write_text("lint:\n\techo linted\n", encoding="utf-8")
    done = hook(repository, "pre-commit", "--all-files", "--verbose")
    assert done.returncode == 0 and "linted" in done.stdout
    (repository / "Makefile").write_text("lint:\n\tfalse\n", encoding="utf-8")
    assert hook(repository, "pre-commit", "--all-files").returncode == 1


def test_the_workflow_runs_what_anybody_can_run():
    steps = read_yaml(".github/workflows/ci.yml")["jobs"]["test"]["steps"]
    assert steps[-1] == {"run": ".ci/run"}
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_the_latest_release_is_the_version_of_the_package():
    released = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", CHANGES, re.MULTILINE)
    assert released[0][0] == VERSION
    cited = read_yaml("CITATION.cff")
    assert (cited["version"], str(cited["date-released"])) == released[0]
