"""A parameter declared once: its name, type, default, check and words.

An estimator declares its parameters as fields of its class. From these come its ``__init__``, the
check in ``fit`` and the section of its docstring.
"""

import re
import tomllib
from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields
from inspect import Parameter as Argument
from inspect import signature
from numbers import Integral, Real
from pathlib import Path
from textwrap import dedent, fill, indent
from typing import Any, NamedTuple, Self, TypeVar, dataclass_transform

from misfeat.exceptions import MisfeatError, check_count
from misfeat.messages import Setting

Kind = TypeVar("Kind", bound=type)
_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
_UNBROKEN = "\N{NO-BREAK SPACE}"


class Takes(NamedTuple):
    """What a parameter takes."""

    words: str  # Its type, as a numpydoc docstring spells it
    check: Callable[[object, str], None]  # raises unless a value, which has this name, is one


def parameter(takes: Takes, *, default: Any) -> Any:
    """Declare a parameter as the field of an estimator's class; words.toml says what it is for."""
    return field(default=default, metadata={"takes": takes})


class Parameters:
    """What `__init__` takes, read and set by name as scikit-learn does, which is not imported."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """The parameters by name, the same as `sklearn.base.BaseEstimator.get_params`."""
        return {name: getattr(self, name) for name in sorted(self._defaults())}

    def set_params(self, **params: Any) -> Self:
        """Set parameters, the same as `sklearn.base.BaseEstimator.set_params`."""
        known = sorted(self._defaults())
        for name, value in params.items():
            if name not in known:
                raise MisfeatError(
                    f"Invalid parameter {name!r} for {type(self).__name__}. Valid parameters are: "
                    f"{known}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults, given = self._defaults(), self.get_params()
        changed = [f"{k}={v!r}" for k, v in given.items() if repr(v) != repr(defaults[k])]
        return f"{type(self).__name__}({', '.join(changed)})"

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        arguments = list(signature(cls.__init__).parameters.values())[1:]
        several = (Argument.VAR_POSITIONAL, Argument.VAR_KEYWORD)
        return {one.name: one.default for one in arguments if one.kind not in several}


def parameters_of(kind: Any) -> dict[str, Field[Any]]:
    """The parameters of an estimator's class or instance, by name; metadata say what one takes."""
    return {one.name: one for one in fields(kind)}


def check_parameters(estimator: Any) -> None:
    """Raise for the first parameter of an estimator whose value it cannot take."""
    for name, one in parameters_of(estimator).items():
        one.metadata["takes"].check(getattr(estimator, name), name)


@dataclass_transform(field_specifiers=(parameter,), eq_default=False)
def with_parameters(kind: Kind) -> Kind:
    """Make the ``__init__`` of an estimator's class, and the list of parameters in its docstring.

    The docstring holds the line ``{parameters}`` where the list goes.
    """
    made: Any = dataclass(eq=False, repr=False)(kind)
    lines = ["Parameters", "----------"]
    for one in parameters_of(made).values():
        default = f'"{one.default}"' if isinstance(one.default, str) else repr(one.default)
        lines.append(f"{one.name} : {one.metadata['takes'].words}, default={default}")
        # Literals such as ``{"age": [40]}`` are not broken.
        words = " ".join(_WORDS[one.name].split())
        whole = re.sub(r"``.*?``", lambda found: found[0].replace(" ", _UNBROKEN), words)
        filled = fill(whole, 88, break_long_words=False, break_on_hyphens=False)
        lines.append(indent(filled.replace(_UNBROKEN, " "), "    "))
    doc = dedent(f"    {made.__doc__}").strip()
    made.__doc__ = doc.replace("{parameters}", "\n".join(lines))
    return made  # type: ignore[no-any-return]


def anything(words: str) -> Takes:
    """What is parsed and checked by whoever uses it."""
    return Takes(words, lambda value, name: None)  # noqa: ARG005


def an_integer(least: int = 1, none: bool = False) -> Takes:
    """An integer of at least `least`, or None where allowed."""
    words = "int or None" if none else "int"
    return Takes(words, lambda value, name: check_count(value, name, least, none))


def an_integer_or(word: str) -> Takes:
    """An integer of at least 1, or one word."""

    def check(value: object, name: str) -> None:
        if isinstance(value, str) and value != word:
            demand = f"it must be an integer of at least 1, or {word!r}"
            raise MisfeatError(f"{Setting(name, value)}; {demand}.")
        if not isinstance(value, str):
            check_count(value, name)

    return Takes(f'int or "{word}"', check)


def a_number_of_threads() -> Takes:
    """As joblib reads it."""

    def holds(value: Any) -> bool:
        return value is None or (isinstance(value, Integral) and not _is_flag(value) and value != 0)

    return _where(holds, "int or None", "it must be a number of threads, -1 for all, or None")


def a_share() -> Takes:
    """A number above 0 and at most 1."""
    return _where(_is_share, "float", "it must be above 0 and at most 1")


def a_level() -> Takes:
    """A number strictly between 0 and 1, or None."""
    return _where(
        lambda value: value is None or (_is_share(value) and value != 1),
        "float or None",
        "it must lie between 0 and 1, or be None",
    )


def a_flag() -> Takes:
    """True or False."""
    return _where(_is_flag, "bool", "use True or False")


def _where(holds: Callable[[Any], bool], words: str, demand: str) -> Takes:
    """What something holds for; else an error says what is demanded."""

    def check(value: object, name: str) -> None:
        if not holds(value):
            raise MisfeatError(f"{Setting(name, value)}; {demand}.")

    return Takes(words, check)


def a_verbosity() -> Takes:
    """An integer from 0 on, or a flag."""

    def check(value: object, name: str) -> None:
        if not _is_flag(value):
            check_count(value, name, least=0)

    return Takes("int", check)


def one_of(*choices: str) -> Takes:
    """One of a few names."""
    words = "{" + ", ".join(f'"{choice}"' for choice in choices) + "}"

    def check(value: object, name: str) -> None:
        if not isinstance(value, str) or value not in choices:
            *others, last = map(repr, choices)
            names = f"{', '.join(others)} or {last}"
            raise MisfeatError(f"{Setting(name, value)} is unknown; use {names}.")

    return Takes(words, check)


def _is_share(value: object) -> bool:
    number: Any = value
    return isinstance(number, Real) and not _is_flag(number) and bool(0 < number <= 1)  # type: ignore[operator]


def _is_flag(value: object) -> bool:
    # Imported only where a value is no plain flag: a shell that completes options waits for this.
    if isinstance(value, bool):
        return True
    from numpy import bool_

    return isinstance(value, bool_)
