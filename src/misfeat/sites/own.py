"""One's own table beside the summaries of others: counted by the codebook that they agreed on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from misfeat.exceptions import InPython, MisfeatError, listed
from misfeat.sites.combining import readable_codebook
from misfeat.sites.summarising import check_takes_part, summarise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from misfeat.cohorts.coding import Coding
    from misfeat.sites.codebook import Codebook
    from misfeat.sites.summary import Summary


def own_summary(
    X: Any,
    summaries: Sequence[Any],
    site: str,
    codebook: Codebook | None = None,
    coding: Coding | None = None,
) -> Summary:
    """What one's own rows give, which never leaves the house.

    Without a codebook, it is coded by the one that most summaries were made with.
    """
    agreed = readable_codebook(summaries) if codebook is None else codebook
    if not site:
        raise MisfeatError(
            "One's own table is that of a site; name it with {site}: {names}.",
            site=InPython("site", "--site"),
            names=listed(sorted(agreed.sites)),
        )
    check_takes_part(agreed, site)
    return summarise(X, agreed, site, coding=coding)
