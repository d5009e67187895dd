"""What a shell completes: columns from the table's header, and names to choose from."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def complete_column(ctx: Any, incomplete: str) -> list[str]:
    """Columns of the table that was named before, as far as they are typed."""
    # While the last option still waits for its value, arguments are not yet told apart.
    table = ctx.params.get("table") or next(iter(ctx.args), "")
    names = header(table)
    return [name for name in names if name.startswith(incomplete)]


def complete_names(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """What completes an option with a few names to choose from.

    Examples
    --------
    >>> complete_names(lambda: ["auto", "cpu", "cuda"])("c")
    ['cpu', 'cuda']
    """

    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def header(path: str) -> list[str]:
    """The columns of a file, read from its first line or its footer; none where it cannot be.

    A shell waits for this at every press of a key, so no engine is started for it.
    """
    try:
        file = Path(path).expanduser()
        if file.suffix in (".parquet", ".pq"):
            import pyarrow.parquet as pq

            return list(pq.read_schema(file).names)
        opened = gzip.open if file.suffix == ".gz" else open
        with opened(file, "rt", encoding="utf-8-sig", newline="") as lines:
            first = lines.readline()
        delimiter = max(",;\t|", key=first.count)
        return next(csv.reader([first], delimiter=delimiter), [])
    except (OSError, RuntimeError, ValueError, ImportError, csv.Error):
        return []
