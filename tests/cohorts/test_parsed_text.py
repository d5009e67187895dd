"""Columns of text that stand for numbers or dates, in every library that starts quickly."""

import datetime as dt
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat import MisfeatError, MisfeatWarning, SubgroupSelector
from misfeat.cohorts import Coding, build_cohorts
from misfeat.cohorts.parsed_text import DAY_FIRST, MONTH_FIRST, SAMPLED, number_style, parse_text
from misfeat.reading.coders import Kind
from misfeat.reading.table_statistics import ValueCounts
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
            "called": [date.strftime("%H:%M") for date in opened],
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
    "called": ("time of day, in hours", "5 quantile bins"),
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


@pytest.mark.parametrize("holder", HOLDERS)
def test_blanks_around_numbers_do_not_count(holder):
    numbers = np.arange(60) * 37.5
    around = [" {}", "{}\t", "\N{NO-BREAK SPACE}{}\n", "{}\u2003"] * 15
    texts = [form.format(f"{v:,.1f}") for form, v in zip(around, numbers, strict=True)]
    expected = build_cohorts(table(v=numbers), "y")
    data = pl.DataFrame({**table(v=numbers), "v": texts})
    for read in (None, {"v": "number"}):
        found = build_cohorts(HOLDERS[holder](data), "y", coding=Coding(read=read))
        assert (audit(found, "v").taken_for, audit(found, "v").missing) == ("number", 0)
        assert (found.codes == expected.codes).all()


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


@pytest.mark.filterwarnings("ignore::misfeat.MisfeatWarning")
def test_what_an_engine_would_take_for_numbers_or_times_is_read_from_a_file_as_from_texts(tmp_path):
    rng = np.random.default_rng(5)
    lab, day = rng.integers(50, 3000, N), rng.integers(10**6, size=N).tolist()
    moments = [dt.datetime(2020, 1, 1) + dt.timedelta(minutes=one) for one in day]
    texts = pl.DataFrame(
        {
            "digits": rng.choice(["89490000000000000001", "89490000000000000002"], N),
            "lab": [f"{value:,}".replace(",", ".") for value in lab],
            "code": rng.choice(["1.1", "1.10", "250.0"], N),
            "comma": rng.choice(["1.250", "2.5", "3"], N),
            "moment": [moment.strftime("%d/%m/%Y %H:%M:%S") for moment in moments],
            "iso": [moment.isoformat() for moment in moments],
            "day": [moment.date().isoformat() for moment in moments],
            "y": np.where(lab > 1500, "ill", "well"),
        }
    )
    texts.write_csv(tmp_path / "t.csv", separator=";")
    coding = Coding(read={"code": "text", "comma": "decimal comma", "day": "date"})
    found = build_cohorts(tmp_path / "t.csv", "y", coding=coding)
    expected = build_cohorts(texts, "y", coding=coding)
    assert (found.features, found.classes) == (expected.features, expected.classes)
    assert (found.codes == expected.codes).all()
    assert [audit(found, name).categories for name in ("digits", "code")] == [
        ("89490000000000000001", "89490000000000000002"),
        ("1.1", "1.10", "250.0"),
    ]
    assert audit(found, "lab").edges[0] > 500
    assert audit(found, "moment").taken_for == "date, day first"


@pytest.mark.parametrize("holder", HOLDERS)
def test_numbers_in_memory_have_no_texts_to_keep(holder):
    with pytest.raises(MisfeatError, match=r"holds integer values.*make it text in the table"):
        one_column([1, 2, 3] * 20, holder, read={"v": "text"})


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


def counted(texts: list[str]) -> ValueCounts:
    values, counts = np.unique(np.array(texts, dtype=object), return_counts=True)
    return ValueCounts(values, counts, missing=0)


def read(*texts: str, decimal: str | None = None) -> list[float | None] | None:
    style = number_style(Counter(texts), decimal)
    return None if style is None else [style.read(text) for text in texts]


def dates(*texts: str, way: str = "date"):
    return parse_text(counted(list(texts)), way)[0]


