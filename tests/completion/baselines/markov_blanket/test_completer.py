from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from misfeat import MisfeatError
from misfeat.completion import MarkovBlanketCompleter
from misfeat.completion.baselines.knn.imputation import imputed_codes
from misfeat.completion.baselines.markov_blanket import markov_blanket
from misfeat.information import joint_mutual_info
from misfeat.runtime.threads import Work
from tests.completion.coded import cohorts_of, known_of, random_cohorts


def table(n_rows=3000):
    """Features 0 and 1 make the target, 2 is noise; 3, a copy of 1, is hidden from one cohort."""
    rng = np.random.default_rng(0)
    first, second, noise = rng.integers(3, size=(3, 2 * n_rows))
    target = (first + second > 2) ^ (rng.random(2 * n_rows) < 0.1)
    missing = np.zeros((2, 4), dtype=bool)
    missing[0, 3] = True
    return cohorts_of(
        np.array([first, second, noise, second]),
        target.astype(np.int64),
        np.ones(2 * n_rows, dtype=np.int64),
        [0, n_rows, 2 * n_rows],
        missing,
    )


def test_the_last_imputation_compares_rows_in_the_blanket_it_leads_to():
    cohorts = table()
    imputed, members = MarkovBlanketCompleter().imputed_with_blankets(known_of(cohorts, 1))
    codes = imputed_codes(cohorts, cohorts.missing, 5, False, Work(1), members)
    assert np.array_equal(imputed.codes, codes)
    first = next(iter(imputed))
    assert np.flatnonzero(members[0]).tolist() == list(markov_blanket(first.codes, first.target))
    assert not members[1].any()


def test_what_is_outside_the_blanket_adds_nothing():
    cohorts = table()
    guess = MarkovBlanketCompleter().guess(known_of(cohorts, 2), 2)
    imputed, members = MarkovBlanketCompleter().imputed_with_blankets(known_of(cohorts, 1))
    inside = [f for f in (0, 1, 3) if members[0, f]]
    assert not members[0, 2]
    alone = guess.by_size[1][0]
    assert guess.by_size[2][0, 5] == pytest.approx(alone[3])  # {2, 3}
    pair = np.array([sorted({0, 3} & set(inside))])
    expected = joint_mutual_info(next(iter(imputed)), pair)[0]
    assert guess.by_size[2][0, 3] == pytest.approx(expected)  # {0, 3}


def test_repeats_are_capped():
    cohorts = random_cohorts(1)
    once, _ = MarkovBlanketCompleter(repeats=1).imputed_with_blankets(known_of(cohorts, 1))
    plain = imputed_codes(cohorts, cohorts.missing, 5, False, Work(1))
    assert np.array_equal(once.codes, plain)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"repeats": 0}, "repeats=0"),
        ({"alpha": 1}, "alpha=1; it must lie between 0 and 1"),
        ({"rows_per_cell": -1}, "rows_per_cell=-1; it must be a number that is not negative"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    known = known_of(replace(random_cohorts(1)), 1)
    with pytest.raises(MisfeatError, match=message):
        MarkovBlanketCompleter(**settings).complete(known, 1)
