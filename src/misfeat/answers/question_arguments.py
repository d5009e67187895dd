"""What questions are asked with: sizes, features to include and subgroups."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from misfeat.answers.fit_result import FitResult, checked_size, feature_index
from misfeat.completion import CompletedScores
from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting
from misfeat.reading.dataframe_libraries import result_frame
from misfeat.runtime.progress import long_work

Record = TypeVar("Record")
MOST_OF_ALL = 3  # features of sets for questions about all sets, where larger ones are searched


def level_size(selection: FitResult, size: int | None) -> int:
    """The size for questions about all sets: a few features, where larger sets are searched."""
    size, scores = checked_size(selection, size), selection.set_scores
    return min(MOST_OF_ALL, scores.largest_level) if scores.is_searched(size) else size


def included_features(selection: FitResult, size: int) -> list[int]:
    """The indices of the features that every set holds; they must fit into sets of a size."""
    include = selection.options.include
    indices = [feature_index(selection, name, "a feature to include") for name in include]
    if len(indices) > size:
        raise MisfeatError(
            f"{Setting('size', size)}, but {len(indices)} features are to be included: "
            f"{', '.join(map(repr, include))}.",
            remedy=f"Raise {Setting('size')}, or include fewer.",
        )
    return indices


def shown_scores(selection: FitResult, size: int | None) -> CompletedScores:
    """The scores of the sets of a size that hold every feature to include."""
    included = included_features(selection, checked_size(selection, size))
    scores = selection.completed(size)
    if not included:
        return scores
    held = np.all([(scores.subsets == index).any(axis=1) for index in included], axis=0)
    return scores.of_sets(held)


def target_varies(selection: FitResult, subgroup: str) -> bool:
    """Whether the target has several classes in a subgroup, so that a set may explain something."""
    target = selection.cohorts[subgroup].target
    return bool((target != target[0]).any())


def explainable_subgroups(selection: FitResult, subgroup: str | None) -> list[str]:
    """The subgroups that a question is about and in which the target varies."""
    return [name for name in selection.subgroup_names(subgroup) if target_varies(selection, name)]


def of_each_subgroup(
    selection: FitResult, names: Sequence[str], what: str, answer: Callable[[str], list[Record]]
) -> list[Record]:
    """The records of subgroups, one after the other; progress says how many are done."""
    records = []
    with long_work(selection.verbose > 0) as progress:
        for done, name in enumerate(names):
            progress(what, done, len(names))
            records += answer(name)
        progress(what, len(names), len(names))
    return records


def frame_of(kind: type[Any], records: Iterable[Any], backend: str | None) -> Any:
    """A dataframe with a line a record; columns are the fields of its class."""
    records = list(records)
    columns = {f.name: [getattr(one, f.name) for one in records] for f in fields(kind)}
    return result_frame(columns, backend)
