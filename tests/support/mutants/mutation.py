"""One small change of a source file, and how a fixed number of them is drawn."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

# What a judge says of one; the first two are no mutants.
INVALID, SAME, KILLED, SURVIVED = "does not compile", "same machine code", "killed", "survived"


@dataclass(frozen=True)
class Mutation:
    """Characters `start` to `end` of a file become `new`."""

    path: Path
    start: int
    end: int
    old: str
    new: str
    line: int
    text: str  # the line it is in, without indentation
    nth: int  # which of the same changes of equal lines of the file, from 0

    @property
    def file(self) -> str:
        return self.path.name

    @property
    def change(self) -> str:
        return f"{' '.join(self.old.split())} -> {' '.join(self.new.split())}"

    @property
    def name(self) -> str:
        """What it is called wherever its line stands."""
        nth = f" (#{self.nth})" if self.nth else ""
        return f"{self.file}: {self.change}{nth} in: {self.text}"

    def applied(self) -> str:
        text = self.path.read_text(encoding="utf-8")
        return text[: self.start] + self.new + text[self.end :]

    def rank(self, seed: int) -> str:
        """Where it stands among all; an edit of another line does not move it."""
        return hashlib.sha256(repr((seed, self.file, self.text, self.change, self.nth)).encode()).hexdigest()

    def __str__(self) -> str:
        return f"{self.line}: {self.name}"


def numbered(path: Path, changes: list[tuple[int, int, str]]) -> list[Mutation]:
    """Mutations from (start, end, new); what changes nothing or stands twice is left out."""
    source = path.read_text(encoding="utf-8")
    seen: dict[tuple[str, str], int] = {}
    found = []
    for start, end, new in sorted(set(changes)):
        old = source[start:end]
        if " ".join(old.split()) == " ".join(new.split()):
            continue
        first = source.rfind("\n", 0, start) + 1
        text = source[first : source.find("\n", start)].strip()
        made = Mutation(path, start, end, old, new, source.count("\n", 0, start) + 1, text, 0)
        nth = seen.get((text, made.change), 0)
        seen[text, made.change] = nth + 1
        found.append(Mutation(path, start, end, old, new, made.line, text, nth))
    return found


def drawn(mutations: list[Mutation], n: int, seed: int, least: int = 3) -> list[Mutation]:
    """About n of them, every file by its share but at least `least`, in an order that the seed decides.

    Hashes of the changes decide, so an edited line changes the draw there and hardly elsewhere.
    """
    files: dict[str, list[Mutation]] = {}
    for mutation in mutations:
        files.setdefault(mutation.file, []).append(mutation)
    chosen = []
    for group in files.values():
        share = max(least, round(n * len(group) / len(mutations)))
        chosen += sorted(group, key=lambda one: one.rank(seed))[:share]
    return sorted(chosen, key=lambda one: one.rank(seed))
