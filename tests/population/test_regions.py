from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from misfeat import Coding, SubgroupSelector
from misfeat.cohorts import build_cohorts
from misfeat.population.posterior import Evidence, InRegions
from misfeat.population.refined import refined_posterior
from misfeat.population.regions import added_up, mixed_spread
from misfeat.selection import saving
from misfeat.selection.checking import ContradictionError, check_cohorts
from misfeat.selection.folders import MANIFEST

KEEP = Coding(min_rows=1)


def hospitals(seed=0, rows=40, per_region=10):
    """Hospitals of two regions; in the north a tells about the target, in the south b does."""
    rng = np.random.default_rng(seed)
    number = np.repeat(np.arange(2 * per_region), rows)
    north = number < per_region
    a, b, c = rng.integers(0, 2, (3, len(number)))
    y = np.where(rng.random(len(number)) < 0.85, np.where(north, a, b), rng.integers(0, 2, a.shape))
    return {
        "region": np.where(north, "north", "south"),
        "hospital": np.array([f"h{one}" for one in number]),
        "a": a,
        "b": b,
        "c": c,
        "y": y,
    }


def scores(table, groups):
    selector = SubgroupSelector(groups, size=1, coding=KEEP)
    return selector.fit(table, "y").selection_.completed(1)


def test_small_hospitals_borrow_from_their_own_region():
    table = hospitals()
    nested = scores(table, ["region", "hospital"])
    del table["region"]
    alike = scores(table, ["hospital"])
    truth = np.zeros((20, 3))
    truth[:10, 0] = truth[10:, 1] = np.log(2) - 0.2664  # 92.5 % of a binary target
    assert np.abs(nested.score - truth).mean() < 0.6 * np.abs(alike.score - truth).mean()
    assert ((nested.low <= truth) & (truth <= nested.high)).mean() > 0.8


def test_a_region_reaches_a_hospital_that_lacks_the_feature():
    table = hospitals()
    for name, feature in (("h0", "a"), ("h19", "a")):
        table[feature] = np.where(table["hospital"] == name, np.nan, table[feature])
    found = scores(table, ["region", "hospital"])
    assert found.predicted[0, 0]
    assert found.predicted[-1, 0]
    assert found.score[0, 0] > 3 * found.score[-1, 0]


def evidence(scores, rows, parents=None, regional=None):
    n_rows = np.asarray(rows, dtype=float)
    null = np.broadcast_to(0.5 / n_rows[:, None] ** 2, scores.shape)
    known = Evidence(scores, null, n_rows, np.zeros(scores.shape, bool), scores.mean(axis=0))
    if parents is None:
        return known
    in_regions = evidence(regional, added_up(n_rows, parents))
    in_regions = replace(in_regions, pooled=known.pooled)
    return replace(known, regions=InRegions(in_regions, parents))


def test_what_hospitals_are_expected_to_tell_is_what_their_region_tells():
    rng = np.random.default_rng(0)
    of_region = rng.uniform(0.02, 0.3, (6, 30))
    parents = np.repeat(np.arange(6), 8)
    own = of_region[parents] + rng.normal(0.0, 0.05, (48, 30))
    known = evidence(own, np.full(48, 60), parents, of_region)
    nested, alike = refined_posterior(known), refined_posterior(replace(known, regions=None))
    off = [np.abs(one.mean - of_region[parents]).mean() for one in (nested, alike)]
    assert off[0] < 0.5 * off[1]
    assert nested.spread < 0.2 * alike.spread


def test_regions_that_do_not_differ_change_little():
    rng = np.random.default_rng(1)
    common = rng.uniform(0.02, 0.3, 30)
    parents = np.repeat(np.arange(6), 8)
    own = common + rng.normal(0.0, 0.05, (48, 30))
    known = evidence(own, np.full(48, 60), parents, added_up(own, parents) / 8)
    nested, alike = refined_posterior(known), refined_posterior(replace(known, regions=None))
    np.testing.assert_allclose(nested.mean, alike.mean, atol=0.02)


