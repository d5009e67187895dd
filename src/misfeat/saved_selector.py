"""A fitted estimator as plain values that JSON can hold, beside its selection, and back."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from misfeat.exceptions import MisfeatError
from misfeat.messages import listed
from misfeat.nested_parameters import NESTED
from misfeat.parameters.declaration import parameters_of
from misfeat.saving import run_format
from misfeat.saving.run_folder import MANIFEST, as_folder
from misfeat.saving.schema_checks import demand, is_count
from misfeat.selection import Selection

Kind = TypeVar("Kind")


def save_selector(
    selector: Any, folder: str | Path, beside: Mapping[str, bytes] | None = None
) -> None:
    """Save a fitted estimator with its selection, and the parts of a run that go with them."""
    names = getattr(selector, "feature_names_in_", None)
    params = selector.get_params(deep=False)
    estimator = {
        "class": type(selector).__qualname__,
        "params": {k: _encoded(k, v) for k, v in params.items() if k != "verbose"},
        "n_features_in": selector.n_features_in_,
        "feature_names_in": None if names is None else [str(name) for name in names],
    }
    selector.selection_.save(folder, estimator, beside)


def loaded_selector(kind: type[Kind], folder: str | Path) -> Kind:
    """An estimator of a class, as it was saved with its selection."""
    run = run_format.read_run(folder)
    saved = run.estimator
    if saved is None:
        raise MisfeatError(
            f"{str(folder)!r} holds a selection without its estimator; read it with Selection.load."
        )
    try:
        names, count = saved["feature_names_in"], saved["n_features_in"]
        demand(isinstance(saved["class"], str), "the class of the estimator")
        demand(isinstance(saved["params"], dict), "the parameters of the estimator")
        demand(is_count(count), "the number of columns")
        listed_names = isinstance(names, list) and len(names) == count
        demand(names is None or listed_names, "the names of columns")
        demand(all(isinstance(name, str) for name in names or ()), "the names of columns")
        params = {name: _decoded(name, value) for name, value in saved["params"].items()}
    except run_format.MALFORMED as error:
        raise run_format.incomplete(as_folder(folder) / MANIFEST, error) from error
    estimator: Any = kind
    name, unknown = estimator.__qualname__, sorted(set(params) - set(estimator._get_param_names()))
    # What the estimator of this package saved, subclasses can read.
    if saved["class"] != name and (unknown or saved["class"] != "SubgroupSelector"):
        raise MisfeatError(
            f"{str(folder)!r} was saved by the class {saved['class']}, not by {name}; load it with "
            f"{saved['class']}.load."
        )
    if unknown:
        raise MisfeatError(
            f"{str(folder)!r} was saved with parameters that this {name} does not have "
            f"({listed(unknown)})."
        )
    selector = estimator(**params)
    selector.selection_ = Selection.from_saved(run)
    selector.n_features_in_ = count
    if names is not None:
        selector.feature_names_in_ = np.array(names, dtype=object)
    loaded: Kind = selector
    return loaded


def _encoded(name: str, value: Any) -> Any:
    if name == "completer":
        return run_format.encoded_completer(value)
    if name in NESTED and value is not None:
        return {own: run_format.encoded(getattr(value, own), own) for own in parameters_of(value)}
    return run_format.encoded(value, name)


def _decoded(name: str, value: Any) -> Any:
    if name == "completer":
        return run_format.decoded_completer(value)
    if name in NESTED and value is not None:
        return NESTED[name](**{own: run_format.decoded(saved) for own, saved in value.items()})
    return run_format.decoded(value)
