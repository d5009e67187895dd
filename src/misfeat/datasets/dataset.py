"""A table together with the question that is asked of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
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
        The column to tell about.
    groups : str, dict or list
        What `SubgroupSelector` takes as ``groups``.
    description : str
        Where the table comes from and what its columns mean.
    bins : int or dict, default=5
        What `SubgroupSelector` takes as ``bins``.

    Examples
    --------
    >>> from misfeat.datasets import load_readmission
    >>> load_readmission().to_frame("pandas").shape
    (12, 8)
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

    def without(self, *columns: str) -> Dataset:
        """The same table without some columns.

        Parameters
        ----------
        *columns : str
            The columns to leave out.

        Examples
        --------
        >>> from misfeat.datasets import load_readmission
        >>> "age" in load_readmission().without("age").columns
        False
        """
        kept = {name: column for name, column in self.columns.items() if name not in columns}
        return replace(self, columns=kept)

    def to_frame(self, backend: str | None = None) -> Any:
        """The table as a dataframe.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default=None
            The library; by default the first of these that is installed.
        """
        from misfeat.reading.inputs import result_frame

        return result_frame({name: _listed(col) for name, col in self.columns.items()}, backend)


def _listed(column: NDArray[np.generic]) -> list[Any]:
    return [None if value != value else value for value in column.tolist()]
