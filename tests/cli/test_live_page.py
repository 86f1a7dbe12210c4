"""`adamb run --live 8321` and `adamb report --watch`: for this computer only, gone when they end."""

from __future__ import annotations

import json
import socket
import urllib.error
from urllib.parse import urlsplit

import pytest

from support.command import adamb, refused, wait_until
from support.reports import LONG, ask, change, interrupt, served, state


def test_a_run_tells_its_page_how_far_it_is_and_ends_cleanly_on_ctrl_c(tmp_path):
    with served(*LONG, "--live", 0, "--out", tmp_path / "run") as (process, address):
        wait_until(lambda: state(address)["done"] > 0)
        found = state(address)
        assert found["episodes"] == 2_000_000 and found["cap"] == 4096 and found["used"] <= 4096
        assert len(found["curve"]["episode"]) == len(found["curve"]["reward"]) and not found["ended"]
        wait_until(lambda: state(address)["done"] > found["done"])
        code, _, error = interrupt(process)
    assert code == 130 and "what was done is saved" in error
    assert json.loads((tmp_path / "run" / "run.json").read_text())["episodes"] > 0
    with pytest.raises(urllib.error.URLError):
        state(address)


def test_only_this_computer_can_open_the_page(tmp_path):
    with served("report", tmp_path, "--watch", 0) as (_, address):
        port = urlsplit(address).port
        for other in ("127.0.0.2", socket.gethostbyname(socket.gethostname())):
            if other != "127.0.0.1":
                with pytest.raises(OSError):
                    socket.create_connection((other, port), timeout=5).close()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            ask(address, Host=f"evil.example:{port}")
        with pytest.raises(urllib.error.HTTPError, match="404"):
            ask(f"{address}../../etc/passwd")


def test_a_port_that_cannot_be_or_is_in_use_is_refused_in_one_line(capsys, recorded):
    assert "port = 65536: must be from 0 to 65535" in refused(capsys, "run", "oil-laplace", "--live", 65_536)
    assert "writes no file" in refused(capsys, "report", recorded, "--watch", 0, "--out", "page.html")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for command in (("run", "oil-laplace", "--live"), ("report", "nowhere", "--watch")):
            error = refused(capsys, *command, port)
            assert f"port = {port}: is in use on 127.0.0.1; choose another, or 0 for any" in error


def test_a_page_changes_nothing_that_a_run_measures(capsys):
    command = ["run", "oil-laplace", "--budget", "1KiB", "--episodes", 40, "--seeds", 2, "--json", "-", "--quiet"]
    alone, followed = (json.loads(adamb(capsys, *command, *more)[1]) for more in ((), ("--live", 0)))
    assert alone.pop("seconds") and followed.pop("seconds") and alone == followed


def test_a_watched_folder_is_waited_for_and_shown_again_when_it_changes(recorded, tmp_path):
    folder = tmp_path / "run"
    with served("report", folder, "--watch", 0) as (process, address):
        assert "Nothing to show yet" in ask(address) and "is not there" in ask(address)
        before = ask(f"{address}stamp.json")
        folder.mkdir()
        for path in sorted(recorded.iterdir()):
            (folder / path.name).write_bytes(path.read_bytes())
        assert ask(f"{address}stamp.json") != before
        assert "Budget and bounds kept" in ask(address)
        change(folder, "run.json", bytes_peak=1100)
        assert "Budget broken: 1,100 bytes used" in ask(address)
        code, out, error = interrupt(process)
    assert (code, out, error) == (0, "", "adamb: no longer watching\n")
    assert not (folder / "report.html").exists()
