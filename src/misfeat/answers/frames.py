"""Records as a dataframe, in the library that the table came in."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from misfeat.reading.dataframes import result_frame

if TYPE_CHECKING:
    from collections.abc import Iterable


def frame_of(kind: type[Any], records: Iterable[Any], backend: str | None) -> Any:
    """A line a record; columns are the fields of its class, or those that its COLUMNS name."""
    names = getattr(kind, "COLUMNS", None) or [field.name for field in fields(kind)]
    records = list(records)
    return result_frame({n: [getattr(one, n) for one in records] for n in names}, backend)
