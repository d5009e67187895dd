"""Two breast cancer cohorts, of which the second never recorded chemotherapy and year.

    MISFEAT_DATA=FOLDER python -m benchmarks.time_to_event.breast_cancer > breast_cancer.txt

Rotterdam (2,982 women) and GBSG (686), from R's package survival; tumour sizes of the second are
coded as those of the first.
"""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd

from misfeat import SubgroupSelector


def cohorts() -> pd.DataFrame:
    """Both cohorts in one table: days to recurrence or death, and whether it happened."""
    folder = Path(os.environ["MISFEAT_DATA"])
    first = pd.read_csv(folder / "rotterdam.csv.gz")
    first = first.drop(columns=["rownames", "pid", "dtime", "death"])
    second = pd.read_csv(folder / "gbsg.csv.gz").drop(columns=["rownames", "pid"])
    second = second.rename(columns={"rfstime": "rtime", "status": "recur"})
    size = pd.cut(second["size"], [0, 20, 50, 1000], labels=["<=20", "20-50", ">50"])
    second["size"] = size.astype(str)
    both = {"Rotterdam": first, "GBSG": second}
    return pd.concat(both, names=["cohort", "row"]).reset_index("cohort")


def main() -> None:
    selector = SubgroupSelector(groups="cohort", size=3).fit(cohorts(), ("rtime", "recur"))
    print(*selector.cohorts_.notes, sep="\n")
    print(selector.answer())
    path = selector.path()
    shown = path.loc[path["step"] <= 4, ["subgroup", "step", "feature", "score", "adds"]]
    print(shown.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
