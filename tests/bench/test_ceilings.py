from __future__ import annotations

import numpy as np
import pytest

from misfeat.bench.ceilings import bootstrap_ceiling, population_ceiling
from misfeat.bench.hiding import Truth, outcome_of
from misfeat.bench.tables import TABLES
from misfeat.completion import GainCompleter, TransferCompleter
from misfeat.datasets.population import random_mask


@pytest.mark.slow
def test_completers_stay_below_an_oracle_that_knows_the_population():
    found = {"transfer": [], "gain": [], "population": [], "bootstrap": []}
    for seed in range(5):
        table = TABLES["generated, 4 cohorts"](seed)
        truth = Truth.of(table.cohorts, 3)
        mask = random_mask(4, 10, 0.4, np.random.default_rng(seed))
        for name, completer in (("transfer", TransferCompleter()), ("gain", GainCompleter())):
            completer.set_params(confidence=None)
            found[name].append(outcome_of(completer, truth, mask, 3)["ndcg_10"])
        rng = np.random.default_rng(seed)
        known = population_ceiling(truth, mask, 3, rng, table.redraw)
        found["population"].append(known["ndcg_10"])
        found["bootstrap"].append(bootstrap_ceiling(truth, mask, 3, rng)["ndcg_10"])
    means = {name: np.mean(values) for name, values in found.items()}
    assert means["gain"] < means["transfer"] < means["bootstrap"] < means["population"] < 1


def test_an_oracle_from_whom_nothing_is_hidden_is_always_right():
    table = TABLES["generated, 4 cohorts"](0)
    truth = Truth.of(table.cohorts, 2)
    mask = np.zeros((4, 10), dtype=bool)
    mask[0, 3] = True

    def nothing_changes(_mask, _rng):
        return table.cohorts

    figures = population_ceiling(truth, mask, 2, np.random.default_rng(0), nothing_changes)
    assert figures["ndcg_5"] == figures["precision_10"] == pytest.approx(1)
