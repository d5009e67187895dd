"""Rows of four cohorts, and what the program that the recipe was found with makes of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tests.completion.coded import cohorts_of

RECIPE = json.loads(Path(__file__).with_name("recipe.json").read_text())
"""`posterior` with everything recorded, by size; `hidden`: evidence with predictions, and its
posterior; `transferred`: `missing` features, and by size what was made of the other ones: predicted
scores `above_chance`, `pooled` tables set by set, and the `posterior`."""
TRANSFERRED = RECIPE["transferred"]


def recipe_cohorts(missing):
    """The rows as cohorts that lack some features."""
    codes, target = np.array(RECIPE["codes"], dtype=np.int32), np.array(RECIPE["target"])
    offsets = np.linspace(0, len(target), RECIPE["n_cohorts"] + 1)
    return cohorts_of(codes, target, np.ones(len(target), np.int64), offsets, missing)


def transferred_cohorts():
    """The rows as cohorts that lack what the recipe's predictions were made without."""
    return recipe_cohorts(np.array(TRANSFERRED["missing"], dtype=bool))
