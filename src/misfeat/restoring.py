"""A fitted estimator as plain values that JSON can hold, beside its selection, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from misfeat.exceptions import MisfeatError, listed
from misfeat.nesting import NESTED
from misfeat.parameters.declaring import parameters_of
from misfeat.selection.checking import demand, is_count
from misfeat.selection.encoding import (
    decoded,
    decoded_completer,
    encoded,
    encoded_completer,
)
from misfeat.selection.folders import MANIFEST, as_folder
from misfeat.selection.saving import MALFORMED, incomplete, read_saved
from misfeat.show.shown import ShownSelection

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NOT_SAVED = ("verbose",)
"""Whoever loads a selector asks for progress themselves."""


class Selector(Protocol):
    """What is saved of an estimator."""

    selection_: ShownSelection
    n_features_in_: int


Kind = TypeVar("Kind", bound=Selector)


def as_plain_values(selector: Any) -> dict[str, Any]:
    """The class, the parameters and the columns of a fitted estimator."""
    params = encoded_parameters(selector)
    names = getattr(selector, "feature_names_in_", None)
    return {
        "class": type(selector).__qualname__,
        "params": params,
        "n_features_in": selector.n_features_in_,
        "feature_names_in": None if names is None else [str(name) for name in names],
    }


def encoded_parameters(selector: Any) -> dict[str, Any]:
    """The parameters of an estimator, as JSON can hold them."""
    return {
        name: _encoded(name, value)
        for name, value in selector.get_params(deep=False).items()
        if name not in NOT_SAVED
    }


def save_selector(
    selector: Any, folder: str | Path, beside: Mapping[str, bytes] | None = None
) -> None:
    """Save a fitted estimator with its selection, and the parts of a run that go with them."""
    selector.selection_.save(folder, as_plain_values(selector), beside)


def loaded_selector(kind: type[Kind], folder: str | Path) -> Kind:
    """An estimator of a class, as it was saved with its selection."""
    saved = read_saved(folder)
    if saved.estimator is None:
        raise MisfeatError(
            "{folder!r} holds a selection without its estimator; read it with Selection.load.",
            folder=str(folder),
        )
    try:
        _check_saved(saved.estimator)
        params = {n: _decoded(n, value) for n, value in saved.estimator["params"].items()}
    except MALFORMED as error:
        raise incomplete(as_folder(folder) / MANIFEST, error) from error
    _check_class(kind, saved.estimator, str(folder))
    made: Kind = _restored(kind(**params), saved.estimator, ShownSelection.from_saved(saved))
    return made


def _check_saved(saved: Mapping[str, Any]) -> None:
    names, count = saved["feature_names_in"], saved["n_features_in"]
    demand(isinstance(saved["class"], str), "the class of the estimator")
    demand(isinstance(saved["params"], dict), "the parameters of the estimator")
    demand(is_count(count), "the number of columns")
    listed_names = isinstance(names, list) and len(names) == count
    demand(names is None or listed_names, "the names of columns")
    demand(all(isinstance(name, str) for name in names or ()), "the names of columns")


def _restored(selector: Any, saved: Mapping[str, Any], selection: ShownSelection) -> Any:
    selector.selection_ = selection
    selector.n_features_in_ = saved["n_features_in"]
    if saved["feature_names_in"] is not None:
        selector.feature_names_in_ = np.array(saved["feature_names_in"], dtype=object)
    return selector


def _check_class(kind: Any, saved: Mapping[str, Any], folder: str) -> None:
    unknown = sorted(set(saved["params"]) - set(kind._get_param_names()))
    # What the estimator of this package saved, subclasses can read.
    is_plain = saved["class"] == "SubgroupSelector"
    if saved["class"] != kind.__qualname__ and (unknown or not is_plain):
        raise MisfeatError(
            "{folder!r} was saved by the class {saved}, not by {kind}; load it with {saved}.load.",
            folder=folder,
            saved=saved["class"],
            kind=kind.__qualname__,
        )
    if unknown:
        raise MisfeatError(
            "{folder!r} was saved with parameters that this {kind} does not have ({names}).",
            folder=folder,
            kind=kind.__qualname__,
            names=listed(unknown),
        )


def _encoded(name: str, value: Any) -> Any:
    if name == "completer":
        return encoded_completer(value)
    if name in NESTED and value is not None:
        return {one: encoded(getattr(value, one), one) for one in parameters_of(value)}
    return encoded(value, name)


def _decoded(name: str, value: Any) -> Any:
    if name == "completer":
        return decoded_completer(value)
    if name in NESTED and value is not None:
        return NESTED[name](**{one: decoded(held) for one, held in value.items()})
    return decoded(value)
