"""From rows of results to the tables and figures of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.bench.paper.printed import METRICS
from misfeat.bench.summaries import mean_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    Row = dict[str, Any]


def dataset_of(table: str) -> str:
    """The paper's data set that a table belongs to.

    Examples
    --------
    >>> dataset_of("SD1, formula 2, with noise"), dataset_of("mobile")
    ('SD1', 'mobile')
    """
    return table.split(",")[0]


class Results:
    """All rows of a run, summed up as the paper sums them up."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = [
            {**row, "dataset": dataset_of(row["table"])} if "table" in row else row for row in rows
        ]

    def of(self, experiment: str) -> list[Row]:
        """The rows of one experiment."""
        return [row for row in self.rows if row["experiment"] == experiment]

    def effectiveness(self) -> list[Row]:
        """Table IV: means over tables and seeds at the smallest share, by data set and method."""
        found = self.of("completion")
        least = min(row["hidden"] for row in found)
        names = [name for name in found[0] if name.startswith(("ndcg", "precision"))]
        names += ["captured_5", "relative_error", "seconds"]
        return mean_rows(
            (row for row in found if row["hidden"] == least), ("dataset", "method"), names
        )

    def robustness(self) -> list[Row]:
        """Figures 3 to 5: means over seeds by table, method and share, where shares were varied."""
        found = self.of("completion")
        varied = {row["table"] for row in found if row["hidden"] != found[0]["hidden"]}
        rows = (row for row in found if row["table"] in varied)
        return mean_rows(rows, ("dataset", "method", "hidden"), list(METRICS))

    def drops(self) -> list[Row]:
        """The mean relative drop of every metric when the share grows by a step."""
        robustness = self.robustness()
        drops = []
        for key in dict.fromkeys((row["dataset"], row["method"]) for row in robustness):
            line = sorted(
                (row for row in robustness if (row["dataset"], row["method"]) == key),
                key=lambda row: float(row["hidden"]),
            )
            drops.append(
                {
                    "dataset": key[0],
                    "method": key[1],
                    **{name: mean_drop([row[name] for row in line]) for name in METRICS},
                }
            )
        return drops

    def sampling(self) -> list[Row]:
        """Figure 6: means over seeds by table, sampler and budget."""
        return mean_rows(self.of("sampling"), ("dataset", "sampler", "budget"), ["distance"])

    def closure(self) -> list[Row]:
        """Figure 7: means over seeds by table, method and level."""
        return mean_rows(self.of("closure"), ("dataset", "method", "level"), ["accuracy"])

    def timing(self) -> list[Row]:
        """Figure 8."""
        settings = ("varied", "features", "subgroups", "hidden", "budget")
        names = (*settings, "method", "seconds", "machine")
        return [{name: row[name] for name in names} for row in self.of("timing")]

    def precomputation(self) -> list[Row]:
        """Figure 9."""
        names = ("varied", "features", "subgroups", "method", "seconds", "machine")
        return [{name: row[name] for name in names} for row in self.of("precomputation")]


def mean_drop(values: Sequence[float]) -> float:
    """The paper's mean relative drop from each value to the next; NaN where one is 0.

    Examples
    --------
    >>> mean_drop([0.8, 0.4, 0.3])
    0.375
    """
    before, after = np.array(values[:-1]), np.array(values[1:])
    if len(before) == 0 or (before == 0).any():
        return float("nan")
    return float(np.mean((before - after) / before))
