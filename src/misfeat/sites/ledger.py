"""A site's record of what its releases have spent: a file of its own, sealed, that never leaves.

Every release with noise is written down before it is made, so that none goes uncounted. A budget
that was set once stays until another one is given.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

from misfeat.exceptions import MisfeatError, Setting
from misfeat.machine.paths import as_path
from misfeat.machine.turns import Turn
from misfeat.sites.sealing import not_whole, public_key, read_document, sealed, write_document
from misfeat.sites.spending import check_epsilon, epsilon_of

if TYPE_CHECKING:
    from collections.abc import Iterator

KIND = "misfeat budget"
FILE = "misfeat-budget.json"
LARGEST_RHO = 1e6
ROUNDING = 1.0 + 1e-9
"""An epsilon may be so much over the budget because numbers have few digits."""


@dataclass(frozen=True)
class Release:
    """One release.

    Attributes
    ----------
    site, codebook, share : str
        Of which site, by which codebook (its fingerprint), and what.
    epsilon, delta, rho : float
        What it promises, and what it spent.
    """

    site: str
    codebook: str
    share: str
    epsilon: float
    delta: float
    rho: float


@dataclass(frozen=True)
class Ledger:
    """What all releases of the same rows have spent.

    Parameters
    ----------
    file : str or Path
        Where the record is kept.
    budget : float, default=None
        The epsilon that all releases together may reach. Defaults to what the file says, if
        anything.
    key : Ed25519PrivateKey, default=None
        What signs it. A record that was signed once goes on with the same key only.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> ledger = Ledger(Path(mkdtemp()) / "misfeat-budget.json", budget=3)
    >>> release = Release("north", "0" * 64, "tables2", 2.0, 1e-6, 0.088)
    >>> ledger.add(release)
    (1, 0.088)
    >>> ledger.add(release)
    (2, 0.176)
    >>> try:
    ...     ledger.add(release)
    ... except MisfeatError as error:
    ...     print(str(error).split(";")[0])
    This release would bring what all 3 have spent to epsilon = 3.65, and budget=3.0
    """

    file: str | Path
    budget: float | None = None
    key: Any = None

    def releases(self) -> tuple[Release, ...]:
        """The releases that were written down; none where there is no file yet."""
        return self._read()[0]

    def check(self, release: Release) -> None:
        """Raise where a release would go over the budget.

        Parameters
        ----------
        release : Release
            What is to be released.
        """
        self._checked(release)

    def add(self, release: Release) -> tuple[int, float]:
        """Write a release down; an error where it goes over the budget.

        Parameters
        ----------
        release : Release
            What is to be released.

        Returns
        -------
        tuple of int and float
            How many releases there are with this one, and the rho that they spent together.
        """
        with _turn(as_path(self.file, "ledger")):
            made, budget = self._checked(release)
            contents = {"budget": budget, "releases": [asdict(one) for one in made]}
            write_document(self.file, sealed(KIND, contents, self.key), "ledger")
        return len(made), sum(one.rho for one in made)

    def _checked(self, release: Release) -> tuple[tuple[Release, ...], float | None]:
        """All releases with a new one, and the budget."""
        made, kept = self._read()
        budget = kept if self.budget is None else check_epsilon(self.budget, "budget")
        made = (*made, release)
        spent = epsilon_of(sum(one.rho for one in made), release.delta)
        if budget is not None and spent > budget * ROUNDING:
            raise MisfeatError(
                "This release would bring what all {n} have spent to epsilon = {spent:.3g}, and "
                "{budget}; release with a smaller epsilon, or allow for more. What was spent is in "
                "{file!r}.",
                n=len(made),
                spent=spent,
                budget=Setting("budget", budget),
                file=str(self.file),
            )
        return made, budget

    def _read(self) -> tuple[tuple[Release, ...], float | None]:
        """What the file says, checked."""
        place = as_path(self.file, "ledger")
        if not place.exists():
            return (), None
        held = read_document(place, KIND, "ledger")
        signer = held.get("signed_by")
        if signer is not None and (self.key is None or public_key(self.key) != signer):
            raise MisfeatError(
                "{file!r} is signed with another key, or none was given; give the one that signed "
                "it.",
                file=str(place),
            )
        try:
            budget = held["budget"]
            budget = None if budget is None else check_epsilon(budget, "budget")
            made = tuple(_release(one) for one in held["releases"])
        except (KeyError, TypeError, ValueError) as error:
            raise not_whole(str(place), "it holds no record of releases") from error
        return made, budget


def ledger_beside(table: str, key_file: str = "") -> Path:
    """Where the record of a table is kept if nobody says: beside it, or beside the key."""
    for name in (table, key_file):
        if name and Path(name).is_file():
            return Path(name).resolve().parent / FILE
    raise MisfeatError(
        "The table is no file, so there is no place beside it for the record of what was spent; "
        "say where it is to be with {setting}.",
        setting=Setting("ledger"),
    )


@contextmanager
def _turn(place: Path) -> Iterator[None]:
    """Have other processes wait that write to the same record."""
    folder = Path(gettempdir()) / f"misfeat-{os.getuid() if hasattr(os, 'getuid') else 0}"
    turn = Turn(folder, str(place.resolve()))
    turn.take()
    try:
        yield
    finally:
        turn.end()


def _release(held: Any) -> Release:
    """A release from plain values; a ValueError says what is wrong with them."""
    texts = [held[name] for name in ("site", "codebook", "share")]
    numbers = [held[name] for name in ("epsilon", "delta", "rho")]
    if not all(isinstance(text, str) and len(text) <= 500 for text in texts):
        raise ValueError("a name")
    if not all(isinstance(n, float) and isfinite(n) and 0 < n < LARGEST_RHO for n in numbers):
        raise ValueError("a number")
    return Release(*texts, *numbers)
