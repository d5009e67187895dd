"""The table that comes with the package, heart disease in four hospitals, and what a table is."""

import csv
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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


_DATA = Path(__file__).with_name("data")


def load_heart(readable: bool = False) -> Dataset:
    """Heart disease in four hospitals, which recorded different features: 920 rows.

    The target ``num`` is the diagnosis, 0 for healthy and 1 to 4 for ill. ``ca`` is 96 to 99 %
    empty in three of the four hospitals, and a ``chol`` of 0 means unknown.

    Parameters
    ----------
    readable : bool, default=False
        Names and values in words (``data/heart_words.toml`` has all of them): ``cp`` becomes
        ``"chest pain"`` and its 4 ``"asymptomatic"``. The target is then ``"heart disease"``,
        ``"yes"`` where ``num`` is greater than 0, by ``"hospital"``.

    Returns
    -------
    Dataset
        The table, by ``site``.

    References
    ----------
    A. Janosi, W. Steinbrunn, M. Pfisterer, R. Detrano: Heart Disease. UCI Machine Learning
    Repository, 1989, https://doi.org/10.24432/C52P4X, CC BY 4.0.

    Examples
    --------
    >>> heart = load_heart()
    >>> heart.n_rows, heart.target, heart.groups
    (920, 'num', 'site')
    >>> float(heart.columns["ca"][0]), float(heart.columns["ca"][-1])
    (0.0, nan)
    >>> readable = load_heart(readable=True)
    >>> readable.target, readable.groups, readable.columns["chest pain"][1]
    ('heart disease', 'hospital', 'asymptomatic')
    """
    words = tomllib.loads((_DATA / "heart_words.toml").read_text(encoding="utf-8"))
    names = words["names"] if readable else {name: name for name in words["names"]}
    columns: dict[str, NDArray[Any]] = {}
    with heart_csv().open(newline="", encoding="utf-8") as opened:
        header, *rows = csv.reader(opened)
    for name, texts in zip(header, zip(*rows, strict=True), strict=True):
        values = np.array([text or "nan" for text in texts], dtype=object)
        column = values.astype({"site": object, "num": np.int64}.get(name, np.float64))
        if readable and name in words["values"]:
            means = words["values"][name]
            known = [means[text.removesuffix(".0")] if text else None for text in texts]
            column = np.array(known, dtype=object)
        columns[names[name]] = column
    return Dataset(
        name="heart",
        columns=columns,
        target=names["num"],
        groups=names["site"],
        description="Heart disease. Source: UCI Heart Disease (id 45), the four processed files, "
        "with a column site added. Janosi, Steinbrunn, Pfisterer and Detrano, CC BY 4.0.",
    )


def heart_csv() -> Path:
    """The file that `load_heart` reads, for whatever takes a path.

    Returns
    -------
    Path
        A CSV file inside the package.

    Examples
    --------
    >>> heart_csv().name
    'heart.csv'
    """
    return _DATA / "heart.csv"
