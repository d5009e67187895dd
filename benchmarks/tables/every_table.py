"""Every table of some folders: an answer, or a reason in one line.

    python benchmarks/tables/every_table.py --out benchmarks/tables/every_table.csv FOLDER ...

Nobody looks at the tables first. The target is the column called target, class, y or outcome, and
else the last one. The subgroups are those of the first other column with two to six values, each in
at least 20 rows with a target; where there is none, the table is one subgroup. A line of the output
says how a table ended: answered, refused (with the reason), or failed (with the foreign error).
"""

from __future__ import annotations

import argparse
import csv
import gzip
import signal
import time
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from misfeat import SubgroupSelector
from misfeat.answers import recommendation, subgroup_significance
from misfeat.exceptions import MisfeatError

CALLED = ("target", "class", "y", "outcome")
FEWEST, MOST, LEAST_ROWS = 2, 6, 20
FEW_PERMUTATIONS, FEW_STEPS = 99, 39
NOTHING = ("", "NA", "?", "nan", "NaN")
ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz")


@dataclass
class Outcome:
    """How one table ended."""

    source: str
    table: str
    rows: int = 0
    columns: int = 0
    target: str = ""
    group: str = ""
    outcome: str = "failed"
    reason: str = ""
    verdicts: str = ""  # How many subgroups ended how
    best: str = ""  # The set of the first subgroup in which anything is explained
    share: float | None = None  # What it explains
    cautions: str = ""
    left_out: str = ""
    seconds: float = 0.0  # Of CPU time


def read_cells(file: Path) -> list[list[str]]:
    """The cells of a file, by a reader that is not ours; the header first."""
    opened: Any = gzip.open if file.suffix == ".gz" else open
    for encoding in ("utf-8-sig", "latin-1"):
        try:
            with opened(file, "rt", encoding=encoding, newline="") as lines:
                text = lines.read()
        except UnicodeDecodeError:
            continue
        header = text.partition("\n")[0]
        mark = max(",;\t|", key=header.count)
        mark = mark if mark in header else " "
        quote = "'" if header.startswith("'") else '"'
        rows = csv.reader(text.splitlines(keepends=True), delimiter=mark, quotechar=quote)
        return [row for row in rows if row]
    raise AssertionError("latin-1 reads anything")


def target_and_group(cells: list[list[str]]) -> tuple[str, str | None]:
    """The target and the column of the subgroups, by the rule above."""
    header, *rows = cells
    names = [name.strip() or f"column{at}" for at, name in enumerate(header)]
    called = [at for at, name in enumerate(names) if name.lower() in CALLED]
    target = called[0] if called else len(names) - 1
    known = [row for row in rows if len(row) == len(names) and row[target] not in NOTHING]
    for at, name in enumerate(names):
        counts = Counter(row[at] for row in known if row[at] not in NOTHING)
        few = FEWEST <= len(counts) <= MOST and min(counts.values()) >= LEAST_ROWS
        if at != target and few:
            return names[target], name
    return names[target], None


def outcome_of(file: Path, source: str) -> Outcome:
    """Fit one table, and ask for the answer and for cautions."""
    cells, found = read_cells(file), Outcome(source, file.name)
    target, group = target_and_group(cells)
    found.rows, found.columns = len(cells) - 1, len(cells[0])
    found.target, found.group = target, group or ""
    started = time.process_time()
    try:
        selector = SubgroupSelector(groups=group, random_state=0, n_jobs=1)
        answers = selector.fit(str(file), target).answer()
        cautions = selector.selection_.cautions()
    except MisfeatError as error:
        found.outcome, found.reason = "refused", str(error).replace(str(file.parent), "")
    except TimeoutError:
        found.outcome, found.reason = "failed", "time limit"
    except Exception as error:  # what must not be: it is counted
        found.reason = f"{type(error).__name__}: {error}"
    else:
        found.outcome = "answered"
        verdicts = Counter(one.verdict for one in answers)
        found.verdicts = "; ".join(f"{word}: {n}" for word, n in verdicts.most_common())
        told = [one for one in answers if one.features]
        if told:
            found.best, found.share = ", ".join(told[0].features), round(told[0].share, 3)
        kinds = Counter(cautions["kind"].tolist())
        found.cautions = "; ".join(kinds)
        left = [one for one in selector.cohorts_.columns if one.role == "left out"]
        found.left_out = "; ".join(f"{one.column}: {one.treatment}" for one in left)
    found.seconds = round(time.process_time() - started, 2)
    return found


def stop(*_: object) -> None:
    """What the alarm calls."""
    raise TimeoutError


def prepare() -> None:
    """Of a process: leave out what takes long and does not decide whether there is an answer."""
    warnings.simplefilter("ignore")
    tests = subgroup_significance
    tests.USUAL_PERMUTATIONS = tests.FEWER_PERMUTATIONS = FEW_PERMUTATIONS
    tests.STEP_PERMUTATIONS = tests.FEWER_STEP_PERMUTATIONS = FEW_STEPS
    recommendation.MOST_MODELLED = 0
    signal.signal(signal.SIGPROF, stop)


def limited(file: Path, source: str, limit: int) -> Outcome:
    """The outcome of a table, for which there are so many seconds of CPU time."""
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        return outcome_of(file, source)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=120, help="CPU seconds a table")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    found = [
        (file, folder.name)
        for folder in asked.folders
        for file in sorted(folder.rglob("*"))
        if file.name.endswith(ENDINGS)
    ]
    ended: dict[str, Counter[str]] = {source: Counter() for _, source in found}
    with (
        asked.out.open("w", newline="", encoding="utf-8") as out,
        ProcessPoolExecutor(asked.jobs, initializer=prepare) as pool,
    ):
        writer = csv.DictWriter(out, [one.name for one in fields(Outcome)])
        writer.writeheader()
        running = [pool.submit(limited, file, source, asked.limit) for file, source in found]
        for one in running:
            outcome = one.result()
            ended[outcome.source][outcome.outcome] += 1
            writer.writerow(asdict(outcome))
            out.flush()
    for source, counts in ended.items():
        print(source, dict(counts))


if __name__ == "__main__":
    main()
