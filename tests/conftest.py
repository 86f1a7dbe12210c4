"""For every test run."""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # of a shell that started this in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # else no test could interrupt a command
