"""Processes that serve a page, for tests that open it."""

from __future__ import annotations

import json
import re
import signal
import urllib.request
from contextlib import contextmanager

from support.command import finish, start

LONG = ("run", "oil-laplace", "--budget", "4KiB", "--episodes", 2_000_000, "--seeds", 1, "--quiet")


@contextmanager
def served(*arguments):
    """The process and its address, after it has said that it serves; afterwards it is ended."""
    with start(*arguments, "--port", 0) as process:
        try:
            said = process.stderr.readline()
            found = re.match(r"live page: (http://127\.0\.0\.1:\d+/) ", said)
            assert found, said + process.stderr.read()
            yield process, found[1]
        finally:
            process.kill()


def interrupt(process):
    """Exit code, output and errors after Ctrl-C."""
    process.send_signal(signal.SIGINT)
    return finish(process)


def ask(address, **headers):
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
        return answer.read().decode()


def state(address):
    return json.loads(ask(f"{address}state.json"))
