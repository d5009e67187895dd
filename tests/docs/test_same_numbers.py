"""README, tutorial, other pages, demonstration and report say the same about four hospitals."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from misfeat import SubgroupSelector
from tests.cli.commands import run

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SENTENCE = r"^hospital=.*(?:explains? |reaches |worth recording).*"
TABLE = re.compile(r"^```\n( *(?:step +)?subgroup .*\n)((?:.*hospital=.*\n)+)```", re.M)


def plain(text):
    return " ".join(html.unescape(re.sub(r"<style.*?</style>|<[^>]+>", " ", text)).split())


@pytest.mark.slow
def test_pages_pictures_and_reports_say_what_the_demonstration_says(tmp_path):
    printed = plain(run("demo", "--out", str(tmp_path / "run")).stdout)
    selector = SubgroupSelector.load(tmp_path / "run")
    answer, report = selector.answer(), json.loads(selector.report(validate=False).json())
    sentences = [str(one) for one in answer.sentences]
    picture = plain((ROOT / "docs" / "images" / "demo.svg").read_text(encoding="utf-8"))
    assert all(one in printed and one in picture for one in sentences)
    shown = [one[kind] for one in report["subgroups"] for kind in ("sentence", "model_sentence")]
    assert [report["answer"], *shown, *report["collecting"]] == sentences
    assert [one["probability"] for one in report["plan"]] == [one.probability for one in answer.plan]
    texts = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert set(re.findall(SENTENCE, texts, re.M)) == set(sentences[1:])
    known = {("adjusted", one.subgroup): one.p_value for one in answer}
    known |= {("probability", one.subgroup): one.probability for one in reversed(answer.plan)}
    compared = set()
    for heads, lines in TABLE.findall(texts):
        for line in reversed(lines.splitlines()):  # of a plan, the first step of a subgroup
            subgroup = re.search(r"hospital=\w+(?: Beach)?", line)[0]
            values = dict(zip(heads.split()[::-1], line.split()[::-1], strict=False))
            for head in {"adjusted", "probability"} & set(values):
                ...
