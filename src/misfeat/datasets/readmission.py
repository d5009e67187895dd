"""The twelve patients of the paper's running example."""

from __future__ import annotations

import numpy as np

from misfeat.datasets.dataset import Dataset

_COLUMNS = (
    "age",
    "ethnicity",
    "blood_pressure",
    "family_history",
    "body_weight",
    "smoking",
    "cholesterol",
    "readmission",
)
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