def test_a_hospital_of_no_region_is_compared_with_what_regions_share():
    rng = np.random.default_rng(2)
    of_region = rng.uniform(0.02, 0.3, (4, 20))
    parents = np.append(np.repeat(np.arange(4), 5), -1)
    own = np.concatenate([of_region[parents[:-1]], of_region.mean(axis=0)[None]])
    found = refined_posterior(evidence(own, np.full(21, 100), parents, of_region))
    assert np.isfinite(found.mean).all()
    np.testing.assert_allclose(found.expected[-1], of_region.mean(axis=0), rtol=0.25)


def test_scores_of_a_region_vary_the_more_the_fewer_hospitals_it_has():
    parents = np.array([0, 0, 0, 0, 1, 1])
    known = evidence(np.full((6, 3), 0.1), np.full(6, 50), parents, np.full((2, 3), 0.1))
    mixed = mixed_spread(known, 0.1)
    assert mixed[1] == pytest.approx(2 * mixed[0])


def test_nothing_changes_where_no_column_nests():
    table = hospitals(rows=30, per_region=4)
    table["region"] = np.arange(240) % 3
    cohorts = build_cohorts(table, "y", groups=["region", "hospital"], coding=KEEP)
    assert cohorts.parents is None


def test_the_hierarchy_is_saved_and_loaded(tmp_path):
    selector = SubgroupSelector(["region", "hospital"], size=1, coding=KEEP)
    selector.fit(hospitals(rows=20, per_region=3), "y").save(tmp_path / "run")
    loaded = SubgroupSelector.load(tmp_path / "run")
    assert loaded.cohorts_.parents.tolist() == [0, 0, 0, 1, 1, 1]
    assert loaded.cohorts_.equals(selector.cohorts_)
    assert loaded.scores().equals(selector.scores())


def test_r2_borrows_from_the_region_too():
    rng = np.random.default_rng(3)
    number = np.repeat(np.arange(20), 25)
    north = number < 10
    a, b = rng.normal(size=(2, len(number)))
    table = {
        "region": np.where(north, "north", "south"),
        "hospital": np.array([f"h{one}" for one in number]),
        "a": a,
        "b": b,
        "y": np.where(north, a, b) + rng.normal(size=len(number)),
    }
    truth = np.zeros((20, 2))
    truth[:10, 0] = truth[10:, 1] = 0.5

    def error(groups):
        own = {name: table[name] for name in [*groups, "a", "b", "y"]}
        selector = SubgroupSelector(groups, size=1, measure="r2", coding=KEEP).fit(own, "y")
        assert (selector.cohorts_.parents is None) == ("region" not in groups)
        return np.abs(selector.selection_.completed(1).score - truth).mean()

    assert error(["region", "hospital"]) < 0.7 * error(["hospital"])


def test_a_selection_that_was_saved_before_loads(tmp_path):
    place = tmp_path / "run"
    selector = SubgroupSelector(["region", "hospital"], size=1, coding=KEEP)
    selector.fit(hospitals(rows=20, per_region=3) | {"region": np.arange(120) % 2}, "y").save(place)
    manifest = json.loads((place / MANIFEST).read_text())
    del manifest["cohorts"]["parents"]
    manifest["checksum"] = saving._checksum(manifest)
    (place / MANIFEST).write_bytes(saving._as_text(manifest))
    assert SubgroupSelector.load(place).cohorts_.equals(selector.cohorts_)


def test_a_hierarchy_that_cannot_be_is_refused():
    selector = SubgroupSelector(["region", "hospital"], size=1, coding=KEEP)
    selection = selector.fit(hospitals(rows=20, per_region=3), "y").selection_
    for wrong in (np.array([0, 0, 0, 2, 2, 2]), np.zeros(3, dtype=np.int64), np.full(6, -1)):
        with pytest.raises(ContradictionError):
            check_cohorts(replace(selection.cohorts, parents=wrong))
