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


def pair(row) -> str:
    return f"{float(row['ndcg_5']):.2f} / {float(row['ndcg_10']):.2f}"


def by_table(found, tables) -> str:
    columns = [*LABELS, "noise ceiling"]
    lines = ["| nDCG@5 / @10 | p | " + " | ".join(columns) + " |", "| --- " * 8 + "|"]
    for share in SHARES:
        for table in tables:
            cells = [pair(found[table, share, c]) for c in columns]
            lines.append(f"| {table} | {share} | " + " | ".join(cells) + " |")
        cells = [
            f"**{mean(found, tables, share, c, 'ndcg_5'):.3f} / "
            f"{mean(found, tables, share, c, 'ndcg_10'):.3f}**"
            for c in columns
        ]
        lines.append(f"| **mean** | {share} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def coverage(found, tables) -> str:
    lines = ["| coverage of 90 % intervals (mean width) | p = 0.2 | p = 0.5 |", "| --- " * 3 + "|"]
    for table in tables:
        cells = [
            f"{float(found[table, p, 'transfer']['coverage']):.1%} "
            f"({float(found[table, p, 'transfer']['width']):.2f})"
            for p in SHARES
        ]
        lines.append(f"| {table} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def scores_only() -> str:
    means = [r for r in rows_of("scores_only.csv") if r["table"] == "mean of the tables"]
    lines = ["| from scores alone, mean of the tables | p = 0.2 | p = 0.5 |", "| --- " * 3 + "|"]
    for name in dict.fromkeys(r["completer"] for r in means):
        cells = [
            f"{float(r['ndcg_5']):.3f} / {float(r['ndcg_10']):.3f}"
            for r in means
            if r["completer"] == name
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def what_is_left() -> str:
    means = [r for r in rows_of("what_is_left.csv") if r["table"] == "mean of the tables"]
    lines = ["| mean of the tables | p = 0.2 | p = 0.5 |", "| --- " * 3 + "|"]
    for name in ("as it is", "complete donors", "noise ceiling"):
        cells = [
            f"{float(r['ndcg_5']):.3f} / {float(r['ndcg_10']):.3f}"
            for r in means
            if r["completer"] == name
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def larger_sizes() -> str:
    lines = ["| size | table | completer | nDCG@5 / @10 | relative error |", "| --- " * 5 + "|"]
    for size in (4, 5):
        runs = sorted(path.name for path in FOLDER.glob(f"size{size}*"))
        for row in [row for run in runs for row in rows_of(f"{run}/means.csv")]:
            if row["completer"] != "noise ceiling":
                error = float(row["relative_error"])
                about = f"{size} | {row['table']} | {row['completer']}"
                lines.append(f"| {about} | {pair(row)} | {error:.3f} |")
    return "\n".join(lines)


def summary(found, tables) -> str:
    lines = ["| | p = 0.2 hidden | p = 0.5 hidden |", "| --- " * 3 + "|"]
    for name, label in LABELS.items():
        cells = [
            f"{mean(found, tables, p, name, 'ndcg_5'):.3f} / "
            f"{mean(found, tables, p, name, 'ndcg_10'):.3f}"
            for p in SHARES
        ]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    found = figures()
    tables = list(dict.fromkeys(table for table, _, _ in found))
    blocks = {
        "summary": summary(found, tables),
        "by table": by_table(found, tables),
        "coverage": coverage(found, tables),
        "scores only": scores_only(),
        "what is left": what_is_left(),
        "larger sizes": larger_sizes(),
    }
    path = PROJECT / "docs" / "explanation" / "completion.md"
    text = path.read_text(encoding="utf-8")
    for name, block in blocks.items():
        begin, end = f"<!-- make_tables.py: {name} -->", "<!-- end -->"
        pattern = re.escape(begin) + ".*?" + re.escape(end)
        text = re.sub(pattern, f"{begin}\n\n{block}\n\n{end}", text, flags=re.DOTALL)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
