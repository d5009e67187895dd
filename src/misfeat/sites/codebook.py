"""The codebook: how every site codes every column, agreed on before anything is counted."""

from __future__ import annotations

import unicodedata
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from misfeat.cohorts.coding import interval_labels
from misfeat.exceptions import MisfeatError, shortened
from misfeat.reading.values import MISSING_LABEL, label
from misfeat.sites import signed_documents as documents

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

KIND = "misfeat codebook"
NUMBER, CATEGORY, FLAG = "number", "category", "flag"
KINDS = (NUMBER, CATEGORY, FLAG)
"""What a column holds: numbers in an order, texts, or true and false."""
ANY_OTHER = "any other"  # The category of values that a codebook does not name
MOST_FEATURES, MOST_VALUES, MOST_CLASSES, LONGEST = 200, 30, 30, 500
"""A codebook holds at most so many features, values of each, and classes; and texts are so long."""
LARGEST = float(2**63)  # Numbers that edges and values stay below


@dataclass(frozen=True)
class ColumnCode:
    """How one column is coded.

    Examples
    --------
    >>> ColumnCode("age", "number", edges=(40, 65)).labels
    ('<=40', '(40, 65]', '>65')
    >>> ColumnCode("sex", "category", values=("f", "m")).labels
    ('f', 'm', 'any other')
    """

    column: str
    kind: str
    """``"number"``, ``"category"`` or ``"flag"``."""
    edges: tuple[float, ...] = ()
    """Of numbers: ascending; a value equal to an edge belongs to the bin below it."""
    values: tuple[Any, ...] = ()
    """Of categories: the texts that have a code of their own."""
    exact: bool = False
    """Of numbers: whether edges are the values themselves, but for the last one of `values`."""

    @property
    def labels(self) -> tuple[str, ...]:
        """What the codes mean, the one for missing values left out."""
        if self.kind == NUMBER:
            return tuple(map(label, self.values)) if self.exact else interval_labels(self.edges)
        if self.kind == FLAG:
            return ("False", "True")
        return (*self.values, ANY_OTHER)

    @property
    def n_codes(self) -> int:
        """How many codes there are, the one for missing values included."""
        return len(self.labels) + 1


@dataclass(frozen=True)
class Codebook:
    """How all columns are coded, and which sites take part.

    Examples
    --------
    >>> book = Codebook(ColumnCode("ill", "flag"), (ColumnCode("age", "number", edges=(40,)),), {})
    >>> len(book.fingerprint)
    64
    """

    target: ColumnCode
    features: tuple[ColumnCode, ...]
    sites: Mapping[str, str | None] = field(default_factory=dict)
    """The sites that agreed, and their public keys; None for a site that does not sign."""
    edition: int = 1
    """Which edition it is, where a study agrees anew."""
    signed_by: str | None = None
    """The public key of whoever signed it."""

    @property
    def fingerprint(self) -> str:
        """The checksum of what was agreed, by which everybody sees that theirs is the same."""
        return documents.checksum_of(self.as_plain())

    @property
    def cards(self) -> list[int]:
        """How many codes each feature has, the one for missing values included."""
        return [feature.n_codes for feature in self.features]

    @property
    def labels(self) -> list[tuple[str, ...]]:
        """What the codes of each feature mean, the last being missing values."""
        return [(*feature.labels, MISSING_LABEL) for feature in self.features]

    def as_plain(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "edition": self.edition,
            "target": plain_of(self.target),
            "features": [plain_of(feature) for feature in self.features],
            "sites": dict(self.sites),
        }

    @classmethod
    def from_plain(cls, held: Any, file: str) -> Codebook:
        """The codebook of plain values that a stranger may have written, all of them checked."""
        try:
            features = tuple(map(column_of, listed_within(held["features"], MOST_FEATURES)))
            sites = {
                _text(name): None if key is None else _text(key)
                for name, key in dict(held["sites"]).items()
            }
            target, edition = column_of(held["target"]), held["edition"]
            if type(edition) is not int or not 0 < edition < 2**31:
                raise ValueError("the edition")
        except (KeyError, TypeError, ValueError) as error:
            raise documents.not_whole(file, f"it holds no codebook ({str(error)[:100]})") from error
        names = [target.column, *(feature.column for feature in features)]
        if len(set(names)) < len(names) or len(target.labels) > MOST_CLASSES:
            raise documents.not_whole(
                file, "its codebook names a column twice, or has too many classes"
            )
        return cls(target, features, sites, edition)

    def write(self, file: str | Path, key: Any = None) -> None:
        """Write the codebook to a file, signed where there is a key."""
        documents.write_document(file, documents.sealed(KIND, self.as_plain(), key))


