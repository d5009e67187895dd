"""Put what the attacks counted into docs/benchmarks/reliability.md.

    make reliability

runs every attack of tests/attacks into benchmarks/reliability/after, and then this script. Where
the test command left a file .coverage, the share of lines and branches that it reached is taken
from there, and kept in coverage.json for the next time.
"""

from __future__ import annotations

import json
from pathlib import Path

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent.parent / "docs" / "benchmarks" / "reliability.md"
COVERED = FOLDER / "coverage.json"
DATA = FOLDER.parent.parent / ".coverage"

HEAD = """# Does it break?

What [misfeat promises](../reference/guarantees.md) is attacked by the scripts in `tests/attacks`,
each of which counts how its cases end. `make reliability` runs them all and writes this page;
`make fuzz` is the longest by far. CI tries some cases of every attack. Every script takes `--cases`
and `--seed`.

| attack | what must hold | commit | cases | ended wrong |
| --- | --- | --- | ---: | ---: |
"""
NOTE = """
How cases ended, one by one: `benchmarks/reliability/after/`.
"""


def counted(folder):
    """What the attacks wrote into a folder, by name."""
    files = sorted((FOLDER / folder).glob("*.json"))
    return {file.stem: json.loads(file.read_text()) for file in files}


def coverage_reached():
    """The per cent of lines and branches that the test command reached, where it is known."""
    if DATA.exists():
        from coverage import Coverage

        measured = Coverage(data_file=str(DATA))
        measured.load()
        with (FOLDER / "coverage.txt").open("w") as nowhere:
            total = measured.report(file=nowhere)
        (FOLDER / "coverage.txt").unlink()
        COVERED.write_text(json.dumps({"lines and branches, %": round(total, 1)}) + "\n")
    if not COVERED.exists():
        return None
    return next(iter(json.loads(COVERED.read_text()).values()))


def line_of(name, now):
    of = now.get("commit", "")
    return f"| `{name}` | {now['promise']} | {of} | {now['cases']:,} | {now['wrong']:,} |\n"


def main():
    now = counted("after")
    total = sum(told["cases"] for told in now.values())
    wrong = sum(told["wrong"] for told in now.values())
    text = HEAD + "".join(line_of(name, told) for name, told in now.items())
    text += f"| all | | | {total:,} | {wrong:,} |\n" + NOTE
    reached = coverage_reached()
    if reached is not None:
        text += f"\nThe test command reaches {reached} % of all lines and branches.\n"
    PAGE.write_text(text, encoding="utf-8")
    print(f"{PAGE.name}: {total:,} cases of {len(now)} attacks, {wrong:,} ended wrong.")


if __name__ == "__main__":
    main()
