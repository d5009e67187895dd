"""The heart table's names and codes in words, as the documentation of the source gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


def in_words(name: str, column: NDArray[Any]) -> NDArray[Any]:
    """A column of the table with words for codes, None where a value is missing."""
    if name not in VALUES:
        return column
    words = VALUES[name]
    return np.array([None if code != code else words[code] for code in column], dtype=object)
