"""Put the page of the paper's experiments into the documentation.

    misfeat bench paper --out benchmarks/paper
    python benchmarks/paper/make_page.py

The first command needs the real tables (docs/reference/data.md). The pieces of work in work.jsonl
were done in about ten minutes by five workers on an H200 with 16 CPU cores; the command goes on
from that file, so that with it everything is written anew within seconds.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent.parent / "docs" / "benchmarks" / "paper_results.md"


def main() -> None:
    text = (FOLDER / "page.md").read_text(encoding="utf-8")
    PAGE.write_text(text.replace("](", "](../../benchmarks/paper/"), encoding="utf-8")


if __name__ == "__main__":
    main()
