"""The tables of the paper and other real ones, which cannot be shipped, and the paper's formulas.

Real tables are read from the folder that `MISFEAT_DATA` names; docs/reference/data.md says how to
get them. `make_formula` makes the paper's synthetic tables: a target made of features by a logical
formula, bit by bit.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from misfeat.datasets import Dataset
from misfeat.exceptions import MisfeatError, check_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Line = NDArray[np.int64]

FOLDER_VARIABLE = "MISFEAT_DATA"


def load_mobile() -> Dataset:
    """Mobile phones and their price range, by number of SIM cards: 2,000 rows."""
    source = "Kaggle, iabhishekofficial/mobile-price-classification, train.csv"
    return _dataset("mobile", source, "price_range", "dual_sim")


def load_attrition() -> Dataset:
    """Employees who stayed or left, by age band and gender: 59,598 rows."""
    source = "Kaggle, stealthtechnologies/employee-attrition-dataset, train.csv without Employee ID"
    return _dataset("attrition", source, "Attrition", [{"Age": [25, 40, 50]}, "Gender"])


def load_loan() -> Dataset:
    """Loans that defaulted or not, by grade: 67,463 rows, nine features."""
    source = "Kaggle, hemanthsai7/loandefault, train.csv, its nine categorical features with Grade"
    groups = {"Grade": {"B": "B", "C": "C", "*": "other"}}
    return _dataset("loan", source, "Loan Status", groups)


def load_adult() -> Dataset:
    """Adults who earn more than 50,000 dollars or not, by age band and gender: 48,842 rows.

    ``educational-num`` says the same as ``education``, and ``fnlwgt`` is a weight: both are left
    out. B. Becker, R. Kohavi: Adult. UCI Machine Learning Repository, 1996, CC BY 4.0.
    """
    source = "UCI Machine Learning Repository, Adult (id 2), both files one after the other"
    data = _dataset("adult", source, "income", [{"age": [30, 45]}, "gender"], bins=4)
    return without(data, "fnlwgt", "educational-num")


def load_diabetes130() -> Dataset:
    """Hospital stays of people with diabetes, back within 30 days or not, by age: 101,766 rows.

    Sixteen features that are recorded for nearly everyone. J. Clore, K. Cios, J. DeShazo, B.
    Strack: Diabetes 130-US Hospitals. UCI Machine Learning Repository, 2014, CC BY 4.0.
    """
    source = (
        "UCI Machine Learning Repository, Diabetes 130-US Hospitals (id 296), diabetic_data.csv"
    )
    groups = {"age": {f"[{ten}-{ten + 10})": _age_band(ten) for ten in range(0, 100, 10)}}
    bins = {**dict.fromkeys(_STAY_NUMBERS, 4), "*": 4}
    data = _dataset("diabetes130", source, "readmitted", groups, bins=bins)
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


def _dataset(name: str, source: str, target: str, groups: Any, *, bins: Any = 5) -> Dataset:
    columns = read_columns(f"{name}.csv.gz", source)
    return Dataset(name, columns, target, groups, f"Source: {source}.", bins=bins)


def without(data: Dataset, *columns: str) -> Dataset:
    """The same table without some columns."""
    kept = {name: column for name, column in data.columns.items() if name not in columns}
    return replace(data, columns=kept)


def read_columns(file: str, source: str) -> dict[str, NDArray[Any]]:
    """The columns of a CSV file in the user's folder."""
    folder = os.environ.get(FOLDER_VARIABLE, "")
    path = Path(folder, file)
    if not folder or not path.is_file():
        where = f"{folder!r} does not hold it" if folder else f"{FOLDER_VARIABLE} is not set"
        raise MisfeatError(
            f"{file!r} is needed, but {where}. Download it ({source}), save it as {file!r} in a "
            f"folder, and set {FOLDER_VARIABLE} to that folder."
        )
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""], low_memory=False)
    return {name: frame[name].to_numpy() for name in frame}


