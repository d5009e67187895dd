import numpy as np

from misfeat.cohorts import build_cohorts
from misfeat.datasets import heart_csv, load_heart


def test_heart_falls_into_its_hospitals_from_its_file_as_from_its_columns():
    data = load_heart()
    assert (data.n_rows, len(data.columns)) == (920, 15)
    cohorts = build_cohorts(data.columns, data.target, groups=data.groups)
    assert [cohort.size for cohort in cohorts] == [303, 294, 123, 200]
    assert build_cohorts(heart_csv(), data.target, groups=data.groups).equals(cohorts)


def test_heart_has_plain_types():
    columns = load_heart().columns
    assert columns.pop("site").dtype == object
    assert columns.pop("num").dtype == np.int64
    assert {column.dtype for column in columns.values()} == {np.dtype(np.float64)}
    assert int(sum(np.isnan(column).sum() for column in columns.values())) == 1759


def test_heart_comes_with_its_licence():
    text = heart_csv().with_name("LICENSE-heart.txt").read_text(encoding="utf-8")
    for needed in ("Janosi", "Steinbrunn", "Pfisterer", "Detrano", "CC BY 4.0", "Changes"):
        assert needed in text


def test_heart_in_words_is_the_same_table():
    plain, readable = load_heart(), load_heart(readable=True)
    assert readable.n_rows == plain.n_rows
    ill = plain.columns["num"] > 0
    assert (readable.columns["heart disease"] == np.where(ill, "yes", "no")).all()
    for (name, column), words in zip(plain.columns.items(), readable.columns.values(), strict=True):
        pairs = {*zip(column[column == column], words[column == column], strict=True)}
        if name != "num":
            assert len(pairs) == len({code for code, _ in pairs}) == len({w for _, w in pairs})
        if words.dtype == object:
            assert all(word is None for word in words[column != column])
