"""How large the reports of large tables are, and how soon they are open in Chromium and Firefox.

    python -m benchmarks.report.open_report

Thirty features of twenty subgroups in sets of three, and 300 features of thirty subgroups in sets
of two, a third of them unrecorded. The completer is the cheapest one, as the page holds as many
numbers whichever predicted them. Seconds run from the start of the navigation to the end of the
load event, after which every script has run. Needs ``make test-browser``'s environment, Chromium
and Firefox. Prints a line a run and writes open_report.csv.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts
from tests.browsers.launching import EXECUTABLES, launched
from tests.browsers.visit import Visit

RUNS = 5


@dataclass(frozen=True)
class Case:
    """A table and the sets that are asked for."""

    features: int
    subgroups: int
    rows: int
    size: int


CASES = (Case(30, 20, 2000, 3), Case(300, 30, 200, 2))
HEAD = ("features", "subgroups", "size", "megabytes", "browser", "seconds to open")


def written_report(case: Case, folder: str) -> Path:
    data = make_cohorts(
        n_cohorts=case.subgroups,
        n_features=case.features,
        n_rows=case.rows,
        hide=0.3,
        random_state=0,
    )
    selector = SubgroupSelector(data.groups, size=case.size, completer="interactions", n_jobs=-1)
    path = Path(folder) / "report.html"
    selector.fit(data.columns, data.target).report(validate=False).write_html(path)
    return path


def seconds_to_open(path: Path, name: str) -> list[float]:
    seconds = []
    with launched(name) as browser:
        for _ in range(RUNS):
            visit = Visit(browser, path)
            seconds.append(visit.seconds_to_load())
            visit.close()
    return seconds


def measured(case: Case) -> list[tuple]:
    with tempfile.TemporaryDirectory() as folder:
        path = written_report(case, folder)
        about = (case.features, case.subgroups, case.size, f"{path.stat().st_size / 1e6:.2f}")
        return [
            (*about, name, f"{seconds:.2f}")
            for name in EXECUTABLES
            for seconds in seconds_to_open(path, name)
        ]


def main() -> None:
    place = Path(__file__).with_suffix(".csv")
    rows = [HEAD, *(row for case in CASES for row in measured(case))]
    with place.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    csv.writer(sys.stdout).writerows(rows)


if __name__ == "__main__":
    main()
