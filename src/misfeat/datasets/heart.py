"""Heart disease in four hospitals: a small real table that comes with the package."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.datasets.dataset import Dataset
from misfeat.datasets.heart_words import NAMES, in_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TYPES: dict[str, type] = {"site": object, "num": np.int64}
"""Every other column holds floats, NaN where a value is missing."""


def load_heart(readable: bool = False) -> Dataset:
    """Heart disease in four hospitals, which recorded different features: 920 rows.

    The target ``num`` is the diagnosis, 0 for healthy and 1 to 4 for ill. ``ca`` is 96 to 99 %
    empty in three of the four hospitals, and a ``chol`` of 0 means unknown.

    Parameters
    ----------
    readable : bool, default=False
        Names and values in words (`misfeat.datasets.heart_words` has all of them): ``cp`` becomes
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
    >>> from misfeat.datasets import load_heart
    >>> heart = load_heart()
    >>> heart.n_rows, heart.target, heart.groups
    (920, 'num', 'site')
    >>> float(heart.columns["ca"][0]), float(heart.columns["ca"][-1])
    (0.0, nan)
    >>> readable = load_heart(readable=True)
    >>> readable.target, readable.groups, readable.columns["chest pain"][1]
    ('heart disease', 'hospital', 'asymptomatic')
    """
    with heart_csv().open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    texts = zip(*rows, strict=True)
    columns = {name: _typed(name, own) for name, own in zip(header, texts, strict=True)}
    if readable:
        columns = {NAMES[name]: in_words(name, column) for name, column in columns.items()}
    return Dataset(
        name="heart",
        columns=columns,
        target=NAMES["num"] if readable else "num",
        groups=NAMES["site"] if readable else "site",
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
    >>> from misfeat.datasets import heart_csv
    >>> heart_csv().name
    'heart.csv'
    """
    return Path(__file__).with_name("data") / "heart.csv"


def _typed(name: str, texts: tuple[str, ...]) -> NDArray[Any]:
    kind = _TYPES.get(name, np.float64)
    return np.array([text or "nan" for text in texts], dtype=object).astype(kind)
