"""Bits that flip in a live block: links are found, and what the slices of the scrub find the whole check finds."""

from __future__ import annotations

from support import flips

LINKS_FOUND = 0.99
NEXT_FREE_SCRUBBED = 0.85


def test_flipped_links_and_sealed_words_are_found_and_the_scrub_looks_at_what_is_used_next():
    """The shares of a hundred thousand flips are in docs/reliability.md."""
    found = flips.shares(10_000, seed=3)
    print(found)
    for kind, least in ((flips.LINKS, LINKS_FOUND), (flips.NEXT_FREE, LINKS_FOUND), (flips.SEALED, 1)):
        made, check, _ = found[kind]
        assert made > 100, "too few for a share"
        assert check >= least * made, kind
    made, check, scrub = found[flips.NEXT_FREE]
    assert scrub >= NEXT_FREE_SCRUBBED * made
    made, check, _ = found[flips.OTHER_FREE]
    assert check == made > 0
    assert all(scrub <= check for _, check, scrub in found.values())
