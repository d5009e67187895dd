"""Put the pages of the benchmarks that draw rows into the documentation.

    python -m benchmarks population --jobs -1 --out benchmarks/population
    python -m benchmarks field --part selection --jobs -1 --out benchmarks/field
    python benchmarks/make_pages.py

The first two commands need the real tables (docs/reference/data.md). They go on from the pieces of
work in work.jsonl; those of ours are made anew where the code that scores come from was changed.
A folder without a page is left alone.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
DOCS = FOLDER.parent / "docs" / "benchmarks"
PAGES = {"field": "field.md"}
"""Pages whose names are not those of their folders."""


def main() -> None:
    for name in ("population", "paper", "field"):
        page = FOLDER / name / "page.md"
        if not page.exists():
            print(f"No page: {page}")
            continue
        text = page.read_text(encoding="utf-8")
        placed = text.replace("](", f"](../../benchmarks/{name}/")
        (DOCS / PAGES.get(name, f"{name}_results.md")).write_text(placed, encoding="utf-8")


if __name__ == "__main__":
    main()
