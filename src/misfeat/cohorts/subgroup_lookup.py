"""Which subgroup a name means, as people write names in short."""

import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches

from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting, listed
from misfeat.reading.values import canonical, label

BETWEEN_TERMS = " & "  # What stands between the terms of a name
_OPERATOR = re.compile(r"\s*(==|<=|>=|<|>|=)\s*")


def subgroup_named(asked: object, names: Sequence[str], gone: Sequence[str] = ()) -> str:
    """The subgroup that a name means, as `Cohorts.full_name` takes it."""
    # Only where no subgroup is found, capitals do not matter. A value that is not text is taken by
    # its label. Messages speak of subgroups that are `gone`, merged or left out.
    if asked in names:
        return str(asked)
    wanted = label(canonical(asked))
    for spelling in (str, str.casefold):
        meant = _meant(wanted, names, spelling)
        if len(meant) > 1:
            raise MisfeatError(
                f"{wanted!r} may mean {len(meant)} subgroups: {listed(meant)}; write more of the "
                "name.",
                value=wanted,
            )
        if meant:
            return meant[0]
    lost = _meant(wanted, [name for name in gone if name not in names], str.casefold)
    if lost:
        raise MisfeatError(
            f"The subgroup {lost[0]!r} has too few rows, and was merged with others or left out; "
            f"there are {listed(names)}. {Setting('min_rows', 1)} keeps small subgroups.",
            value=lost[0],
        )
    forms = {name: {f.casefold() for f in (_plain(name), *_short_forms(name))} for name in names}
    close = get_close_matches(_plain(wanted).casefold(), set().union(*forms.values()))
    near = list(dict.fromkeys(name for form in close for name in names if form in forms[name]))
    nearest = " or ".join(map(repr, near[:3]))
    hint = f"did you mean {nearest}?" if near else f"there are {listed(names)}."
    raise MisfeatError(f"There is no subgroup {wanted!r}; {hint}", value=wanted)


def _meant(wanted: str, names: Sequence[str], spelling: Callable[[str], str]) -> list[str]:
    """The subgroups that a name may mean; where it is the whole name of one, only that."""
    plain = spelling(_plain(wanted))
    whole = [name for name in names if spelling(_plain(name)) == plain]
    parts = {part.strip() for part in plain.split("&")} - {""}
    if whole or not parts:
        return whole
    return [name for name in names if parts <= {spelling(form) for form in _short_forms(name)}]


def _short_forms(name: str) -> set[str]:
    """A term, its value, or its range without the column; a bare number does not name a range."""
    forms = set()
    for term in map(_plain, name.split(BETWEEN_TERMS)):
        forms.add(term)
        operators = list(_OPERATOR.finditer(term))
        if operators and operators[0][1] == "=":
            forms.add(term[operators[0].end() :])
        elif len(operators) == 1:
            forms.add(term[operators[0].start() :])
    return forms


def _plain(text: str) -> str:
    """One spelling of spaces around operators, and of equality."""
    return _OPERATOR.sub(lambda found: found[1].replace("==", "="), text.strip())
