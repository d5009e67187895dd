"""A table with the question that is asked of it, and the two tables that come with the package."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
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
    >>> from misfeat.datasets import load_readmission
    >>> load_readmission().n_rows
    12
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


NAMES = {
    "site": "hospital",
    "age": "age",
    "sex": "sex",
    "cp": "chest pain",
    "trestbps": "blood pressure",
    "chol": "cholesterol",
    "fbs": "fasting sugar",
    "restecg": "resting ECG",
    "thalach": "highest heart rate",
    "exang": "exercise angina",
    "oldpeak": "ST depression",
    "slope": "ST slope",
    "ca": "vessels",
    "thal": "thallium scan",
    "num": "heart disease",
}
"""Columns. Blood pressure is taken at rest; vessels are those that fluoroscopy coloured."""
VALUES: dict[str, dict[Any, str]] = {
    "site": {
        "cleveland": "Cleveland",
        "hungarian": "Hungary",
        "switzerland": "Switzerland",
        "va": "Long Beach",
    },
    "sex": {0: "female", 1: "male"},
    "cp": {
        1: "typical angina",
        2: "atypical angina",
        3: "non-anginal pain",
        4: "asymptomatic",
    },
    "fbs": {0: "up to 120 mg/dl", 1: "over 120 mg/dl"},
    "restecg": {0: "normal", 1: "ST-T abnormality", 2: "left ventricular hypertrophy"},
    "exang": {0: "no", 1: "yes"},
    "slope": {1: "upsloping", 2: "flat", 3: "downsloping"},
    "thal": {3: "normal", 6: "fixed defect", 7: "reversible defect"},
    "num": {0: "no", 1: "yes", 2: "yes", 3: "yes", 4: "yes"},
}
"""Values of columns with codes; the other columns are numbers."""
_COLUMNS = [
    "age",
    "ethnicity",
    "blood_pressure",
    "family_history",
    "body_weight",
    "smoking",
    "cholesterol",
    "readmission",
]
_PATIENTS = (
    (45, "Asian", "Normal", "Yes", "Overweight", "Non-smoker", "Normal", "No"),
    (62, "Caucasian", None, "No", "Overweight", "Smoker", "Normal", "Yes"),
    (35, "Caucasian", "Normal", "Yes", "Normal", "Non-smoker", None, "Yes"),
    (50, "Caucasian", None, "Yes", "Obese", "Non-smoker", "High", "Yes"),
    (30, "Asian", None, "No", "Normal", "Smoker", None, "No"),
    (28, "Caucasian", None, "Yes", "Overweight", "Non-smoker", None, "Yes"),
    (55, "Asian", "Hypertension", "Yes", "Overweight", "Smoker", "Low", "No"),
    (28, "Asian", None, "No", "Normal", "Smoker", None, "No"),
    (60, "Caucasian", None, "Yes", "Obese", "Non-smoker", "Normal", "Yes"),
    (38, "Asian", None, "Yes", "Overweight", "Smoker", None, "Yes"),
    (54, "Asian", "Prehypertension", "Yes", "Normal", "Non-smoker", None, "Yes"),
    (30, "Caucasian", "Prehypertension", "No", "Underweight", "Smoker", None, "No"),
)


def load_heart(readable: bool = False) -> Dataset:
    """Heart disease in four hospitals, which recorded different features: 920 rows.

    The target ``num`` is the diagnosis, 0 for healthy and 1 to 4 for ill. ``ca`` is 96 to 99 %
    empty in three of the four hospitals, and a ``chol`` of 0 means unknown.

    Parameters
    ----------
    readable : bool, default=False
        Names and values in words (`misfeat.datasets.dataset` has all of them): ``cp`` becomes
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
    with heart_csv().open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    columns: dict[str, NDArray[Any]] = {}
    for name, texts in zip(header, zip(*rows, strict=True), strict=True):
        values = np.array([text or "nan" for text in texts], dtype=object)
        column = values.astype({"site": object, "num": np.int64}.get(name, np.float64))
        if readable and name in VALUES:
            words = [None if code != code else VALUES[name][code] for code in column]
            column = np.array(words, dtype=object)
        columns[NAMES[name] if readable else name] = column
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
    >>> heart_csv().name
    'heart.csv'
    """
    return Path(__file__).with_name("data") / "heart.csv"


def load_readmission() -> Dataset:
    """The cardiovascular example of the paper: 12 patients, 4 subgroups, readmission as target.

    Cholesterol was never taken at 40 and below, blood pressure never for Asians at 40 and below nor
    for Caucasians above. I(family_history; readmission) over all patients is 0.1169 nats.

    Examples
    --------
    >>> patients = load_readmission()
    >>> patients.n_rows, patients.target, patients.groups
    (12, 'readmission', ['ethnicity', {'age': [40]}])
    """
    columns = {
        name: np.array([row[i] for row in _PATIENTS], dtype=np.int64 if name == "age" else object)
        for i, name in enumerate(_COLUMNS)
    }
    return Dataset(
        name="readmission",
        columns=columns,
        target="readmission",
        groups=["ethnicity", {"age": [40]}],
        description="Cardiovascular patients of the MISFEAT paper, readmitted or not.",
    )
