"""Contract checks find what is wrong with completers, and say so in words."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from misfeat.completion import BaseCompleter, Guess
from misfeat.testing import check_completer

PAGE = Path(__file__).parents[1] / "docs" / "how_to" / "extend.md"
LONGEST_TEMPLATE = 40


@pytest.mark.slow
def test_checks_need_no_pytest():
    code = "import sys; sys.modules['pytest'] = None; import misfeat.testing"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_template_is_short_and_the_completer_is_checked():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert len(blocks) == 2
    assert all(len(block.splitlines()) < LONGEST_TEMPLATE for block in blocks)
    assert re.search(r"^check_completer\(", blocks[0], re.M)


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


class Writing(Mean):
    def guess(self, known, size):
        for scores in known.exact.by_size:
            scores.fill(0.0)
        return super().guess(known, size)


def test_a_completer_of_one_method_keeps_the_contract_and_wrong_ones_are_told_why():
    check_completer(Mean(rounds=2))
    for kind, message in (
        (Unseeded, "something else|gives other scores|scores lower than a part"),
        (Peeking, "features that a subgroup did not record"),
        (Nan, "a score is NaN"),
        (Writing, "marked as predicted where there is an exact one"),
    ):
        with pytest.raises(AssertionError, match=message):
            check_completer(kind(rounds=2))
