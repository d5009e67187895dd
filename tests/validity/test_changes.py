"""Do two draws from one population say "nothing changed" as often as they should?

Every trial is a pair of tables of its own, drawn from generated populations or halves of heart.csv.
Subgroups have rows of their own, so how many say that something changed is binomial, of a share of
at most 1 - confidence.
"""

import numpy as np
import pytest
from scipy.stats import binom

import misfeat
from misfeat.datasets import load_heart, make_cohorts

pytestmark = pytest.mark.validity

CHANCE = 0.00135
"""How rarely a fair trial fails."""
LEVEL = 0.1


def generated(seed, n_rows=(400, 400)):
    """Two tables of the same four populations."""
    data = make_cohorts(4, 10, 7, hide=0.0, random_state=seed)
    rng = np.random.default_rng([seed, 1])
    features = [name for name in data.columns if name not in (data.groups, data.target)]
    for n in n_rows:
        drawn = [population.sample(n, rng) for population in data.populations.values()]
        codes = np.concatenate([x for x, _ in drawn], axis=1)
        yield {
            "site": np.repeat(["c1", "c2", "c3", "c4"], n),
            **dict(zip(features, codes, strict=True)),
            "y": np.concatenate([y for _, y in drawn]),
        }


def unequal(seed):
    """The same, one of the tables much larger."""
    return generated(seed, (1500, 250))


def halves(seed):
    """Both halves of heart.csv, the target cut in two."""
    columns = {name: np.asarray(values) for name, values in load_heart().columns.items()}
    columns["y"] = np.where(columns.pop("num").astype(float) > 0, "ill", "well")
    order = np.random.default_rng(seed).permutation(len(columns["y"]))
    for rows in np.array_split(order, 2):
        yield {name: values[rows] for name, values in columns.items()}


def compared(tables):
    return misfeat.compare(
        *(misfeat.SubgroupSelector("site", size=2, n_jobs=1).fit(table, "y") for table in tables)
    )


@pytest.mark.parametrize(("draw", "trials"), [(generated, 40), (unequal, 25), (halves, 20)])
@pytest.mark.filterwarnings("ignore::misfeat.MisfeatWarning")
def test_nothing_changed_in_at_least_nine_of_ten_subgroups(draw, trials):
    found = [one for seed in range(trials) for one in compared(draw(seed)).subgroups if one.sets]
    assert len(found) > 2 * trials
    changed = sum(bool(one.changed) for one in found)
    assert changed <= binom.ppf(1 - CHANCE, len(found), LEVEL)


def planted(seed):
    """A feature that told nothing tells in the third site of the second table."""
    first, second = generated(seed)
    rng = np.random.default_rng([seed, 2])
    rows = np.flatnonzero((second["site"] == "c3") & (rng.random(1600) < 0.5))
    second["f7"] = second["f7"].copy()
    second["f7"][rows] = second["y"][rows]
    return first, second


def test_what_was_planted_is_named_where_it_was_planted():
    trials = 20
    found = [compared(planted(seed)) for seed in range(trials)]
    named = [{(one.subgroup, one.features) for one in run.changed} for run in found]
    assert sum(("site=c3", ("f7",)) in one for one in named) >= 0.9 * trials
    elsewhere = [one.changed for run in found for one in run.subgroups if one.subgroup != "site=c3"]
    assert np.count_nonzero(elsewhere) <= binom.ppf(1 - CHANCE, len(elsewhere), LEVEL)
