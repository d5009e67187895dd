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
