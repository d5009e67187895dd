"""Choosing columns as scikit-learn's transformers do, in whatever holds the table."""

import os
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.typing import NDArray

from misfeat.exceptions import MisfeatError
from misfeat.messages import Message
from misfeat.parameters.declaration import Parameters, a_flag, one_of, parameter, with_parameters
from misfeat.reading import dataframe_libraries as libraries
from misfeat.reading.memory_table import as_array
from misfeat.runtime.scikit_learn_import import (
    BaseEstimator,
    TransformerMixin,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

MOST_NAMED = 5  # So many columns of a table that does not fit are named in a message


@with_parameters
class Columns(Parameters):
    """Which columns `SubgroupSelector.transform` keeps.

    {parameters}

    Examples
    --------
    >>> from misfeat import Columns, SubgroupSelector
    >>> table = {"site": list("aabb"), "x": [0, 1, 0, 1], "z": [0, 0, 1, 1], "y": [0, 1, 0, 1]}
    >>> selector = SubgroupSelector("site", size=1, columns=Columns(keep_groups=True))
    >>> list(selector.fit(table, "y").transform(table))
    ['site', 'x']
    """

    _: KW_ONLY
    keep: str = parameter(one_of("best", "each", "top_k"), default="best")
    keep_groups: bool = parameter(a_flag(), default=False)
    unseen: str = parameter(one_of("ignore", "warn", "error"), default="ignore")


def is_array(X: object) -> bool:
    """Whether a table is an array, or becomes one, so that its columns have no names."""
    if isinstance(X, np.ndarray | list | tuple):
        return True
    return hasattr(X, "__array__") and not isinstance(X, Mapping) and not libraries.is_dataframe(X)


def _dense(X: Any) -> Any:
    """A table in a library that is known; one of SciPy's sparse matrices is refused."""
    from scipy.sparse import issparse

    if issparse(X):
        raise MisfeatError(
            "Sparse data was passed for X, but dense data is required. Use '.toarray()'."
        )
    return libraries.as_native(X)


def checked_arrays(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """Check X and y as scikit-learn does, where they are arrays; a list becomes an array."""
    if y is None:
        raise MisfeatError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
            "is None; pass a column name or an array of values."
        )
    X = _dense(X)
    if is_array(X):
        checked = _checked(estimator, X)
        X = X if isinstance(X, np.ma.MaskedArray) else checked
    if isinstance(y, np.ndarray | list):
        values = as_array(y, "y")
        y = column_or_1d(values, warn=True) if values.ndim == 2 and values.shape[1] == 1 else y
    return X, y


def _checked(estimator: Any, X: Any, reset: bool = True) -> Any:
    """An array of rows and columns; the words of what is not one are scikit-learn's."""
    try:
        return validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=False)
    except (TypeError, ValueError) as error:
        raise MisfeatError(
            f"X cannot be read. {str(error).splitlines()[0].rstrip('.:')}.",
            remedy="Reshape your data to rows and columns of real numbers, text or flags, all rows "
            "of one length, or pass a dataframe; of a structured array, pandas.DataFrame(X).",
        ) from error


def note_columns(estimator: Any, X: object, names: Sequence[str]) -> None:
    """Keep how many columns there were at fit, and their names where they have some."""
    estimator.n_features_in_ = len(names)
    if is_array(X) or libraries.has_numbered_columns(X):
        vars(estimator).pop("feature_names_in_", None)
    else:
        estimator.feature_names_in_ = np.array(names, dtype=object)


class SelectsColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer that keeps some of the columns it was fitted on."""

    @abstractmethod
    def _chosen(self) -> Collection[str]:
        """The names of the columns to keep; columns of arrays are named x0, x1, ..."""

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Which columns are kept, the same as `SelectorMixin.get_support` of scikit-learn.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"x": [0, 0, 1, 1], "z": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> SubgroupSelector(size=1).fit(table, "y").get_support()
        array([ True, False])
        """
        check_is_fitted(self, "n_features_in_")
        chosen = set(self._chosen())
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])
        mask = np.array([name in chosen for name in names], dtype=bool)
        return np.flatnonzero(mask) if indices else mask

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of kept columns, the same as `SelectorMixin.get_feature_names_out`.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"x": [0, 0, 1, 1], "z": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> SubgroupSelector(size=1).fit(table, "y").get_feature_names_out()
        array(['x'], dtype=object)
        """
        from sklearn.utils.validation import _check_feature_names_in

        return np.asarray(_check_feature_names_in(self, input_features)[self.get_support()])

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Columns of zeros for what was left out, the same as `SelectorMixin.inverse_transform`.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"x": [0, 0, 1, 1], "z": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
        >>> SubgroupSelector(size=1).fit(table, "y").inverse_transform([[1]])
        array([[1, 0]])
        """
        from sklearn.feature_selection import SelectorMixin

        return np.asarray(SelectorMixin.inverse_transform(self, X))

    def transform(self, X: Any) -> Any:
        """Keep the chosen columns of a table with the columns that were there at fit."""
        check_is_fitted(self, "n_features_in_")
        native = _dense(X)
        table = libraries.with_text_names(native)
        if is_array(table):
            return _checked(self, table, reset=False)[:, self.get_support()]
        if isinstance(table, str | os.PathLike):
            raise MisfeatError("transform takes a table, not a path; read the file first.")
        names = libraries.column_names(table)
        if hasattr(self, "feature_names_in_"):
            expected, targets = list(self.feature_names_in_), self._target_names()
            known = set(expected)
            names = [name for name in names if name in known or name not in targets]
            if names != expected:
                raise MisfeatError(_mismatch(expected, names))
        else:
            # With the names it came with: to scikit-learn, numbers are not names.
            validate_data(self, native, reset=False, skip_check_array=True)
        wanted = [names[position] for position in self.get_support(indices=True)]
        if isinstance(table, Mapping):
            return {name: table[name] for name in wanted}
        from sklearn.utils._set_output import _get_output_config

        output = _get_output_config("transform", self)["dense"]
        return libraries.with_columns_only(table, wanted, None if output == "default" else output)

    def _target_names(self) -> tuple[str, ...]:
        """Columns that `transform` passes over, where the table still holds the target."""
        return ()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags


def _mismatch(expected: list[str], given: list[str]) -> Message:
    """The message of scikit-learn, as other tools look for it."""
    about: dict[str, str] = {}
    lines = ["The feature names should match those that were passed during fit."]
    for title, names in (
        ("Feature names unseen at fit time:", sorted(set(given) - set(expected))),
        ("Feature names seen at fit time, yet now missing:", sorted(set(expected) - set(given))),
    ):
        if names:
            fields = {f"column{len(about) + i}": n for i, n in enumerate(names[:MOST_NAMED])}
            lines += [title, *(f"- {{{field}}}" for field in fields)]
            about |= fields
            lines += ["- ..."] if len(names) > MOST_NAMED else []
    if not about:
        lines.append("Feature names must be in the same order as they were in fit.")
    return Message("\n".join(lines) + "\n", **about)


class SubgroupColumns(SelectsColumns):
    """The columns of one subgroup's best set, made by `SubgroupSelector.for_subgroup`."""

    def __init__(self, features: tuple[str, ...] = ()) -> None:
        self.features = features

    def fit(self, X: Any, y: Any = None) -> "SubgroupColumns":  # noqa: ARG002
        """Note the columns of a table."""
        if is_array(X):
            _checked(self, X)
        else:
            note_columns(self, X, libraries.column_names(libraries.with_text_names(X)))
        return self

    @classmethod
    def like(cls, selector: SelectsColumns, features: Sequence[str]) -> "SubgroupColumns":
        """A transformer that was fitted on the same columns as another."""
        made = cls(tuple(features))
        made.n_features_in_, made._targets = selector.n_features_in_, selector._target_names()
        if hasattr(selector, "feature_names_in_"):
            made.feature_names_in_ = selector.feature_names_in_
        return made

    def _chosen(self) -> Collection[str]:
        return self.features

    def _target_names(self) -> tuple[str, ...]:
        return getattr(self, "_targets", ())
