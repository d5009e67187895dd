"""Loaders of real tables that cannot be bundled: they read a folder that the user fills."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib.util import find_spec
from itertools import pairwise
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
    return Dataset(
        name="mobile",
        columns=read_columns("mobile.csv.gz", source),
        target="price_range",
        groups="dual_sim",
        description=f"Mobile phones. Source: {source}.",
    )


def load_attrition() -> Dataset:
    """Employees who stayed or left, by age band and gender: 59,598 rows.

    Examples
    --------
    >>> load_attrition().target  # doctest: +SKIP
    'Attrition'
    """
    source = "Kaggle, stealthtechnologies/employee-attrition-dataset, train.csv without Employee ID"
    return Dataset(
        name="attrition",
        columns=read_columns("attrition.csv.gz", source),
        target="Attrition",
        groups=[{"Age": [25, 40, 50]}, "Gender"],
        description=f"Employees. Source: {source}.",
    )


def load_loan() -> Dataset:
    """Loans that defaulted or not, by grade: 67,463 rows, nine features.

    Examples
    --------
    >>> load_loan().target  # doctest: +SKIP
    'Loan Status'
    """
    source = "Kaggle, hemanthsai7/loandefault, train.csv, its nine categorical features with Grade"
    return Dataset(
        name="loan",
        columns=read_columns("loan.csv.gz", source),
        target="Loan Status",
        groups={"Grade": {"B": "B", "C": "C", "*": "other"}},
        description=f"Loans. Source: {source}.",
    )


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
    columns = read_columns("adult.csv.gz", source)
    return Dataset(
        name="adult",
        columns={n: c for n, c in columns.items() if n not in ("fnlwgt", "educational-num")},
        target="income",
        groups=[{"age": [30, 45]}, "gender"],
        description=f"Adults and their income. Source: {source}.",
        bins=4,
    )


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
    columns = read_columns("diabetes130.csv.gz", source)
    kept = {name: columns[name] for name in ("age", *_STAY_NUMBERS, *_STAY_CATEGORIES)}
    return Dataset(
        name="diabetes130",
        columns={**kept, "readmitted": (columns["readmitted"] == "<30").astype(np.int64)},
        target="readmitted",
        groups={"age": {f"[{ten}-{ten + 10})": _age_band(ten) for ten in range(0, 100, 10)}},
        description=f"Hospital stays of people with diabetes. Source: {source}.",
        bins={**dict.fromkeys(_STAY_NUMBERS, 4), "*": 4},
    )


_STAY_NUMBERS = (
    "time_in_hospital",
    "num_lab_procedures",
    "num_procedures",
    "num_medications",
    "number_outpatient",
    "number_emergency",
    "number_inpatient",
    "number_diagnoses",
)
_STAY_CATEGORIES = (
    "max_glu_serum",
    "A1Cresult",
    "metformin",
    "insulin",
    "change",
    "diabetesMed",
    "admission_type_id",
    "gender",
)


def _age_band(youngest: int) -> str:
    starts = (0, 40, 60, 70, 80)
    ends = dict(pairwise(starts))
    start = max(start for start in starts if start <= youngest)
    return f"{start} to {ends[start]}" if start in ends else f"{start} and above"


def read_columns(file: str, source: str) -> dict[str, NDArray[Any]]:
    """The columns of a CSV file in the user's folder, by DuckDB, or by pandas without it."""
    path = data_folder(file, source) / file
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


def data_folder(file: str, source: str) -> Path:
    """The folder that holds the original tables, or an error that says how to get the file."""
    folder = os.environ.get(FOLDER_VARIABLE, "")
    if not folder or not (Path(folder) / file).is_file():
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
    return Path(folder)


def as_in_paper(data: Dataset) -> Dataset:
    """Leave out and bin the columns of Mobile or Attrition as the MISFEAT paper did.

    Parameters
    ----------
    data : Dataset
        What `load_mobile`, `load_attrition` or `load_loan` returned; the last stays as it is.

    Examples
    --------
    >>> len(as_in_paper(load_mobile()).columns)  # doctest: +SKIP
    17
    """
    left_out, bins = _IN_PAPER[data.name]
    return replace(data.without(*left_out), bins={**bins, "*": 5})


_YEARS_OR_MILES: list[float] = [3, 6, 10, 20]
_IN_PAPER: dict[str, tuple[tuple[str, ...], dict[str, list[float]]]] = {
    "mobile": (
        ("four_g", "int_memory", "sc_h", "sc_w"),
        {
            "battery_power": [1000, 1500],
            "clock_speed": [1, 2],
            "fc": [3.8, 7.6],
            "m_dep": [0.5],
            "mobile_wt": [120, 160],
            "n_cores": [2, 4, 6],
            "pc": [10],
            "px_height": [720, 1080],
            "px_width": [1080, 1440],
            "ram": [1024, 2048, 3072],
            "talk_time": [11],
        },
    ),
    "attrition": (
        ("Company Tenure",),
        {
            "Years at Company": _YEARS_OR_MILES,
            "Distance from Home": _YEARS_OR_MILES,
            "Monthly Income": [3000, 5000, 8000, 10000],
        },
    ),
    "loan": ((), {}),
}
