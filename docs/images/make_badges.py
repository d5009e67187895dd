"""Draw the badges of the README from what was just run: tests with coverage, and mypy.

    make coverage  # calls this script at its end

writes badge_coverage.svg and badge_typing.svg beside this script. Coverage is that of the quick
tests; the slow, heavy and browser tests reach more.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
COVERAGE = ROOT / "coverage.json"
OF_A_LETTER = 6.6
"""Pixels, about; the text is stretched to fit."""

BADGE = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" \
aria-label="{name}: {value}">
  <title>{name}: {value}</title>
  <rect width="{width}" height="20" rx="3" fill="#5a6570"/>
  <path d="M{left} 0h{right}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{right}z" fill="#0b5cad"/>
  <g fill="#fff" font-family="Verdana, 'DejaVu Sans', sans-serif" font-size="11">
    <text x="6" y="14" textLength="{name_length}">{name}</text>
    <text x="{value_at}" y="14" textLength="{value_length}">{value}</text>
  </g>
</svg>
"""


def main() -> None:
    reached = json.loads(COVERAGE.read_text(encoding="utf-8"))["totals"]["percent_covered"]
    write("coverage", f"{reached:.0f} % of lines and branches")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy"], cwd=ROOT, text=True, capture_output=True, check=True
    )
    files = re.search(r"in (\d+) source files", checked.stdout)
    write("typing", f"mypy strict, {files[1]} files" if files else sys.exit(checked.stdout))


def write(name: str, value: str) -> None:
    """A badge: a name on grey, a value on blue."""
    name_length, value_length = (round(OF_A_LETTER * len(text)) for text in (name, value))
    left = name_length + 12
    drawn = BADGE.format(
        name=name,
        value=value,
        name_length=name_length,
        value_length=value_length,
        left=left,
        value_at=left + 6,
        right=value_length + 9,
        width=left + value_length + 12,
    )
    FOLDER.joinpath(f"badge_{name}.svg").write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
