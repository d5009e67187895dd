"""What is kept beside the benchmarks is what they write, and pages show it: no figure is edited."""

import csv
import re
import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from benchmarks.common.output import mean_rows
from benchmarks.downstream import experiment as downstream
from benchmarks.make_pages import PAGES
from benchmarks.paper import experiment as paper
from benchmarks.population import experiment as population
from tests.benchmarks.conftest import rows_of

ROOT = Path(__file__).parents[2]
KEPT, DOCS = ROOT / "benchmarks", ROOT / "docs" / "benchmarks"
ROUNDED = 1.01e-4
"""Draws are kept to four digits, and so are their means."""
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")
"""In a page the last digit may differ, where a mean of rounded means lies between two."""


def numbers_of(path):
    return [{name: value_of(text) for name, text in row.items()} for row in rows_of(path)]


def value_of(text):
    if not text:
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def test_the_paper_s_figures_are_those_of_the_kept_work(tmp_path, monkeypatch):
    monkeypatch.setattr(paper, "draw_figures", lambda *_: None)
    shutil.copy(KEPT / "paper" / "work.jsonl", tmp_path)
    paper.PaperBench().run(tmp_path, lambda _: None)
    written = [path for path in tmp_path.iterdir() if path.name != "work.jsonl"]
    assert len(written) == 8
    for path in written:
        assert path.read_text() == (KEPT / "paper" / path.name).read_text(), path.name


@pytest.mark.parametrize(
    ("bench", "keys"),
    [
        (population, ("table", "rows", "hidden", "size", "method")),
        (downstream, ("table", "rows", "size", "method")),
    ],
)
def test_kept_means_are_those_of_the_kept_draws(bench, keys):
    folder = KEPT / bench.__name__.split(".")[1]
    found = mean_rows(numbers_of(folder / "draws.csv"), keys, bench.FIGURES)
    kept = numbers_of(folder / "means.csv")
    assert [{key: row[key] for key in keys} for row in found] == [
        {key: row[key] for key in keys} for row in kept
    ]
    for name in bench.FIGURES:
        wanted = [row[name] for row in kept]
        assert [row[name] for row in found] == pytest.approx(wanted, abs=ROUNDED), name


@pytest.mark.parametrize("bench", [population, downstream])
def test_kept_pages_tell_the_kept_means(bench):
    folder = KEPT / bench.__name__.split(".")[1]
    seeds = {row["seed"] for row in numbers_of(folder / "draws.csv")}
    written = bench.page(numbers_of(folder / "means.csv"), len(seeds))
    kept = (folder / "page.md").read_text(encoding="utf-8")
    assert NUMBER.sub("#", written) == NUMBER.sub("#", kept)
    for new, old in zip(NUMBER.findall(written), NUMBER.findall(kept), strict=True):
        last = 10.0 ** -len(old.partition(".")[2]) if "." in old else 0
        assert abs(float(new.replace(",", "")) - float(old.replace(",", ""))) <= 1.01 * last


@pytest.mark.parametrize("name", ["population", "paper", "field"])
def test_pages_of_the_documentation_are_the_kept_ones(name):
    kept = (KEPT / name / "page.md").read_text(encoding="utf-8")
    shown = (DOCS / PAGES.get(name, f"{name}_results.md")).read_text(encoding="utf-8")
    assert shown == kept.replace("](", f"](../../benchmarks/{name}/")


def measured(name):
    """The lines of a table of measurements, without its head."""
    path = ROOT / "benchmarks" / f"{name}.csv"
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))[1:]


def page(name):
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def shown(text, lines):
    """How many of some measured lines a page shows; one that was edited is not among them."""
    return sum(f"| {' | '.join(cells)} |" in text for cells in lines)


def rounded(share, digits):
    return f"{float(share) + 1e-9:.{digits}f}".lstrip("0")


def without_zero(share):
    return share.replace("0.", ".", 1) if float(share) < 1 else share


def test_differences_and_pairs_of_features_are_those_measured():
    text = page("answers/features")
    differences = [
        [c.lstrip("0") if "." in c else c for c in (similarity, n_rows, *held)]
        for similarity, n_rows, _, *held in measured("population/differences")
    ]
    pairs = [
        [f"{int(n_rows):,}", f"{int(n):,}", *(c.lstrip("0") if "." in c else c for c in told)]
        for n_rows, n, *told in measured("population/clear_pairs")
    ]
    assert (shown(text, differences), shown(text, pairs)) == (2, 2)


def test_what_is_called_clear_comes_true_in_85_percent_of_every_kind():
    by_kind, text = defaultdict(list), page("answers/plan")
    for kind, *_, clear, true in measured("validity/clear"):
        assert float(true or 1) >= 0.85
        by_kind[kind] += [clear, f"{100 * float(true):.0f} %" if true else "–"]
    assert sum(int(n) for n in by_kind["alike"][::2]) > 100
    assert shown(text, [["everywhere", *by_kind["alike"]]]) == 1
    lots = [[f"in {share}0 % by lot", *by_kind[f"lot .{share}"]] for share in "97"]
    assert shown(text, lots) == 2
    tenths = [
        [f"{100 * float(one):.0f}" for one in line[2:]] for line in measured("validity/clear_said")
    ][-4:]
    said, came_true = (
        f"{', '.join(one[:-1])} and {one[-1]} %" for one in zip(*tenths, strict=True)
    )
    assert f"Of rises said with {said}, {came_true} came true" in text


def test_tests_against_chance_are_those_measured():
    text = page("answers/chance")
    null = defaultdict(list)
    for kind, _, _, usual, few, _ in measured("validity/null_tables"):
        weights = kind.partition("weights ")[2]
        if not kind.startswith("r2"):
            null["clusters" if "clusters" in weights else bool(weights)].append((few, usual))
    power = [[one, *(rounded(s, 2) for s in found)] for _, one, *found in measured("answers/power")]
    enough = [
        [f"{int(rows):,}", informative, *(share.lstrip("0") for share in shares)]
        for rows, informative, *shares in measured("answers/enough")
    ]
    for kinds in null.values():
        few, usual = (f"{min(one)[1:]} to {max(one)[1:]}" for one in zip(*kinds, strict=True))
        assert f"| {len(kinds)} | {few} | {usual} |" in text
    assert shown(text, power) == 4
    assert shown(page("answers/enough"), enough) == 4


def test_changes_are_named_as_often_as_was_measured():
    assert min(float(line[3]) for line in measured("answers/changes")) >= 0.91
    planted = [
        [table, kind, *map(without_zero, shares[:3])]
        for table, kind, *shares in measured("answers/planted")
    ]
    assert shown(page("answers/changes"), planted) == 4


def test_the_best_sets_of_a_number_are_found_as_often_as_was_measured():
    path = ROOT / "benchmarks" / "numbers" / "five_best_means.csv"
    means = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    assert {one["rows"] for one in means} == {"500", "5000"}
    lines = [
        [score, *(m["found"].lstrip("0") for m in means if m["score"] == score)]
        for score in {one["score"] for one in means}
    ]
    assert shown(page("explanation/numbers"), lines) == 4


def test_weights_hold_as_well_as_was_measured():
    null = {(scheme, rows): share for scheme, rows, _, share in measured("weights/null")}
    found = {tuple(line[:3]): line[3:5] for line in measured("weights/coverage")}
    lines = []
    for scheme, rows in null:
        size, weighted = found[scheme, rows, "True"]
        cells = [scheme, f"{int(rows):,}", size, weighted, found[scheme, rows, "False"][1]]
        lines.append([*cells, null[scheme, rows]])
    assert shown(page("how_to/weights"), lines) == 3