def read_codebook(file: str | Path) -> Codebook:
    """Read a codebook that `Codebook.write` wrote, and check all of it."""
    held = documents.read_document(file, KIND, "codebook")
    return replace(Codebook.from_plain(held, str(file)), signed_by=held.get("signed_by"))


def differences(one: Codebook, other: Codebook) -> list[str]:
    """In what a codebook differs from the first, which counts, in words."""
    said = []
    if one.edition != other.edition:
        said.append(f"it is edition {other.edition}, not {one.edition}")
    own = {code.column: code for code in (*one.features, one.target)}
    others = {code.column: code for code in (*other.features, other.target)}
    said += [f"{name!r} is not in it" for name in own if name not in others]
    said += [f"{name!r} is in it" for name in others if name not in own]
    said += [
        f"{name!r} is coded in another way"
        for name in own
        if name in others and own[name] != others[name]
    ]
    if not said and dict(one.sites) != dict(other.sites):
        said.append("other sites or keys are named in it")
    if not said and list(own) != list(others):
        said.append("its features are in another order")
    return said


def check_site(name: object) -> str:
    """The name of a site, checked."""
    if (
        not isinstance(name, str)
        or not 0 < len(name) <= LONGEST
        or not name.isprintable()
        or name != unicodedata.normalize("NFC", name.strip())
    ):
        raise MisfeatError(
            f"The site has the name {shortened(name)}; give it a short text, such as 'cleveland'."
        )
    return name


def plain_of(column: ColumnCode) -> dict[str, Any]:
    """The fields of a column's code as plain values for JSON."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(column).items()
    }


def column_of(held: Any, *, proposed: bool = False) -> ColumnCode:
    """A column's code from plain values; a ValueError says what is wrong with them.

    A proposal may name values of numbers beside the edges of bins.
    """
    column, kind, exact = _text(held["column"]), held["kind"], held.get("exact", False)
    edges = tuple(map(_number, listed_within(held["edges"], MOST_VALUES)))
    values = tuple(map(_text if kind == CATEGORY else _number, listed_within(held["values"])))
    sound = kind in KINDS and isinstance(exact, bool) and all(a < b for a, b in pairwise(edges))
    if kind == NUMBER and exact:
        sound &= bool(values) and values[:-1] == edges and values[-1:] > edges[-1:]
    elif kind == NUMBER:
        sound &= proposed or not values
    else:
        sound &= not edges and not exact and (kind == CATEGORY or not values)
        sound &= len(set(values)) == len(values) and not {ANY_OTHER, MISSING_LABEL} & set(values)
    if not sound:
        raise ValueError(f"the coding of {column[:50]!r}")
    return ColumnCode(column, kind, edges, values, exact)


def listed_within(held: Any, most: int = MOST_VALUES) -> list[Any]:
    """A list that is not too long; a ValueError for anything else."""
    if not isinstance(held, list) or len(held) > most:
        raise ValueError(f"no list of at most {most}")
    return held


def _text(held: Any) -> str:
    if not isinstance(held, str) or not 0 < len(held) <= LONGEST:
        raise ValueError("a text that is none, or too long")
    return held


def _number(held: Any) -> float:
    if isinstance(held, bool) or not isinstance(held, int | float) or not abs(held) < LARGEST:
        raise ValueError("a number that is none, or too large")
    return held
