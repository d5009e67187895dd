"""Progress of long work, for people: a bar in a terminal, nothing where nobody looks."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Progress = Callable[[str, int, int], None]


@contextmanager
def progress_shown(wanted: bool) -> Iterator[Progress | None]:
    """Show a progress bar with the time left on standard error while the block runs.

    Examples
    --------
    >>> with progress_shown(False) as progress:
    ...     progress is None
    True
    """
    if not wanted:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, int] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done)  # type: ignore[arg-type]

        yield show
