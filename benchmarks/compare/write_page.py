"""Put the figures of compare.csv into docs/benchmarks/comparison.md, between its marks.

python benchmarks/compare/write_page.py
"""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

FOLDER = Path(__file__).parent
PAGE = FOLDER.parents[1] / "docs" / "benchmarks" / "comparison.md"
MARKS = ("<!-- write_page.py: figures -->\n", "<!-- write_page.py: end -->")
UNRECORDED = ", unrecorded too"


def main() -> None:
    found = pd.read_csv(FOLDER / "compare.csv")
    text = PAGE.read_text(encoding="utf-8")
    begin, end = (re.escape(mark) for mark in MARKS)
    tables = f"{MARKS[0]}\n{figures(found)}\n{MARKS[1]}"
    placed = re.sub(f"{begin}.*?{end}", lambda _: tables, text, flags=re.S)
    PAGE.write_text(placed, encoding="utf-8")


def figures(found: pd.DataFrame) -> str:
    """The tables, best first, and how many choices they are means of."""
    everywhere = found[found["method"].str.endswith(UNRECORDED)]
    recorded = found[~found["method"].str.endswith(UNRECORDED)]
    draws = found.groupby("table")["seed"].nunique()
    counts = found.drop_duplicates(["table", "rows", "seed", "subgroup"]).groupby("table").size()
    lines = [
        f"Generated tables: {draws['generated']} draws of each size, {counts['generated']} choices "
        f"a method. Adult: {draws['adult']}, {counts['adult']} choices; differences of a few "
        "hundredths are no more than chance.",
        "",
        "**Of what was recorded.** Share of the true information of the best recorded set:",
        "",
        _table(recorded, "best", with_auc=True),
        "",
        "**Of all features**, recorded by the subgroup or not. Share of the true information of "
        "the best set of all, the four best methods:",
        "",
        _table(pd.concat([everywhere, recorded]), "best_of_all", most=4),
    ]
    return "\n".join(lines) + "\n"


def _table(
    found: pd.DataFrame, best: str, *, with_auc: bool = False, most: int | None = None
) -> str:
    settings = [(t, r) for t in ("generated", "adult") for r in sorted(found["rows"].unique())]
    head = [f"{'Adult' if t == 'adult' else t}, {r:,} rows" for t, r in settings]
    head += ["AUC in Adult", "CPU seconds"] if with_auc else []
    rows = []
    for method, own in found.groupby("method"):
        cells = []
        for table, n in settings:
            here = own[(own["table"] == table) & (own["rows"] == n)]
            cells.append(here["told"].sum() / here[best].sum())
        line = [f"{cell:.2f}".lstrip("0") if cell < 1 else f"{cell:.2f}" for cell in cells]
        if with_auc:
            line += [f"{own['auc'].mean():.3f}", f"{own['seconds'].mean():.2f}"]
        name = f"**{method}**" if method.startswith("misfeat") else method
        rows.append((-sum(cells), f"| {name} | {' | '.join(line)} |"))
    lines = [f"| | {' | '.join(head)} |", "| --- |" + " ---: |" * len(head)]
    return "\n".join([*lines, *(line for _, line in sorted(rows)[:most])])


if __name__ == "__main__":
    main()
