"""A table with the question that is asked of it."""

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table, its target and its subgroups.

    Attributes
    ----------
    name : str
        What the table is called.
    columns : dict of str to ndarray
        The columns; None or NaN where a value is missing. `SubgroupSelector.fit` takes it as it is.
    target : str
        The column to explain.
    groups : str, dict or list
        What `SubgroupSelector` takes as ``groups``.
    description : str
        Where the table comes from and what its columns mean.
    bins : int or dict, default=5
        What `SubgroupSelector` takes as ``bins``.

    Examples
    --------
    >>> from misfeat.datasets import load_heart
    >>> load_heart().n_rows
    920
    """

    name: str
    columns: dict[str, NDArray[Any]]
    target: str
    groups: Any
    description: str
    bins: Any = field(default=5, kw_only=True)

    @property
    def n_rows(self) -> int:
        """How many rows the table has."""
        return len(self.columns[self.target])
