"""From scores of samples to scores of populations.

The plug-in score of few rows ranks chance. Here it becomes an estimate of the population's score:

- `misfeat.information.chance`: what a set would score if the target were dealt out at random, taken
  off;
- `variance`: how much such a score varies from sample to sample;
- `pool`: what all cohorts together tell about a set, once chance is shrunk away;
- `posterior`, `refined`: every cohort's score, pulled towards what the pool says;
- `intervals`: scores with bounds, no set below a part of it;
- `gathering`, `correlating`, `scores`: all of this from rows or, for R², sums of products on, with
  predictions for what was not recorded;
- `estimates`: which of these scales answers are on.
"""

from misfeat.information.chance import (
    ChanceTable,
    above_chance,
    chance_of_totals,
    expected_information,
)
from misfeat.information.count_tables import table_starts
from misfeat.population.correlating import gather_correlations
from misfeat.population.estimates import Estimate, own_posterior
from misfeat.population.gathering import Gathered, gather_evidence
from misfeat.population.intervals import Intervals, closed, intervals_of
from misfeat.population.pool import PooledSets, shrink, shrink_levels
from misfeat.population.posterior import Evidence, Posterior, posterior_of
from misfeat.population.refined import refined_posterior
from misfeat.population.scores import PopulationScores, population_scores
from misfeat.population.variance import (
    OF_CORRELATION,
    OF_INFORMATION,
    Variation,
    null_variance,
    sampling_variance,
)

__all__ = [
    "OF_CORRELATION",
    "OF_INFORMATION",
    "ChanceTable",
    "Estimate",
    "Evidence",
    "Gathered",
    "Intervals",
    "PooledSets",
    "PopulationScores",
    "Posterior",
    "Variation",
    "above_chance",
    "chance_of_totals",
    "closed",
    "expected_information",
    "gather_correlations",
    "gather_evidence",
    "intervals_of",
    "null_variance",
    "own_posterior",
    "population_scores",
    "posterior_of",
    "refined_posterior",
    "sampling_variance",
    "shrink",
    "shrink_levels",
    "table_starts",
]
