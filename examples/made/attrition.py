"""Employees who stayed or left: a stand-in for a table that may not be shipped."""

from __future__ import annotations

import numpy as np
import pandas as pd

OFFICES = {"Leeds": 900, "Porto": 600, "Riga": 350, "home": 500}
LEVELS = ("entry", "mid", "senior")


def staff(seed: int = 0) -> pd.DataFrame:
    """Draw the employees of four places of work; who works at home has no way to work."""
    rng = np.random.default_rng(seed)
    office = np.repeat(list(OFFICES), list(OFFICES.values()))
    n = len(office)
    level = rng.choice(LEVELS, n, p=[0.4, 0.4, 0.2])
    distance = rng.gamma(2, 9, n).round(1)
    married = rng.random(n) < 0.55
    overtime = rng.choice(["none", "some", "much"], n, p=[0.5, 0.3, 0.2])
    odds = (
        -0.4
        + np.select([level == "entry", level == "senior"], [0.9, -1.4], 0)
        + np.select([overtime == "much"], [0.9], 0)
        + 0.045 * (distance - 18) * (office != "home")
        - 0.6 * married
    )
    return pd.DataFrame(
        {
            "office": office,
            "job level": level,
            "distance": np.where(office == "home", np.nan, distance),
            "overtime": np.where(office == "Riga", None, overtime),
            "married": np.where(office == "Porto", None, np.where(married, "yes", "no")),
            "appraisal": rng.choice(["A", "B", "C"], n),
            "parking": rng.choice(["yes", "no"], n),
            "attrition": np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "left", "stayed"),
        }
    )
