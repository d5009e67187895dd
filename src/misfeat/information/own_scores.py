"""What the rest of the package asks of a measure that misfeat does not come with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

    from misfeat.cohorts.model import Cohorts
    from misfeat.information.deals import Deals
    from misfeat.information.measured_noise import ScoreNoise


class OwnScores(Protocol):
    """Scores of which nothing is known but how they vary, and what they are by chance."""

    def noise(self, size: int, n_jobs: int | None = None) -> ScoreNoise:
        """How scores above chance of all sets of a size vary from sample to sample."""
        ...

    def deals(
        self,
        cohort: int,
        largest: int,
        held: tuple[int, ...],
        within: int | None,
        seed: np.random.SeedSequence,
    ) -> Deals:
        """Ways to deal the target of a cohort out, leaving what held features tell as it is."""
        ...

    def of_rows(self, cohorts: Cohorts) -> Any:
        """The same measure of other rows."""
        ...
