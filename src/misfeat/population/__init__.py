"""From scores of samples to scores of populations.

The plug-in score of few rows ranks chance. Here it becomes an estimate of the population's score:

- `misfeat.information.chance`: what a set would score if the target were dealt out at random, taken
  off;
- `variance`: how much such a score varies from sample to sample;
- `pool`: what all cohorts together tell about a set, once chance is shrunk away;
- `posterior`, `refined`: every cohort's score, pulled towards what the pool says;
- `gathering`, `correlating`, `scored`: what is known of every set, from rows, sums of products (for
  R²) or scores alone, with predictions for what was not recorded;
- `scores`: scores from all of this, with bounds, no set below a part of it;
- `estimates`: which of these scales answers are on.
"""
