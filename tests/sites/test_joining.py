"""Sites of which protection hides a class."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from misfeat.sites import agree, combine, propose, summarise
from misfeat.sites.joining import joined_tables, tells_of_classes, with_hidden_classes
from misfeat.sites.noise import deviation_of_classes, noisy_summary
from misfeat.sites.rounding import rounded_summary
from tests.sites.simulating import simulated

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
    return [summarise(table, codebook, site) for site, table in tables.items()]


@pytest.fixture(scope="module")
def hiding(sites):
    """The same in multiples of 20, where the last site tells of one class only."""
    told = [
        next(
            one
            for one in (rounded_summary(site, 20, bytes([n])) for n in range(50))
            if tells_of_classes(one) == (site.site != "west")
        )
        for site in sites
    ]
    assert not tells_of_classes(told[-1])
    return told


def test_a_class_that_rounding_hides_is_taken_to_have_a_few_rows(hiding):
    believed = with_hidden_classes(hiding)
    for one, other in zip(hiding[:-1], believed[:-1], strict=True):
        assert np.array_equal(one.by_class, other.by_class)
    west = believed[-1].by_class[hiding[-1].by_class == 0]
    assert 0 < west.max() < 20


def test_a_class_that_nobody_tells_of_and_exact_counts_stay_as_they_are(sites, hiding):
    assert with_hidden_classes(sites) == sites
    believed = with_hidden_classes(hiding)
    nobody = ~np.any([one.by_class > 0 for one in hiding], axis=0)
    assert not any(one.by_class[nobody].any() for one in believed)


def test_a_class_that_noise_hides_has_as_many_rows_as_noise_varies(sites):
    noisy = [noisy_summary(one, 1.0, draw=simulated(4)) for one in sites]
    west = replace(noisy[-1], by_class=np.where(noisy[0].by_class > 0, 0, noisy[-1].by_class))
    west.by_class[noisy[-1].by_class.argmax()] = 300
    found = with_hidden_classes([*noisy[:-1], west])[-1]
    hidden = (west.by_class == 0) & (noisy[0].by_class > 0)
    wanted = deviation_of_classes(west.noise.scales, west.cards)
    assert hidden.any()
    assert found.by_class[hidden] == pytest.approx(wanted, abs=0.51)


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


def test_a_site_of_which_noise_hides_all_but_the_commonest_values_tells_nothing(sites):
    """No feature can be seen to have two values where one needs half of the rows to be seen."""
    told = [
        noisy_summary(one, epsilon, draw=simulated(5))
        for one, epsilon in zip(sites, (8, 8, 0.3), strict=True)
    ]
    tables, _ = joined_tables(told, told[0].codebook)
    assert (tables.effective[:2] > 20).all()
    assert tables.effective[2].tolist() == [1, 1, 1]
    assert not tables.bias[2].any()
    found = combine(told).selection.completed(1)
    ceiling = combine(told).selection.book.measure.ceiling[2]
    assert (found.high[2] > 0.9 * ceiling).all()
