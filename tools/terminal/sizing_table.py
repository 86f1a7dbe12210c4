"""The budgets of `adamb plan --measure` side by side."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from adamb.firmware_model.host.sizes import format_bytes
from adamb.tools.measure.sizing import LAST, MAY_LOSE, Tried
from adamb.tools.options import PlayedProblem, seeds_text
from adamb.tools.terminal.frames import framed


def sizing_table(played: PlayedProblem, rows: Sequence[Tried]) -> Table:
    known = any(row.share is not None for row in rows)
    headings = ["budget", "reward", "of V*", "lost", "used", "discarded", "level"]
    if not known:
        headings.remove("of V*")
    caption = (
        f"seeds {seeds_text(played.seeds)}, ± 95 %; reward: of an episode; lost: against the best budget, paired by "
        f"seed; level: the whole interval of what is lost is below {100 * MAY_LOSE:g} %; used: bytes in the worst "
        "seed; discarded: pieces given up and splits refused for want of room, where 0 a larger budget plays the same"
    )
    last = min(LAST, played.episodes)
    view = framed(f"{played.problem}: {played.episodes} episodes, last {last}", headings, caption)
    for row in rows:
        cells = [
            format_bytes(row.budget_bytes),
            str(row.reward),
            "" if row.loss is None else row.loss.percent(),
            str(row.bytes_peak),
        ]
        if known:
            cells.insert(2, "" if row.share is None else row.share.percent())
        view.add_row(*cells, f"{row.discarded:.4g}", "yes" if row.level else "")
    return view