NUMBERS = [
    (["$16,818", "$900", "$1,234,567.50"], [16818, 900, 1234567.5]),
    (["12.2%", "5 %", "-3.1%"], [12.2, 5, -3.1]),
    (["1.234,56", "12,5", "1.000.000,00"], [1234.56, 12.5, 1e6]),
    (["12 kg", "1 kg", "7kg"], [12, 1, 7]),
    (["36 months", "60 months", "1 month"], [36, 60, 1]),
    (["(250)", "1,200.5", "($5)"], [-250, 1200.5, -5]),
    (["€ 1.200", "€ 15,50"], [1200, 15.5]),
    (["1 234,5", "12\N{NO-BREAK SPACE}345,1"], [1234.5, 12345.1]),
    (["-$5.20", "$-3", "+$4"], [-5.2, -3, 4]),
    (["1,23,456", "5,00,000"], [123456, 500000]),
    (["1'234.5", "12"], [1234.5, 12]),
    (["\N{MINUS SIGN}5", "3"], [-5, 3]),
    (["12 EUR", "7 EUR"], [12, 7]),
    (["98.6°F", "100 °F"], [98.6, 100]),
    (["0,123", "0,5"], [0.123, 0.5]),
    (["1e5", "2.5E-3", ".5", "5."], [1e5, 0.0025, 0.5, 5]),
    (["1.06K", "673", "2 M", "7k"], [1060, 673, 2e6, 7000]),
    (["1.041", "673", "12.608"], [1041, 673, 12608]),
    (["1.041", "673", "12.6"], [1.041, 673, 12.6]),
]
NO_NUMBERS = [
    *(["A12", "A13"], ["Stage 1", "Stage 2"], ["02134", "10001"], ["10-20", "20-30"]),
    *(["555-1234"], ["2019-03-02"], ["1.2.3"], ["12 (about)"], ["(5", "3)"], ["--5"]),
    *(["inf", "nan"], ["yes", "no"]),
]


def test_numbers_are_read_as_people_write_them():
    for texts, numbers in NUMBERS:
        assert read(*texts) == numbers, texts
    assert read("12 kg", "13 kg", "3 lb") == [12, 13, None]  # the unit of most rows
    assert read("1,234", "250", decimal=",") == [1.234, 250]  # as the user says


def test_codes_ranges_and_words_are_no_numbers():
    assert [texts for texts in NO_NUMBERS if read(*texts) is not None] == []


def test_marks_that_could_mean_either_are_said_to():
    assert number_style({"1,234": 1, "2,500": 1}).doubtful == "1,234"
    assert number_style({"1.234": 1, "2.500": 1}).doubtful == "1.234"
    assert number_style({"1.234": 1, "250": 1}).doubtful == "1.234"
    for texts in ({"1,234": 1, "250": 1}, {"1,234": 1, "2.5": 1}, {"$1,234": 1}):
        assert number_style(texts).doubtful == ""


def test_bounds_lie_beside_their_numbers():
    expected = ["< 1 year", "1 year", "2 years", "10+ years"]
    found = parse_text(counted(expected))[0]
    assert found.words == "number, some of them bounds"
    assert sorted(found.values, key=found.values.get) == expected


STYLES = {
    "plain": lambda n: f"{n:.2f}",
    "currency": lambda n: f"-${-n:,.2f}" if n < 0 else f"${n:,.2f}",
    "brackets": lambda n: f"({-n:,.2f})" if n < 0 else f"{n:,.2f}",
    "decimal comma": lambda n: f"{n:_.2f}".replace(".", ",").replace("_", "."),
    "blanks": lambda n: f"{n:_.2f}".replace("_", "\N{NARROW NO-BREAK SPACE}"),
    "per cent": lambda n: f"{n:.2f} %",
    "unit": lambda n: f"{n:,.2f} km/h",
}
CENTS = st.integers(-(10**10), 10**10).map(lambda whole: whole / 100)


@given(st.sampled_from(list(STYLES)), st.lists(CENTS, min_size=1, max_size=20))
def test_numbers_that_are_written_are_read_back(style, numbers):
    assert read(*map(STYLES[style], numbers)) == numbers


DATES = {
    "2019-03-02": (2019, 3, 2),
    "2019/3/2 14:05": (2019, 3, 2, 14, 5),
    "2019-03-02T10:00:00+02:00": (2019, 3, 2, 8),
    "2019-03-02 10:00:00.25": (2019, 3, 2, 10, 0, 0, 250000),
    "28/02/2019 9:30": (2019, 2, 28, 9, 30),
    "02/28/2019 2:05 PM": (2019, 2, 28, 14, 5),
    "02/28/2019 12:05 am": (2019, 2, 28, 0, 5),
    "28.2.19": (2019, 2, 28),
    "28.2.71": (1971, 2, 28),
    "2 Mar 2019": (2019, 3, 2),
    "12-Apr-2020": (2020, 4, 12),
    "March 2nd, 2019": (2019, 3, 2),
    "Mon, 02 Sept 2019 10:00": (2019, 9, 2, 10),
    "Dec-2015": (2015, 12, 1),
    "Dec-15": (2015, 12, 1),
    "2015-12": (2015, 12, 1),
    "12/2015": (2015, 12, 1),
    "2020 Q4": (2020, 10, 1),
}
NO_DATES = ["2019-13-02", "30/02/2019", "1.5", "20190302", "10-20", "2019/2020", "may be", "May 5"]


