"""Forged selections with right checksums: what contradicts itself is refused, and told."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load, save

from misfeat import Coding, DamagedFileError, Selection, SubgroupSelector, fit_steps
from misfeat.datasets import make_cohorts
from tests.attacks.forging import ARRAYS, MANIFEST, Files, sealed
from tests.estimation.generated import wide_columns


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """A selection of rows, one of sums of products, of a numeric target, and others, as files."""
    rng = np.random.default_rng(0)
    data = make_cohorts(3, 100, 4, hide=0.3, random_state=0)
    number = {"a": rng.integers(0, 3, 200), "b": rng.integers(0, 3, 200), "y": rng.normal(size=200)}
    weight = np.repeat(rng.gamma(2.0, size=75), 4)
    kind = partial(SubgroupSelector, size=2, k=3)
    made = {
        "mutual_info": kind(data.groups).fit(data.columns, data.target),
        "r2": kind(data.groups, measure="r2").fit(data.columns, data.target),
        "number": kind().fit(number, "y"),
        "weights": kind(data.groups).fit(data.columns, data.target, sample_weight=weight),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fit_steps, "MOST_FEATURES", 10)
        made["shortlist"] = kind("site").fit(wide_columns(n_rows=600), "y")
    folder = tmp_path_factory.mktemp("runs")
    return {name: _files(folder / name, selector) for name, selector in made.items()}


def _files(folder, selector):
    selector.save(folder)
    return Files(*((folder / name).read_bytes() for name in (MANIFEST, ARRAYS)))


@pytest.fixture
def forge(originals, tmp_path):
    """Write a selection with changed fields or arrays, and right checksums."""

    def forged(measure="mutual_info", fields=None, arrays=None):
        manifest = json.loads(originals[measure].manifest)
        held = {name: array.copy() for name, array in load(originals[measure].arrays).items()}
        if fields is not None:
            fields(manifest)
        if arrays is not None:
            arrays(held)
        packed = save({name: np.ascontiguousarray(array) for name, array in held.items()})
        files = sealed(manifest, packed)
        (tmp_path / MANIFEST).write_bytes(files.manifest)
        (tmp_path / ARRAYS).write_bytes(files.arrays)
        return tmp_path

    return forged


def put(name, place, value):
    def change(held):
        held[name][place] = value

    return change


def renewed(name, make):
    def change(held):
        held[name] = make(held[name])

    return change


def test_what_was_not_changed_is_accepted(forge):
    for kind in ("mutual_info", "r2", "number", "weights", "shortlist"):
        assert len(Selection.load(forge(kind)).top_k())


ARRAYS_REFUSED = {
    "mutual_info": [
        (put("cohorts.codes", (0, 0), 100), "cohorts.codes: a number out of range"),
        (put("cohorts.codes", (0, 0), -2), "cohorts.codes: a number out of range"),
        (put("cohorts.target_codes", 0, 100), "cohorts.target_codes: a number out of range"),
        (put("cohorts.target_codes", 0, -1), "cohorts.target_codes: a number out of range"),
        (put("cohorts.weights", 0, 0), "cohorts.weights: a number out of range"),
        (put("cohorts.weights", 0, 2**60), "the sum of weights"),
        (put("cohorts.offsets", 0, 1), "the order of offsets"),
        (put("cohorts.offsets", -1, 10**6), r"cohorts.weights has the shape \(\d+,\), not"),
        (put("cohorts.offsets", 1, 10**6), "the order of offsets"),
        (put("cohorts.missing", ..., True), "values of a feature that was never recorded"),
        (renewed("cohorts.codes", lambda a: a.astype(np.int64)), "cohorts.codes has the type"),
        (renewed("cohorts.codes", lambda a: a[:, :-1]), "cohorts.codes has the shape"),
        (renewed("cohorts.missing", lambda a: a.astype(np.uint8)), "cohorts.missing has the type"),
        (
            renewed("cohorts.missing", lambda a: (a.view(np.uint8) + 7).view(np.bool_)),
            "cohorts.missing holds what is no flag",
        ),
        (put("book.exact.1", (0, 0), np.inf), "a number out of range"),
        (renewed("book.exact.2", lambda a: a[:, :-1]), "book.exact.2 has the shape"),
        (put("book.completed.2.score", (0, 0), np.nan), "a number out of range"),
        (put("book.completed.2.high", (0, 0), 9.0), "a number out of range"),
        (put("book.completed.2.low", (0, 0), -0.1), "a number out of range"),
        (put("book.completed.2.support", (0, 0), 9), "support: a number out of range"),
        (lambda held: held.pop("book.exact.1"), "scores are missing, or there are others"),
        (lambda held: held.pop("cohorts.codes"), "codes"),
        (lambda held: held.update(further=np.zeros(1)), "an unknown array"),
    ],
    "number": [
        (put("cohorts.ranks", 0, 99), "cohorts.ranks: a number out of range"),
        (put("cohorts.ranks", 0, -1), "cohorts.ranks: a number out of range"),
        (renewed("cohorts.ranks", lambda a: a[:-1]), "cohorts.ranks has the shape"),
        (renewed("cohorts.grids", lambda a: a.astype(np.int64)), "cohorts.grids has the type"),
        (renewed("cohorts.grids", lambda a: a[0]), "cohorts.grids"),
        (renewed("cohorts.grids", lambda a: a[:, :0]), "the number of bins"),
        (put("cohorts.grids", (1, 1), 9), "the order of bins in a grid"),
        (put("book.grids.1", (1, 0, 0), np.inf), "a number out of range"),
        (renewed("book.grids.2", lambda a: a[1:]), "book.grids.2 has the shape"),
        (put("book.completed.2.spread", (0, 0), -1.0), "a number out of range"),
        (lambda held: held.pop("book.grids.1"), "scores are missing, or there are others"),
        (lambda held: held.pop("book.completed.2.spread"), "scores are missing"),
    ],
    "weights": [
        (renewed("cohorts.masses", lambda a: -a), "cohorts.masses: a number out of range"),
        (renewed("cohorts.masses", lambda a: a[:-1]), "cohorts.masses has the shape"),
        (renewed("cohorts.masses", lambda a: a.astype(np.float64)), "cohorts.masses has the type"),
        (renewed("cohorts.heaviest", lambda a: a * 3.0), "cohorts.heaviest: a number out of range"),
        (
            renewed("cohorts.heaviest", lambda a: a * np.nan),
            "cohorts.heaviest: a number out of range",
        ),
        (
            renewed("cohorts.effective", lambda a: a * 1000.0),
            "cohorts.effective: a number out of range",
        ),
        (
            renewed("cohorts.effective", lambda a: a * np.nan),
            "cohorts.effective: a number out of range",
        ),
    ],
    "shortlist": [
        (put("shortlist.held_back", 0, -1), "held_back: a number out of range"),
        (put("shortlist.held_back", 0, 2), "held_back: a number out of range"),
        (put("shortlist.held_back", ..., 0), "a subgroup of which no row was held back"),
        (lambda held: held.pop("shortlist.held_back"), "held_back"),
    ],
    "r2": [
        (put("sums.products", (0, 0, 0), np.nan), "sums.products: a number out of range"),
        (put("sums.rows", 0, 0), "sums.rows: a number out of range"),
        (renewed("sums.products", lambda a: a[:, :-1]), "sums.products has the shape"),
        (renewed("sums.permuted", lambda a: a[:, :-1]), "sums.permuted has the shape"),
    ],
}
"""Changes of arrays by what was fitted, and what is said about each."""


@pytest.mark.parametrize("measure", ARRAYS_REFUSED)
def test_arrays_out_of_shape_or_range_are_refused(forge, measure):
    for change, message in ARRAYS_REFUSED[measure]:
        with pytest.raises(DamagedFileError, match=f"is no complete selection .*{message}"):
            Selection.load(forge(measure, arrays=change))


FIELDS_REFUSED = [
    ("shortlist", None, "an unknown array"),
    ("shortlist.left_out", ["f00"], "no tuple"),
    ("shortlist.left_out", {"tuple": ["f03"]}, "a feature that was kept and left out"),
    ("shortlist.pairs", -1, "the pairs that were looked at"),
    ("shortlist.pairs", 1000, "the pairs that were looked at"),
    ("shortlist.rows", 0, "the rows that were looked at"),
    ("shortlist.outstanding", -1, "the features that stand out"),
    ("shortlist.extra", 1, "extra"),
    ("cohorts.names", {"tuple": []}, "there is no subgroup"),
    ("cohorts.names", {"tuple": ["a", "a", "b"]}, "names: one that is there twice"),
    ("cohorts.names", {"tuple": [1, 2, 3]}, "names: one that is no text"),
    ("cohorts.features", ["f1"], "features: no tuple"),
    ("cohorts.target", 3, "the target is no text"),
    ("cohorts.classes", {"tuple": []}, "the number of classes"),
    ("cohorts.categories", {"tuple": []}, "the length of categories"),
    ("asked.size", 10**9, "the size of sets"),
    ("asked.size", True, "the size of sets"),
    ("asked.k", -1, "the number of sets"),
    ("asked.include", {"tuple": ["nowhere"]}, "the features to include"),
    ("asked.seed", "0", "the seed"),
    ("asked.backend", "os", "the library of answers"),
    ("asked.settings", 1, "settings"),
    ("asked.colour", "red", "an unknown option"),
    ("book.entropy", "9" * 5000, "the seed of draws"),
    ("estimate.name", "truth", "the name of the estimate"),
    ("estimate.confidence", 1.5, "the confidence"),
    ("completer", "transfer", "the completer"),
    ("completer.name", "os", "os"),
    ("book.budget", 0, "the budget"),
    ("book.sampler", "x", "the sampler"),
    ("book.n_jobs", 10**9, "the number of threads"),
    ("book.n_exact", 10**9, "the number of sizes"),
    ("book.sizes", [99], "a size"),
    ("book.sizes", [1, 1], "scores are missing"),
    ("book.entropy", "-1", "the seed of draws"),
    ("book.drawn", -1, "the number of draws"),
    ("validation", 1, "the validation"),
    ("estimator", 1, "the estimator"),
]
ESTIMATORS_REFUSED = [
    ("class", 1, "the class of the estimator"),
    ("params", [], "the parameters of the estimator"),
    ("n_features_in", -1, "the number of columns"),
    ("feature_names_in", ["f1"], "the names of columns"),
    ("params", {"groups": {"os.system": "x"}}, "no plain data"),
]


def test_fields_that_no_selection_has_are_refused(forge):
    for path, value, message in FIELDS_REFUSED:

        def change(manifest, path=path, value=value):
            *way, last = path.split(".")
            for key in way:
                manifest = manifest[key]
            manifest[last] = value

        kind = "shortlist" if path.startswith("shortlist") else "mutual_info"
        with pytest.raises(DamagedFileError, match=f"is no complete selection .*{message}"):
            Selection.load(forge(kind, fields=change))


@pytest.mark.parametrize("name", ["effective", "heaviest"])
def test_weights_of_which_a_part_is_not_there_are_refused(forge, name):
    def without(manifest):
        manifest["cohorts"][name] = None

    with pytest.raises(DamagedFileError, match="is no complete selection"):
        Selection.load(forge("weights", without, lambda held: held.pop(f"cohorts.{name}")))


def test_estimators_that_contradict_themselves_are_refused(forge):
    for path, value, message in ESTIMATORS_REFUSED:
        change = {path: value}
        folder = forge(fields=lambda manifest, change=change: manifest["estimator"].update(change))
        with pytest.raises(DamagedFileError, match=message):
            SubgroupSelector.load(folder)


def test_what_is_nested_deeper_than_anything_that_is_saved_is_refused(forge):
    deep = []
    for _ in range(450):
        deep = [deep]
    for name in ("asked", "cohorts"):
        folder = forge(
            fields=lambda manifest, name=name: manifest[name].update(target=deep, k=deep)
        )
        with pytest.raises(DamagedFileError, match="is no complete selection"):
            Selection.load(folder)
    (folder / MANIFEST).write_text("[" * 100_000)
    with pytest.raises(DamagedFileError, match="is damaged"):
        Selection.load(folder)


def test_arrays_that_are_none_are_refused(forge, originals):
    folder = forge()
    for packed in (b"", b"\xff" * 40, originals["r2"].arrays):
        files = sealed(json.loads(originals["mutual_info"].manifest), packed)
        (folder / MANIFEST).write_bytes(files.manifest)
        (folder / ARRAYS).write_bytes(files.arrays)
        with pytest.raises(DamagedFileError, match="is no complete selection"):
            Selection.load(folder)


def test_rows_that_lack_values_and_samples_of_sets_pass(tmp_path):
    data = make_cohorts(2, 80, 4, hide=0.3, random_state=1)
    table = pd.DataFrame(data.columns)
    table.loc[::5, "f1"] = None
    for settings in ({"coding": Coding(sporadic="available")}, {"budget": 0.5}):
        made = SubgroupSelector(data.groups, size=2, random_state=0, **settings)
        made.fit(table, data.target).save(tmp_path / "run")
        assert SubgroupSelector.load(tmp_path / "run").scores(3).equals(made.scores(3))


@pytest.mark.filterwarnings("ignore::misfeat.exceptions.MisfeatWarning")
@pytest.mark.parametrize("estimate", ["population", "above_chance", "sample"])
def test_odd_tables_pass(estimate, tmp_path):
    rng = np.random.default_rng(0)
    table = {"g": np.arange(40) // 2, "a": rng.integers(0, 3, 40), "b": rng.integers(0, 2, 40)}
    for y in (np.zeros(40), rng.integers(0, 2, 40), np.where(table["g"] > 9, 1, table["b"])):
        coding = Coding(min_rows=1)
        made = SubgroupSelector("g", size=2, estimate=estimate, coding=coding)
        made.fit({**table, "y": y}, "y").save(tmp_path / "run")
        assert SubgroupSelector.load(tmp_path / "run").top_k(1).equals(made.top_k(1))