N_RELEVANT = 5
N_REDUNDANT = 2
N_CORRELATED = 2
REPLACED_SHARE = 0.25
"""Values of a redundant feature that are replaced by a constant."""
AGREEMENT = (0.55, 0.60)
"""Range of the share of rows in which a correlated feature equals the target."""
NOISE_MEAN, NOISE_SPREAD = 0.08, 0.02
"""The flip rate of a subgroup is drawn from a normal distribution with these."""

# "xor" binds tighter than "and", which binds tighter than "or".
FORMULAS: dict[int, Callable[..., Line]] = {
    1: lambda f1, f2, f3, f4, f5: (f2 & f4 & f1) | ((f1 & (f2 ^ f5)) ^ (f3 & f2 & f1)),
    2: lambda f1, f2, f3, f4, _: (f2 ^ f4 ^ f1) | (f1 & (f2 ^ f3)),
    3: lambda f1, f2, f3, f4, f5: (f1 & f2 & f3) | (f1 & f5) | (f3 & f5 & f4),
}
COLLECTIONS = {"SD1": (15, 4), "SD2": (20, 5)}
"""Features, and values of each."""


def make_formula(
    collection: str = "SD1",
    formula: int = 1,
    *,
    noise: bool = False,
    n_rows: int = 50_000,
    n_features: int | None = None,
    n_subgroups: int = 4,
    random_state: int | None = None,
) -> Dataset:
    """Generate a table of the paper's collections SD1 or SD2.

    Features ``f1`` to ``f5`` are uniform and make the target by a formula; two are redundant (a
    random formula of three to five of those, a quarter of the values replaced by a constant); two
    are correlated (equal to the target in 55 to 60 % of the rows, else a constant); the rest is
    uniform noise. With `noise`, values are flipped at random after the target was made, at a rate
    of each subgroup; rows belong to subgroups at random.
    """
    usual, n_values = COLLECTIONS[collection]
    n_features = usual if n_features is None else n_features
    fewest = N_RELEVANT + N_REDUNDANT + N_CORRELATED
    check_count(n_features, "n_features", least=fewest)
    rng = np.random.default_rng(random_state)
    subgroup = rng.integers(n_subgroups, size=n_rows)
    relevant = list(rng.integers(n_values, size=(N_RELEVANT, n_rows)))
    target = FORMULAS[formula](*relevant)
    lines = [
        *relevant,
        *(_redundant(relevant, rng) for _ in range(N_REDUNDANT)),
        *(_correlated(target, rng) for _ in range(N_CORRELATED)),
        *rng.integers(n_values, size=(n_features - fewest, n_rows)),
    ]
    if noise:
        rates = np.clip(rng.normal(NOISE_MEAN, NOISE_SPREAD, size=n_subgroups), 0.0, 1.0)
        for i, line in enumerate(lines):
            flips = rng.random(n_rows) < rates[subgroup]
            lines[i] = np.where(flips, rng.integers(n_values, size=n_rows), line)
    columns: dict[str, NDArray[Any]] = {"subgroup": subgroup}
    columns |= {f"f{i + 1}": line for i, line in enumerate(lines)}
    columns["target"] = target
    return Dataset(
        name=f"{collection}, formula {formula}{', with noise' if noise else ''}",
        columns=columns,
        target="target",
        groups="subgroup",
        description=f"Synthetic: {n_features} features of {n_values} values, one logical formula.",
    )


def _redundant(relevant: list[Line], rng: np.random.Generator) -> Line:
    members = rng.choice(len(relevant), size=rng.integers(3, 6), replace=False)
    operations = (np.bitwise_and, np.bitwise_or, np.bitwise_xor)
    line: Line = relevant[members[0]]
    for member in members[1:]:
        line = operations[rng.integers(3)](line, relevant[member])
    replaced = rng.random(len(line)) < REPLACED_SHARE
    return np.where(replaced, rng.choice(line), line)


def _correlated(target: Line, rng: np.random.Generator) -> Line:
    agrees = rng.random(len(target)) < rng.uniform(*AGREEMENT)
    return np.where(agrees, target, rng.choice(target))
