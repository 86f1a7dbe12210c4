"""The library of `adamb port --c --package` in a workspace of west, the tool of Zephyr.

A part of west is published without a wheel, so it is not among the locked versions.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

pytest.importorskip("ziglang", reason="pip install adamb[device]")
MISSING = [name for name in ("west", "git") if shutil.which(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"{MISSING}: pipx install west")


def run(*command: object, folder: Path) -> str:
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_workspace_of_west_takes_the_package_as_a_project(library: Path, tmp_path: Path) -> None:
    """What a user of Zephyr writes: the package in the manifest of an application, fetched by west."""
    origin, application = tmp_path / "origin", tmp_path / "workspace" / "application"
    shutil.copytree(library, origin)
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false"]
    run("git", "init", "-q", "-b", "main", folder=origin)
    run("git", "add", ".", folder=origin)
    run("git", *identity, "commit", "-q", "-m", "package", folder=origin)
    project = {"name": "adamb", "url": origin.as_uri(), "revision": "main", "path": "modules/lib/adamb"}
    application.mkdir(parents=True)
    (application / "west.yml").write_text(yaml.safe_dump({"manifest": {"projects": [project]}}))
    workspace = application.parent
    run("west", "init", "-l", application, folder=workspace)
    run("west", "manifest", "--validate", folder=workspace)
    run("west", "update", folder=workspace)
    place = run("west", "list", "-f", "{abspath}", "adamb", folder=workspace).strip()
    module = yaml.safe_load((Path(place) / "zephyr" / "module.yml").read_text())
    assert (Path(place) / module["build"]["kconfig"]).is_file()
    assert (Path(place) / module["build"]["cmake"] / "CMakeLists.txt").is_file()
