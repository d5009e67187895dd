"""Sites of which rounding hides a class."""

from __future__ import annotations

import numpy as np
import pytest

from misfeat.sites import agree, combine, propose, summarise
from misfeat.sites.combination import with_hidden_classes
from misfeat.sites.rounding import rounded_summary

RARE = 6


@pytest.fixture(scope="module")
def sites():
    """Three sites; the last has few rows of a class that the others have many of."""
    rng = np.random.default_rng(3)
    tables = {}
    for site, ill in (("north", 100), ("south", 120), ("west", RARE)):
        target = np.arange(300) < ill
        table = {name: (rng.random(300) < 0.3 + 0.4 * target).astype(int) for name in "abcd"}
        tables[site] = {**table, "ill": target}
    codebook, _ = agree([propose(table, "ill", site) for site, table in tables.items()])
    return [
        summarise(table, codebook, site, share="tables3", min_cell=1)
        for site, table in tables.items()
    ]


@pytest.fixture(scope="module")
def hiding(sites):
    """The same in multiples of 20, where the last site tells of one class only."""
    told = [
        next(
            one
            for one in (rounded_summary(site, 20, bytes([n])) for n in range(50))
            if (np.count_nonzero(one.by_class) > 1) == (site.site != "west")
        )
        for site in sites
    ]
    assert np.count_nonzero(told[-1].by_class) == 1
    return told


def test_a_class_that_rounding_hides_is_taken_to_have_a_few_rows(hiding):
    believed = with_hidden_classes(hiding)
    for one, other in zip(hiding[:-1], believed[:-1], strict=True):
        assert np.array_equal(one.by_class, other.by_class)
    west = believed[-1].by_class[hiding[-1].by_class == 0]
    assert 0 < west.max() < 20


def test_a_class_that_nobody_tells_of_and_exact_counts_stay_as_they_are(sites, hiding):
    for one, other in zip(sites, with_hidden_classes(sites), strict=True):
        assert np.array_equal(one.by_class, other.by_class)
    believed = with_hidden_classes(hiding)
    nobody = ~np.any([one.by_class > 0 for one in hiding], axis=0)
    assert not any(one.by_class[nobody].any() for one in believed)


def test_a_site_that_tells_of_one_class_is_answered_by_the_others_and_stays_open(hiding, tmp_path):
    found = combine(hiding)
    selection = found.selection
    west = selection.completed(2)
    place = [one.site for one in found.taken].index("west")
    assert np.isfinite(west.score).all()
    assert (west.high[place] > west.score[place]).all()
    assert (west.high[place] > 0.05).all()
    assert any("worth 1 and 1 and 1" in str(note) for note in selection.cohorts.notes)
    selection.save(tmp_path / "run")
