"""Columns of text that stand for numbers or dates, in every library that starts quickly."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

from misfeat import MisfeatError, MisfeatWarning, SubgroupSelector
from misfeat.cohorts import Coding, build_cohorts
from tests.cohorts.tables import audit, table
from tests.reading.holders import HOLDERS

N = 300


def messy() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    income = rng.lognormal(10, 0.6, N).round(2)
    minutes = rng.integers(10**6, size=N).tolist()
    opened = [dt.datetime(2018, 1, 1) + dt.timedelta(minutes=one) for one in minutes]
    return pl.DataFrame(
        {
            "site": rng.choice(["va", "hu"], N),
            "income": [f"${value:,.0f}" for value in income],
            "rate": [f"{value:.1f}%" for value in rng.random(N) * 20],
            "balance": [f"{v:_.2f}".replace(".", ",").replace("_", ".") for v in income],
            "profit": [f"({-v:,.0f})" if v < 0 else f"{v:,.0f}" for v in rng.normal(0, 5000, N)],
            "term": rng.choice([" 36 months", " 60 months"], N),
            "tenure": rng.choice(["< 1 year", "1 year", "2 years", "10+ years", None], N).tolist(),
            "opened": [date.strftime("%d/%m/%Y %H:%M") for date in opened],
            "issued": [date.strftime("%b-%Y") for date in opened],
            "plain": [str(value) for value in rng.integers(0, 40, N) / 4],
            "zip": rng.choice(["02134", "10001", "94105"], N),
            "owns": rng.choice(["yes", "no"], N),
            "y": (income + rng.normal(0, 20_000, N) > np.median(income)).astype(int),
        }
    )


TAKEN_FOR = {
    "income": ("number ($)", "5 quantile bins"),
    "rate": ("number (%)", "5 quantile bins"),
    "balance": ("number (decimal comma)", "5 quantile bins"),
    "profit": ("number", "5 quantile bins"),
    "term": ("number (months)", "as it is"),
    "tenure": ("number, some of them bounds", "as it is"),
    "opened": ("date, day first", "5 quantile bins"),
    "issued": ("date", "5 quantile bins"),
    "plain": ("number", "5 quantile bins"),
    "zip": ("category", "as it is"),
    "owns": ("category", "as it is"),
}


def test_the_audit_says_what_columns_were_taken_for_with_examples():
    cohorts = build_cohorts(messy(), "y")
    for column, taken in TAKEN_FOR.items():
        found = audit(cohorts, column)
        assert (found.taken_for, found.treatment) == taken
        assert found.example in messy()[column].to_list()
    # Few values keep their words, in the order of what they stand for.
    assert audit(cohorts, "term").categories == (" 36 months", " 60 months")
    assert audit(cohorts, "tenure").categories == ("< 1 year", "1 year", "2 years", "10+ years")
    assert audit(cohorts, "owns").categories == ("no", "yes")


def test_every_library_correlates_the_same():
    table = messy().select("income", "tenure", "balance", "y")
    expected, *found = (
        SubgroupSelector(size=1, measure="r2").fit(hold(table), "y").scores()["observed"]
        for hold in HOLDERS.values()
    )
    for scores in found:
        np.testing.assert_allclose(scores, expected)


def test_a_number_in_text_is_cut_where_the_number_would_be():
    values = np.random.default_rng(0).integers(1000, 99_999, 60)
    as_numbers = build_cohorts(table(v=values + 0.5), "y")
    as_text = build_cohorts(table(v=np.array([f"${v + 0.5:,}" for v in values], object)), "y")
    assert audit(as_text, "v").edges == audit(as_numbers, "v").edges
    assert (as_text.codes == as_numbers.codes).all()


def test_texts_that_do_not_read_are_named_and_count_as_missing():
    texts = np.array([f"{v:,}" for v in range(950, 1050)] + ["refused", "n/a"], dtype=object)
    data = {"v": texts, "y": np.arange(102) % 2}
    with pytest.warns(
        MisfeatWarning, match="'v' is read as number.*2 of its rows.*'n/a', 'refused'"
    ):
        assert audit(build_cohorts(data, "y"), "v").missing == 2


@pytest.mark.filterwarnings("error")
def test_words_for_nothing_are_noted_without_a_warning():
    texts = np.array([f"{v}%" for v in range(60)] + ["n/a", "-", "unknown"] * 10, dtype=object)
    cohorts = build_cohorts({"v": texts, "y": np.arange(90) % 2}, "y")
    assert audit(cohorts, "v").missing == 30
    assert any("30 of its rows do not read" in note for note in cohorts.notes)


def test_a_column_that_mostly_reads_is_text_with_a_warning():
    texts = np.array([f"{v % 30}.5" if v % 5 else "low" for v in range(60)], dtype=object)
    with pytest.warns(MisfeatWarning, match=r"'v' is taken for text.*12 do not, such as 'low'"):
        assert audit(build_cohorts(table(v=texts), "y"), "v").taken_for == "category"
    with pytest.warns(MisfeatWarning, match="count as missing"):
        forced = build_cohorts(table(v=texts), "y", coding=Coding(read={"v": "number"}))
    assert audit(forced, "v").taken_for == "number"


def test_a_date_that_could_be_read_in_two_ways_is_said_to():
    texts = np.array([f"0{v % 9 + 1}/0{v % 7 + 1}/2019" for v in range(60)], dtype=object)
    with pytest.warns(MisfeatWarning, match=r"month first.*read=\{'v': 'day first'\}"):
        by_default = build_cohorts(table(v=texts), "y")
    other = build_cohorts(table(v=texts), "y", coding=Coding(read={"v": "day first"}))
    assert audit(by_default, "v").edges != audit(other, "v").edges


@pytest.mark.parametrize(
    ("read", "message"),
    [
        ({"owns": "number"}, "no value of the column reads so"),
        ({"y": "date"}, "the column holds integer values"),
        ({"owns": "zahl"}, "is unknown; a column is read as 'text'"),
        ({"nowhere": "text"}, "nowhere"),
        ("text", "names no columns"),
    ],
)
def test_what_cannot_be_read_so_is_refused(read, message):
    with pytest.raises(MisfeatError, match=message):
        build_cohorts(messy(), "y", coding=Coding(read=read))


def test_subgroups_go_by_texts_as_they_stand_and_are_cut_by_what_these_stand_for():
    by_value = build_cohorts(messy(), "y", groups="term")
    assert by_value.names == ("term= 36 months", "term= 60 months")
    cut = build_cohorts(messy(), "y", groups={"income": [20_000]})
    assert cut.names == ("income<=20000", "income>20000")
    asked = build_cohorts(messy(), "y", groups={"long": "term == ' 60 months'"})
    assert asked.names == ("not long", "long")
    rich = build_cohorts(messy(), "y", groups={"rich": "income > 20000"})
    assert [cohort.weights.sum() for cohort in rich] == [cohort.weights.sum() for cohort in cut]


def test_a_target_may_be_a_number_in_text():
    data = table(y=np.array(["$1,000", "$200"] * 30, dtype=object))
    assert build_cohorts(data, "y").classes == ("$200", "$1,000")


def test_amounts_that_all_differ_are_no_identifiers():
    amounts = np.random.default_rng(0).permutation(10**6)[:60]
    texts = np.array([f"${amount:,}" for amount in amounts], dtype=object)
    assert audit(build_cohorts(table(v=texts), "y"), "v").role == "feature"


def test_a_file_is_read_as_its_frame_is(tmp_path):
    messy().write_csv(tmp_path / "messy.csv")
    assert build_cohorts(tmp_path / "messy.csv", "y", groups="site").equals(
        build_cohorts(messy(), "y", groups="site")
    )


def one_column(values, holder="polars", **coding):
    rng = np.random.default_rng(3)
    columns = {
        "v": list(values),
        "z": rng.integers(2, size=len(values)),
        "y": np.arange(len(values)) % 2,
    }
    return build_cohorts(HOLDERS[holder](pl.DataFrame(columns)), "y", coding=Coding(**coding))


AMOUNTS = np.random.default_rng(4).integers(20, 80, 200)


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.filterwarnings("ignore::misfeat.MisfeatWarning")
def test_what_means_missing_is_compared_as_it_reads(holder):
    numbers = np.where(np.arange(200) % 10 == 0, -9, AMOUNTS % 8 + 1).tolist()
    for written, code in (
        (lambda number: f"${number}", -9),
        (lambda number: f"{number},0", -9),
        (lambda number: f"{number}".replace("-", "\N{MINUS SIGN}"), "-9"),
        (lambda number: f"{abs(number):02d}/01/1900 14:05", "1900-09-01 14:05:00"),
    ):
        texts = [written(number) for number in numbers]
        assert audit(one_column(texts, holder, missing_values={"v": [code]}), "v").missing == 20
    blank = audit(one_column(["a", "b", "", "  "] * 50, holder), "v")
    assert (blank.missing, blank.categories) == (100, ("a", "b"))


def test_codes_with_more_digits_than_numbers_hold_are_kept_apart():
    found = audit(one_column(["90000000000000001", "90000000000000002"] * 100), "v")
    assert found.categories == ("90000000000000001", "90000000000000002")


def test_a_user_may_read_codes_as_numbers():
    found = audit(one_column(["001", "002", "010"] * 70, read={"v": "number"}), "v")
    assert found.taken_for == "number"
