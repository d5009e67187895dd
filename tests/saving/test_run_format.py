import datetime as dt
import json
import math
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat import Coding, Columns, MisfeatError, SubgroupSelector
from misfeat.completion import InteractionsCompleter, TransferCompleter
from misfeat.datasets import make_cohorts
from misfeat.saving.run_folder import ANSWERS, ARRAYS, MANIFEST
from misfeat.saving.run_format import _checksum, decoded, encoded


def test_a_loaded_selector_answers_as_the_saved_one(selector, tmp_path):
    selector.scores(size=3)
    selector.validate()
    selector.save(tmp_path / "run")
    again = SubgroupSelector.load(tmp_path / "run")
    assert str(again.get_params()) == str(selector.get_params())
    pd.testing.assert_frame_equal(again.top_k(), selector.top_k())
    for size in (1, 2, 3, 4):  # 1 and 4 are computed anew
        pd.testing.assert_frame_equal(again.scores(size), selector.scores(size))
    pd.testing.assert_frame_equal(again.worth_collecting(), selector.worth_collecting())
    pd.testing.assert_frame_equal(again.subgroups_, selector.subgroups_)
    assert again.validation_ == selector.validation_
    assert again.cohorts_.equals(selector.cohorts_)
    assert again.get_feature_names_out().tolist() == selector.get_feature_names_out().tolist()
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [ANSWERS, ARRAYS, MANIFEST]


@pytest.mark.slow
def test_a_fresh_process_gives_the_same_scores(selector, tmp_path):
    selector.save(tmp_path / "run")
    code = (
        "import sys; from misfeat import SubgroupSelector; "
        "print(SubgroupSelector.load(sys.argv[1]).scores().to_json(double_precision=15))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "run")]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown.strip() == selector.scores().to_json(double_precision=15)


@pytest.mark.parametrize(
    "settings",
    [
        {"budget": 0.5, "random_state": None},
        {"measure": "r2"},
        {"estimate": "above_chance"},
        {"estimate": "sample"},
        {"confidence": 0.5},
        {"completer": TransferCompleter(proxies=False, confidence=0.8)},
        {
            "groups": [{"f1": [0, 1]}, "cohort"],
            "coding": Coding(missing_values={"*": ["?"], "f2": [9]}),
            "columns": Columns(keep="top_k"),
        },
    ],
)
def test_every_kind_of_selector_can_be_saved(settings, tmp_path):
    data = make_cohorts(2, 150, 4, hide=0.2, random_state=1)
    made = SubgroupSelector(**{"groups": data.groups, "size": 2, **settings})
    made.fit(pl.DataFrame({k: list(v) for k, v in data.columns.items()}), data.target)
    made.save(tmp_path / "run")
    again = SubgroupSelector.load(tmp_path / "run")
    assert str(again.get_params()) == str(made.get_params())
    for size in (1, 2, 3):
        assert again.scores(size).equals(made.scores(size))


def test_what_is_no_selection_is_refused(selector, tmp_path):
    with pytest.raises(MisfeatError, match="There is no selection in"):
        SubgroupSelector.load(tmp_path)
    (tmp_path / "table.csv").write_text("a,y")
    with pytest.raises(MisfeatError, match=r"There is no selection in '.*table.csv'"):
        SubgroupSelector.load(tmp_path / "table.csv")
    selector.save(tmp_path / "run")
    manifest = tmp_path / "run" / MANIFEST
    about = json.loads(manifest.read_text())
    for change, message in (
        ({"version": 7, "misfeat": "9.0"}, "written by another misfeat .9.0, format 7."),
        ({"format": "something else"}, "is no selection of misfeat"),
        ({"validation": "All is well."}, "is damaged"),
    ):
        manifest.write_text(json.dumps({**about, **change}, indent=1))
        with pytest.raises(MisfeatError, match=message):
            SubgroupSelector.load(tmp_path / "run")
    forged = {**about, "cohorts": {}}
    forged["checksum"] = _checksum(forged)
    manifest.write_text(json.dumps(forged, indent=1))
    with pytest.raises(MisfeatError, match="is no complete selection"):
        SubgroupSelector.load(tmp_path / "run")
    manifest.write_text(json.dumps(about, indent=1))
    (tmp_path / "run" / ARRAYS).unlink()
    with pytest.raises(MisfeatError, match="cannot be read"):
        SubgroupSelector.load(tmp_path / "run")


@pytest.mark.parametrize("name", [MANIFEST, ARRAYS])
def test_no_flipped_byte_goes_unnoticed(selector, tmp_path, name):
    selector.save(tmp_path / "run")
    file = tmp_path / "run" / name
    whole = file.read_bytes()
    rng = np.random.default_rng(0)
    places = np.unique(np.r_[:40, rng.integers(len(whole), size=150), len(whole) - 1])
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.integers(8)
        file.write_bytes(bytes(damaged))
        with pytest.raises(MisfeatError):
            SubgroupSelector.load(tmp_path / "run")
    for shorter in (whole[: len(whole) // 2], b"", whole + b" "):
        file.write_bytes(shorter)
        with pytest.raises(MisfeatError):
            SubgroupSelector.load(tmp_path / "run")
    file.write_bytes(whole)
    SubgroupSelector.load(tmp_path / "run")


def test_a_completer_of_ones_own_cannot_be_saved(tmp_path):
    class Own(InteractionsCompleter):
        pass

    data = make_cohorts(2, 100, 3, hide=0.2, random_state=0)
    made = SubgroupSelector(data.groups, size=2, completer=Own()).fit(data.columns, data.target)
    with pytest.raises(MisfeatError, match=r"completer=Own\(\) cannot be saved"):
        made.save(tmp_path / "run")
    assert not (tmp_path / "run").exists()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
    | st.datetimes() | st.dates(),
    lambda inner: st.lists(inner, max_size=3)
    | st.tuples(inner, inner)
    | st.dictionaries(st.text() | st.integers(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(VALUES)
def test_values_come_back_as_they_were(value):
    text = json.dumps(encoded(value, "it"))
    back = decoded(json.loads(text))
    assert back == value
    assert type(back) is type(value)


def test_odd_values():
    assert math.isnan(decoded(encoded(float("nan"), "it")))
    assert encoded(np.int8(3), "it") == 3
    assert decoded(encoded(np.array([1.5]), "it")) == [1.5]
    assert decoded(encoded(dt.date(2020, 1, 2), "it")) == dt.date(2020, 1, 2)
    with pytest.raises(MisfeatError, match=r"groups=<object .* cannot be saved"):
        encoded(object(), "groups")
    with pytest.raises(ValueError, match="no plain data"):
        decoded({"class": "os.system"})
