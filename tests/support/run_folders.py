"""What tests change in the folder of a run, and look for in its report."""

from __future__ import annotations

import json
import re


def change(folder, name, **values):
    path = folder / name
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def first_line(page):
    """The first words that a reader sees, and the class that colours them."""
    found = re.search(r'<header class="verdict (\w+)">.*?<h1>(.*?)</h1>', page, re.DOTALL)
    return found[1], found[2]
