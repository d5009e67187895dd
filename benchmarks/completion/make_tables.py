"""Write the figures of this folder into docs/explanation/completion.md.

    python benchmarks/completion/make_tables.py

Everything between the marks that name this script is replaced.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

FOLDER = Path(__file__).parent
PROJECT = FOLDER.parent.parent
SHARES = (0.2, 0.5)
LABELS = {
    "transfer": '**misfeat** (`completer="transfer"`)',
    "interactions": 'misfeat from scores alone (`"interactions"`)',
    "gain": "mean gain in the subgroups that recorded the set",
    "add": "single scores elsewhere, added",
    "knn": "imputation by k nearest neighbours",
}


def rows_of(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(newline="") as file:
        return list(csv.DictReader(file))


def figures() -> dict[tuple[str, float, str], dict[str, str]]:
    found = rows_of("size3_knn/means.csv") + rows_of("size3/means.csv")
    return {(r["table"], float(r["hidden"]), r["completer"]): r for r in found}


def mean(found, tables, share, completer, name) -> float:
    return sum(float(found[t, share, completer][name]) for t in tables) / len(tables)


def coverage(found, tables) -> str:
    cells = []
    for p in SHARES:
        held = [float(found[table, p, "transfer"]["coverage"]) for table in tables]
        cells.append(f"{sum(held) / len(held):.1%} ({min(held):.1%})")
    return f"| 90 % intervals hold in (lowest table) | {' | '.join(cells)} |"


def what_is_left(name: str, label: str) -> str:
    means = [r for r in rows_of("what_is_left.csv") if r["table"] == "mean of the tables"]
    cells = [
        f"{float(r['ndcg_5']):.3f} / {float(r['ndcg_10']):.3f}"
        for r in means
        if r["completer"] == name
    ]
    return f"| {label} | " + " | ".join(cells) + " |"


def summary(found, tables) -> str:
    lines = ["| nDCG@5 / @10 | p = 0.2 hidden | p = 0.5 hidden |", "| --- " * 3 + "|"]
    for name, label in LABELS.items():
        cells = [
            f"{mean(found, tables, p, name, 'ndcg_5'):.3f} / "
            f"{mean(found, tables, p, name, 'ndcg_10'):.3f}"
            for p in SHARES
        ]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    lines.append(what_is_left("complete donors", "transfer, if other subgroups lacked nothing"))
    lines.append(what_is_left("noise ceiling", "noise ceiling"))
    lines.append(coverage(found, tables))
    return "\n".join(lines)


def main() -> None:
    found = figures()
    tables = list(dict.fromkeys(table for table, _, _ in found))
    blocks = {"summary": summary(found, tables)}
    path = PROJECT / "docs" / "explanation" / "completion.md"
    text = path.read_text(encoding="utf-8")
    for name, block in blocks.items():
        begin, end = f"<!-- make_tables.py: {name} -->", "<!-- end -->"
        pattern = re.escape(begin) + ".*?" + re.escape(end)
        text = re.sub(pattern, f"{begin}\n\n{block}\n\n{end}", text, flags=re.DOTALL)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
