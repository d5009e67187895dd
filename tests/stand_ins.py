"""Small tables with the columns of real ones that are not shipped (docs/reference/data.md)."""

import csv
import gzip
from pathlib import Path

import numpy as np

N_ROWS = 600
LEVELS = ("Low", "Medium", "High")

MOBILE = {
    "battery_power": (501, 1998), "blue": 2, "clock_speed": [0.5, 1.2, 2.2, 3.0], "dual_sim": 2,
    "fc": (0, 19), "four_g": 2, "int_memory": (2, 64), "m_dep": [0.1, 0.4, 0.6, 0.9],
    "mobile_wt": (80, 200), "n_cores": (1, 8), "pc": (0, 20), "px_height": (0, 1960),
    "px_width": (500, 1998), "ram": (256, 3998), "sc_h": (5, 19), "sc_w": (0, 18),
    "talk_time": (2, 20), "three_g": 2, "touch_screen": 2, "wifi": 2,
}  # fmt: skip
ATTRITION = {
    "Age": (18, 59), "Gender": ("Male", "Female"), "Years at Company": (1, 40),
    "Job Role": ("Education", "Media", "Finance"), "Monthly Income": [2500, 4500, 7000, 12000],
    "Work-Life Balance": LEVELS, "Job Satisfaction": LEVELS, "Performance Rating": LEVELS,
    "Number of Promotions": 5, "Overtime": ("No", "Yes"), "Distance from Home": (1, 99),
    "Education Level": LEVELS, "Marital Status": ("Married", "Single", "Divorced"),
    "Number of Dependents": 7, "Job Level": ("Entry", "Mid", "Senior"), "Company Size": LEVELS,
    "Company Tenure": (2, 128), "Remote Work": ("No", "Yes"),
    "Leadership Opportunities": ("No", "Yes"), "Innovation Opportunities": ("No", "Yes"),
    "Company Reputation": LEVELS, "Employee Recognition": LEVELS,
}  # fmt: skip
LOAN = {
    "Term": [36, 58, 59], "Initial List Status": ("w", "f"), "Inquires - six months": 6,
    "Employment Duration": ("MORTGAGE", "OWN", "RENT"), "Delinquency - two years": 9,
    "Application Type": ("INDIVIDUAL", "JOINT"), "Verification Status": LEVELS,
    "Public Record": 5, "Collection 12 months Medical": 2, "Grade": tuple("ABCDEFG"),
}  # fmt: skip
ADULT = {
    "age": (17, 90), "workclass": ("Private", "?", "State-gov"), "fnlwgt": (12000, 1490000),
    "education": ("HS-grad", "Bachelors", "Masters"), "educational-num": (1, 16),
    "marital-status": ("Married-civ-spouse", "Never-married"), "relationship": LEVELS,
    "occupation": tuple("abcdefghijk"), "race": ("White", "Black", "Other"),
    "gender": ("Male", "Female"), "capital-gain": [0, 0, 0, 7688, 15024], "capital-loss": [0, 1902],
    "hours-per-week": (1, 99), "native-country": ("United-States", "?", "Mexico"),
}  # fmt: skip
DIABETES = {
    "encounter_id": (1, 10**8), "gender": ("Female", "Male"),
    "age": tuple(f"[{ten}-{ten + 10})" for ten in range(0, 100, 10)), "weight": ("?", "[75-100)"),
    "admission_type_id": (1, 8), "time_in_hospital": (1, 14), "num_lab_procedures": (1, 118),
    "num_procedures": (0, 6), "num_medications": (1, 75), "number_outpatient": (0, 30),
    "number_emergency": (0, 20), "number_inpatient": (0, 15), "number_diagnoses": (1, 16),
    "max_glu_serum": ("None", "Norm", ">200"), "A1Cresult": ("None", ">8", "Norm"),
    "metformin": ("No", "Steady", "Up"), "insulin": ("No", "Steady", "Up"),
    "change": ("No", "Ch"), "diabetesMed": ("Yes", "No"),
}  # fmt: skip


def write_stand_ins(folder: Path) -> None:
    """Write a file of every table into a folder."""
    rng = np.random.default_rng(7)
    mobile = _drawn(MOBILE, rng)
    mobile["price_range"] = [min(3, v // 1000) for v in mobile["ram"]]
    attrition = _drawn(ATTRITION, rng)
    attrition["Attrition"] = ["Left" if v == "Entry" else "Stayed" for v in attrition["Job Level"]]
    loan = _drawn(LOAN, rng)
    grade = loan.pop("Grade")
    loan |= {"Loan Status": [int(v > 58) for v in loan["Term"]], "Grade": grade}
    adult = _drawn(ADULT, rng)
    adult["income"] = [">50K" if v > 50 else "<=50K" for v in adult["hours-per-week"]]
    stays = _drawn(DIABETES, rng)
    stays["readmitted"] = rng.choice(("NO", ">30", "<30"), size=N_ROWS).tolist()
    tables = {"mobile": mobile, "attrition": attrition, "loan": loan}
    for name, columns in {**tables, "adult": adult, "diabetes130": stays}.items():
        path = folder / f"{name}.csv.gz"
        with gzip.open(path, "wt", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))


def _drawn(kinds: dict, rng: np.random.Generator) -> dict[str, list]:
    """Columns drawn evenly: below a number, from a range of whole numbers, or from a list."""
    columns = {}
    for name, kind in kinds.items():
        match kind:
            case int():
                values = rng.integers(kind, size=N_ROWS)
            case (int() as low, int() as high):
                values = rng.integers(low, high + 1, size=N_ROWS)
            case _:
                values = rng.choice(kind, size=N_ROWS)
        columns[name] = values.tolist()
    return columns
