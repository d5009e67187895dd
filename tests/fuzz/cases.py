"""One case: only errors and warnings of ours come out, and how it ended is counted."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.exceptions import NotFittedError

from misfeat import MisfeatError, MisfeatWarning
from tests.attacks.tally import Tally
from tests.fuzz.promises import BrokenPromiseError, hold

MOST_SAID = 600
"""Characters of an error that are told."""
OURS = (MisfeatError, NotFittedError)


class Case:
    """How a case ended: answered, or refused with an error of ours."""

    refused: Exception | None = None


@contextmanager
def a_case(
    name: str, tally: Tally | None, about: object = "", answered: bool = False
) -> Iterator[Case]:
    """Run one case, and count how it ended; some must be answered, as the same was before."""
    case = Case()
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            try:
                yield case
            except OURS as error:
                case.refused = error
        foreign = [str(w.message) for w in heard if not issubclass(w.category, MisfeatWarning)]
        hold(not foreign, "warnings are ours", *foreign)
        said = case.refused is None or str(case.refused).strip()
        hold(bool(said), "an error says something", name)
        hold(case.refused is None or not answered, "answered as before", case.refused)
    except Exception as error:
        if tally is not None:
            kind = "promise" if isinstance(error, BrokenPromiseError) else "foreign error"
            what = f"{type(error).__name__}: {error}"[:MOST_SAID]
            tally.wrongly(f"{name}: {kind}", f"{what} ({about})")
        raise
    if tally is not None:
        tally.well(f"{name}: {'refused' if case.refused else 'answered'}")
