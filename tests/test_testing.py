"""Contract checks find what is wrong with completers and sources, and say so in words."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from misfeat.completion import BaseCompleter, Guess
from misfeat.testing import check_completer, check_source

PAGE = Path(__file__).parents[1] / "docs" / "how_to" / "extend.md"
LONGEST_TEMPLATE = 40
TABLE = {"a": [0, 1, 1, None], "b": ["x", "y", "x", "x"], "y": [0, 1, 0, 1]}


def test_checks_need_no_pytest():
    code = "import sys; sys.modules['pytest'] = None; import misfeat.testing"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_template_is_short_and_is_checked():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert len(blocks) == 2
    for block in blocks:
        assert len(block.splitlines()) < LONGEST_TEMPLATE
        assert re.search(r"^check_\w+\(", block, re.M)


class Mean(BaseCompleter):
    """The mean of the scores of a size that are known anywhere."""

    def guess(self, known, size):
        by_size = known.exact.by_size[: size + 1]
        means = [np.nanmean(s) if np.isfinite(s).any() else 0.0 for s in by_size]
        return Guess.of([np.full_like(s, m) for s, m in zip(by_size, means, strict=True)])


class Unseeded(Mean):
    def guess(self, known, size):
        noise = 0.05 * np.random.default_rng().random()  # none of it is cut off
        return Guess.of([scores + noise for scores in super().guess(known, size).by_size])


class Peeking(Mean):
    def guess(self, known, size):
        guess = super().guess(known, size)
        return Guess.of([scores + 0.01 * known.cohorts.codes.mean() for scores in guess.by_size])


class Nan(Mean):
    def guess(self, known, size):
        return Guess.of([np.full_like(s, np.nan) for s in super().guess(known, size).by_size])


def test_a_completer_of_one_method_keeps_the_contract_and_wrong_ones_are_told_why():
    check_completer(Mean(rounds=2))
    for kind, message in (
        (Unseeded, "something else|gives other scores|scores lower than a part"),
        (Peeking, "features that a subgroup did not record"),
        (Nan, "a score is NaN"),
    ):
        with pytest.raises(AssertionError, match=message):
            check_completer(kind(rounds=2))


class Held:
    """A source that holds a table."""

    def __init__(self, table):
        self.table = table

    def __misfeat_table__(self):
        return self.table


class Stream:
    """A table that hands out a stream of Arrow."""

    def __arrow_c_stream__(self, requested_schema=None):
        import pyarrow as pa

        return pa.Table.from_pandas(pd.DataFrame(TABLE)).__arrow_c_stream__(requested_schema)


def test_what_misfeat_opens_keeps_the_contract(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    frame = pd.DataFrame(TABLE)
    csv, parquet = str(tmp_path / "rows.csv"), str(tmp_path / "rows.parquet")
    frame.to_csv(csv, index=False)
    frame.to_parquet(parquet)
    held = (Held(frame), Held(duckdb.from_df(frame)), Held(Stream()))
    for source in (csv, parquet, *held):
        check_source(source, frame)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({**TABLE, "c": TABLE["y"]}, r"its columns are \['a', 'b', 'y', 'c'\] instead of"),
        ({name: values[:3] for name, values in TABLE.items()}, "it has 3 rows instead of 4"),
        ({**TABLE, "b": ["x", "y", "y", "x"]}, "column 'b' holds"),
        ({**TABLE, "a": [0, 1, 1, 1]}, "column 'a' holds"),
        (3, "cannot be opened: A table cannot be made of a int"),
    ],
)
def test_what_is_wrong_with_a_source_is_said_in_words(table, message):
    with pytest.raises(AssertionError, match=message):
        check_source(Held(table), TABLE)


def test_a_source_that_is_used_up_is_not_a_source():
    import pyarrow as pa

    reader = pa.Table.from_pandas(pd.DataFrame(TABLE)).to_reader()
    with pytest.raises(AssertionError, match="it has 0 rows instead of 4"):
        check_source(Held(reader), TABLE)
