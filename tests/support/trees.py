"""Partition trees played by the definition of the split rules, for tests of the bounds.

A tree is a leaf (int: own samples) or a split ball (tuple: own samples, sorted children). Nothing here uses
the costs from which the bounds are computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adamb.budgets.thresholds import EARLY_SAMPLES, THRESHOLD_MAX

Tree = Any


def splits_now(own: int, ancestors: int, level: int, thresholds: tuple[int, ...], rule: str) -> bool:
    if level >= len(thresholds):
        return False
    if rule == "own":
        return own + 1 >= thresholds[level]
    before = thresholds[level - 1] if level else 0
    credit = before if rule == "early" else min(ancestors, before)
    return credit + own >= thresholds[level] <= THRESHOLD_MAX


def may_split(own: int, level: int, thresholds: tuple[int, ...], rule: str) -> bool:
    """Whether a ball whose mean is well known splits before it must."""
    if rule != "early" or not 0 < level < len(thresholds):
        return False
    return own % EARLY_SAMPLES == 0


def after_one_sample(
    tree: Tree, d: int, thresholds: tuple[int, ...], rule: str, level: int = 0, ancestors: int = 0
) -> set[Tree]:
    """Every tree (up to the order of children) that one more sample can make."""
    if isinstance(tree, int):
        own = tree + 1
        split = (own, (0,) * 2**d)
        if splits_now(own, ancestors, level, thresholds, rule):
            return {split}
        return {own, split} if may_split(own, level, thresholds, rule) else {own}
    own, children = tree
    made = set()
    for i, child in enumerate(children):
        for new in after_one_sample(child, d, thresholds, rule, level + 1, ancestors + own):
            made.add((own, tuple(sorted((*children[:i], new, *children[i + 1 :]), key=repr))))
    return made


def reachable(d: int, thresholds: tuple[int, ...], rule: str, samples: int) -> Iterator[set[Tree]]:
    """All trees after 0, 1, …, samples samples."""
    trees: set[Tree] = {0}
    yield trees
    for _ in range(samples):
        trees = {new for tree in trees for new in after_one_sample(tree, d, thresholds, rule)}
        yield trees


def leaves_of(tree: Tree) -> int:
    return 1 if isinstance(tree, int) else sum(leaves_of(child) for child in tree[1])


def depth_of(tree: Tree) -> int:
    return 0 if isinstance(tree, int) else 1 + max(depth_of(child) for child in tree[1])


def balls_of(tree: Tree, level: int = 0) -> Iterator[tuple[int, int, bool]]:
    """(level, own samples, split) of every ball."""
    if isinstance(tree, int):
        yield level, tree, False
        return
    yield level, tree[0], True
    for child in tree[1]:
        yield from balls_of(child, level + 1)
