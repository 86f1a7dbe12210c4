"""The report of folders as a page that is made again whenever they change: `adamb report --watch`."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path

from adamb.firmware_model.host.errors import AdambError
from adamb.tools.live.server import HTML, JSON, Route
from adamb.tools.outputs import describe_os_error
from adamb.tools.report.page import build_from

POLICY = "img-src data:"
WAITING = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline';
 style-src 'unsafe-inline'; connect-src 'self'; img-src data:"><link rel="icon" href="data:,">
<title>Waiting</title><style>body {{ font: 17px/1.5 system-ui, sans-serif; margin: 12vh auto; max-width: 40em;
 padding: 0 20px; color-scheme: light dark; }}</style>
<h1>Nothing to show yet</h1><p id="reason">{reason}</p><p>This page appears by itself when that changes.</p>
</html>"""


class WatchedFolders:
    """Makes the page when it is asked for and the folders are not as they were."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = list(folders)
        self.lock = threading.Lock()
        self.made: tuple[str, bytes] | None = None

    def stamp(self) -> str:
        """Changes when a file of the folders does; pictures and pages are made from the others."""
        found = []
        for folder in self.folders:
            for pattern in ("*.json", "*.csv", "*.npz", "cells/*.json"):
                for path in sorted(folder.glob(pattern)):
                    try:
                        status = path.stat()
                    except OSError:  # it was there a moment ago
                        continue
                    found.append((str(path), status.st_mtime_ns, status.st_size))
        return f"{hash(tuple(found)) & (2**63 - 1):x}"

    def page(self) -> bytes:
        with self.lock:
            stamp = self.stamp()
            if self.made is None or self.made[0] != stamp:
                self.made = (stamp, self._make(stamp))
            return self.made[1]

    def _make(self, stamp: str) -> bytes:
        try:
            html = build_from(self.folders).html
        except (AdambError, OSError) as error:
            reason = describe_os_error(error) if isinstance(error, OSError) else str(error)
            html = WAITING.format(reason=escape(reason))
        script = resources.files("adamb.tools.live").joinpath("folder.js").read_text(encoding="utf-8")
        added = f"<script>\n{script.replace('STAMP', json.dumps(stamp))}</script>\n"
        html = html.replace(POLICY, f"connect-src 'self'; {POLICY}", 1) if POLICY in html else html
        return html.replace("</html>", f"{added}</html>").encode()

    def routes(self) -> dict[str, Route]:
        return {"/": (HTML, self.page), "/stamp.json": (JSON, lambda: json.dumps({"stamp": self.stamp()}).encode())}
