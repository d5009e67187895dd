"""Loaders of real tables that cannot be bundled: they read a folder that the user fills."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.datasets.dataset import Dataset
from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOLDER_VARIABLE = "MISFEAT_DATA"


def load_mobile() -> Dataset:
    """Mobile phones and their price range, by number of SIM cards: 2,000 rows.

    Examples
    --------
    >>> load_mobile().target  # doctest: +SKIP
    'price_range'
    """
    source = "Kaggle, iabhishekofficial/mobile-price-classification, train.csv"
    return _dataset("mobile", "Mobile phones", source, "price_range", "dual_sim")


def load_attrition() -> Dataset:
    """Employees who stayed or left, by age band and gender: 59,598 rows.

    Examples
    --------
    >>> load_attrition().target  # doctest: +SKIP
    'Attrition'
    """
    source = "Kaggle, stealthtechnologies/employee-attrition-dataset, train.csv without Employee ID"
    groups = [{"Age": [25, 40, 50]}, "Gender"]
    return _dataset("attrition", "Employees", source, "Attrition", groups)


def load_loan() -> Dataset:
    """Loans that defaulted or not, by grade: 67,463 rows, nine features.

    Examples
    --------
    >>> load_loan().target  # doctest: +SKIP
    'Loan Status'
    """
    source = "Kaggle, hemanthsai7/loandefault, train.csv, its nine categorical features with Grade"
    groups = {"Grade": {"B": "B", "C": "C", "*": "other"}}
    return _dataset("loan", "Loans", source, "Loan Status", groups)


def load_adult() -> Dataset:
    """Adults who earn more than 50,000 dollars or not, by age band and gender: 48,842 rows.

    Numbers are cut into four bins. ``educational-num`` says the same as ``education``, and
    ``fnlwgt`` is a weight: both are left out.

    References
    ----------
    B. Becker, R. Kohavi: Adult. UCI Machine Learning Repository, 1996,
    https://doi.org/10.24432/C5XW20, CC BY 4.0.

    Examples
    --------
    >>> load_adult().target  # doctest: +SKIP
    'income'
    """
    source = "UCI Machine Learning Repository, Adult (id 2), both files one after the other"
    groups = [{"age": [30, 45]}, "gender"]
    data = _dataset("adult", "Adults and their income", source, "income", groups, bins=4)
    return data.without("fnlwgt", "educational-num")


def load_diabetes130() -> Dataset:
    """Hospital stays of people with diabetes, back within 30 days or not, by age: 101,766 rows.

    Sixteen features that are recorded for nearly everyone; numbers are cut into four bins.

    References
    ----------
    J. Clore, K. Cios, J. DeShazo, B. Strack: Diabetes 130-US Hospitals for Years 1999-2008. UCI
    Machine Learning Repository, 2014, https://doi.org/10.24432/C5230J, CC BY 4.0.

    Examples
    --------
    >>> load_diabetes130().target  # doctest: +SKIP
    'readmitted'
    """
    source = (
        "UCI Machine Learning Repository, Diabetes 130-US Hospitals (id 296), diabetic_data.csv"
    )
    groups = {"age": {f"[{ten}-{ten + 10})": _age_band(ten) for ten in range(0, 100, 10)}}
    bins = {**dict.fromkeys(_STAY_NUMBERS, 4), "*": 4}
    what = "Hospital stays of people with diabetes"
    data = _dataset("diabetes130", what, source, "readmitted", groups, bins=bins)
    kept = {name: data.columns[name] for name in ("age", *_STAY_NUMBERS, *_STAY_CATEGORIES)}
    back = (data.columns["readmitted"] == "<30").astype(np.int64)
    return replace(data, columns={**kept, "readmitted": back})


_STAY_NUMBERS = [
    "time_in_hospital",
    "num_lab_procedures",
    "num_procedures",
    "num_medications",
    "number_outpatient",
    "number_emergency",
    "number_inpatient",
    "number_diagnoses",
]
_STAY_CATEGORIES = [
    "max_glu_serum",
    "A1Cresult",
    "metformin",
    "insulin",
    "change",
    "diabetesMed",
    "admission_type_id",
    "gender",
]


def _age_band(youngest: int) -> str:
    for start, end in ((0, 40), (40, 60), (60, 70), (70, 80)):
        if youngest < end:
            return f"{start} to {end}"
    return "80 and above"


def _dataset(
    name: str, what: str, source: str, target: str, groups: Any, *, bins: Any = 5
) -> Dataset:
    columns = read_columns(f"{name}.csv.gz", source)
    return Dataset(name, columns, target, groups, f"{what}. Source: {source}.", bins=bins)


def read_columns(file: str, source: str) -> dict[str, NDArray[Any]]:
    """The columns of a CSV file in the user's folder, by DuckDB, or by pandas without it."""
    folder = os.environ.get(FOLDER_VARIABLE, "")
    path = Path(folder, file)
    if not folder or not path.is_file():
        where = f"{folder!r} does not hold it" if folder else f"{FOLDER_VARIABLE} is not set"
        raise MisfeatError(
            "{file!r} is needed, but {where}.",
            remedy="Download it ({source}), save it as {file!r} in a folder, and set {variable} to "
            "that folder.",
            file=file,
            where=where,
            source=source,
            variable=FOLDER_VARIABLE,
        )
    if find_spec("duckdb") is None:
        import pandas as pd

        frame = pd.read_csv(path, keep_default_na=False, na_values=[""], low_memory=False)
        return {name: frame[name].to_numpy() for name in frame}
    from misfeat.reading.files import open_path
    from misfeat.reading.values import MissingCodes

    opened = open_path(str(path), MissingCodes())
    columns = opened.native.to_arrow_table().columns
    opened.close()
    return {name: column.to_numpy() for name, column in zip(opened.names, columns, strict=True)}