def test_dates_are_read_as_people_write_them():
    for text, date in DATES.items():
        assert dates(text).values == {text: dt.datetime(*date)}
    assert [text for text in NO_DATES if dates(text) is not None] == []


def test_the_column_decides_whether_the_day_comes_first():
    early = "03/02/2019 14:05"
    assert dates(*[early] * 9, "28/02/2019 09:30").values[early].day == 3
    assert dates(*[early] * 9, "02/28/2019 09:30").values[early].day == 2
    mixed = dates(*["28/02/2019"] * 3, "02/27/2019")
    assert mixed.words == f"date, {DAY_FIRST}"
    assert "02/27/2019" not in mixed.values


def test_a_column_that_does_not_tell_is_doubtful():
    found = dates("02/02/2019", "03/02/2019")
    assert (found.words, found.doubtful) == (f"date, {MONTH_FIRST}", "03/02/2019")
    assert found.otherwise == DAY_FIRST
    assert dates("3.2.2019").words == f"date, {DAY_FIRST}"
    assert dates("02/02/2019").doubtful == ""
    assert dates("03/02/2019", way=DAY_FIRST).doubtful == ""


def test_times_of_day_are_hours():
    found, _ = parse_text(counted(["14:30", "2:15 pm", "25:00", "13:00 am"]))
    assert found.values == {"14:30": 14.5, "2:15 pm": 14.25}


FORMATS = {
    "%Y-%m-%d %H:%M": "date",
    "%d %b %Y %H:%M": "date",
    "%B %d, %Y %I:%M %p": "date",
    "%d/%m/%Y %H:%M": DAY_FIRST,
    "%m-%d-%Y %H:%M": MONTH_FIRST,
}
MINUTES = st.datetimes(dt.datetime(1950, 1, 1), dt.datetime(2060, 1, 1)).map(
    lambda date: date.replace(second=0, microsecond=0)
)


@given(st.sampled_from(list(FORMATS)), st.lists(MINUTES, min_size=1, max_size=20))
def test_dates_that_are_written_are_read_back(form, moments):
    texts = [date.strftime(form) for date in moments]
    found = dates(*texts, way=FORMATS[form])
    assert [found.values[text] for text in texts] == moments


@given(st.lists(st.text(max_size=20), min_size=1, max_size=8))
def test_any_text_is_read_as_a_number_a_date_or_not_at_all(texts):
    for style in (number_style(Counter(texts)), number_style(Counter(texts), ",")):
        numbers = [None] if style is None else [style.read(text) for text in texts]
        assert all(number is None or isinstance(number, float) for number in numbers)
    found = dates(*texts)
    assert found is None or all(isinstance(date, dt.datetime) for date in found.values.values())


def test_what_stands_for_nothing_is_text():
    for texts in [[], ["yes", "no"], ["n/a", "-"], ["02134", "10001"]]:
        assert parse_text(counted(texts)) == (None, 0.0)
    assert parse_text(counted(["1,5 kg", "2 kg"]))[0].words == "number (kg, decimal comma)"


def test_words_for_nothing_do_not_count():
    found, share = parse_text(counted(["5%", "n/a", "unknown", "-"]))
    assert (found.kind, share) == (Kind.NUMBER, 1.0)
    assert found.counted(counted(["5%", "n/a"])).missing == 1


def test_of_many_texts_some_are_looked_at_first():
    many = [f"{number:,} months" for number in range(2, 3 * SAMPLED)]
    found, share = parse_text(counted([*many, "1 month", "(1) months"]))
    assert share == 1.0
    assert (found.values["1 month"], found.values["(1) months"]) == (1, -1)
    codes = [str(number) for number in range(10_000, 10_000 + 3 * SAMPLED)]
    assert parse_text(counted([*codes, "00123"]))[0] is None  # one code makes all of them codes
    names = [f"patient {number}" for number in range(3 * SAMPLED)]
    assert parse_text(counted(names)) == (None, 0.0)


def test_numbers_beside_letters_with_numbers_are_codes():
    diagnoses = [str(n) for n in range(300, 500)] * 5 + ["V57", "V58", "V45.8", "E850", "V10"]
    held = {"d": diagnoses, "y": [n % 2 for n in range(len(diagnoses))]}
    with pytest.warns(MisfeatWarning, match=r"'d' is taken for text.*5 do not, such as 'E850'"):
        assert build_cohorts(held, "y").columns[0].taken_for == "category"
    few = {**held, "d": [*diagnoses[:-1], "501"]}
    with pytest.warns(MisfeatWarning, match="'d' is read as number.*4 of its rows do not read"):
        assert build_cohorts(few, "y").columns[0].missing == 4
