"""What a reader must know where features were screened: sets that nobody looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.exceptions import Message, Setting
from misfeat.selection.caution import WEAKENS, Caution
from misfeat.words.numbers import percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.screening import Screened

SCREENED = "screened"
SAYS_LITTLE = 0.5
"""A bound above this share of what there is to tell says next to nothing."""
_SIZES = {1: "features", 2: "pairs", 3: "triples"}


def unseen_sets(
    screened: Screened | None, cohorts: Cohorts, whole: NDArray[np.float64]
) -> Iterator[Caution]:
    """What was screened out, what was looked at, and what sets that were not could tell at most."""
    if screened is None:
        return
    n_left, n_kept = len(screened.left_out), len(cohorts.features)
    yield Caution(
        SCREENED,
        Message(
            "{left} of {every} features were screened out, for there are too many sets to score "
            "all: those kept are part of the best among {looked}, in {rows} rows.{telling} "
            "{unseen}",
            left=f"{n_left:,}",
            every=f"{n_left + n_kept:,}",
            looked=Message(_looked(screened)),
            rows=f"{screened.rows:,}",
            telling=Message(_telling(screened.telling)),
            unseen=_at_most(screened, cohorts, whole),
        ),
        Message(
            "Raise {max_sets} to keep more of them, or leave out what cannot matter ({exclude}). "
            "P-values are of the other rows, and hold; what stability and validation say is about "
            "the features that were kept.",
            max_sets=Setting("max_sets"),
            exclude=Setting("exclude"),
        ),
        severity=WEAKENS,
    )


def _telling(count: int | None) -> str:
    """Whether something was left out that tells."""
    if count is None:
        return ""
    if not count:
        return " No other was seen to tell more than chance would, alone or with others."
    tell = "tells" if count == 1 else "tell"
    return f" {count:,} more {tell} something, for which there was no room."


def _looked(screened: Screened) -> str:
    """How many sets of every size were looked at."""
    parts = []
    for one in screened.looked:
        what = _SIZES.get(one.size, f"sets of {one.size}")
        parts.append(
            f"all {one.of:,} {what}" if one.whole else f"{one.sets:,} of {one.of:,} {what}"
        )
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last


def _at_most(screened: Screened, cohorts: Cohorts, whole: NDArray[np.float64]) -> Message:
    """What a set that nobody looked at could tell at most, where that is most."""
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(whole > 0, screened.at_most / whole, 0.0)
    most = int(np.argmax(shares))
    share = min(float(shares[most]), 1.0)
    weak = ", a bound that says little" if share > SAYS_LITTLE else ""
    told = Message(
        "A set that was not looked at tells at most {share} of what there is to tell in the rows "
        "of {where!r}{weak}.",
        share=Message(percent(share)),
        where=cohorts.names[most],
        weak=Message(weak),
    )
    if screened.exhaustive >= len(screened.looked):
        return told
    return told + (
        f" One that tells nothing in parts of up to {screened.exhaustive} features is missed."
    )
