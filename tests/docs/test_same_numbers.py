"""README, tutorial, other pages, demonstration and report say the same about four hospitals."""

import html
import json
import re

import pytest

from misfeat import SubgroupSelector
from tests.cli.commands import run
from tests.docs.test_blocks import PAGES, ROOT

NUMBER = r"p [=≤] 0\.\d+|probability of \d+ %"
SENTENCE = r"^hospital=.*(?:explains? |reaches |worth recording).*"
TABLE = re.compile(r"^```\n( *(?:step +)?subgroup .*\n)((?:.*hospital=[^:\n]*\n)+)", re.M)


@pytest.mark.slow
def test_pages_pictures_and_reports_say_what_the_demonstration_says(tmp_path):
    printed = " ".join(run("demo", "--out", str(tmp_path / "run")).stdout.split())
    selector = SubgroupSelector.load(tmp_path / "run")
    answer, report = selector.answer(), json.loads(selector.report(validate=False).json())
    sentences = [str(one) for one in answer.sentences]
    drawn = (ROOT / "docs" / "images" / "demo.svg").read_text(encoding="utf-8")
    picture = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", drawn)).split()).replace(" :", ":")
    assert all(one in printed and one in picture for one in sentences)
    shown = [one[kind] for one in report["subgroups"] for kind in ("sentence", "model_sentence")]
    assert [report["answer"], *filter(None, shown), *report["collecting"]] == sentences
    (tutorial,) = [page.read_text("utf-8") for page in PAGES if page.parent.name == "tutorial"]
    assert set(re.findall(NUMBER, tutorial)) == set(re.findall(NUMBER, " ".join(sentences)))
    texts = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert set(re.findall(SENTENCE, texts, re.M)) == set(sentences[1:])
    compared = 0
    for heads, lines in TABLE.findall(texts):
        for line in lines.splitlines():
            (own,) = [one for one in answer if f"{one.subgroup} " in line]
            steps = [step.probability for step in answer.plan if step.subgroup == own.subgroup]
            values = dict(zip(heads.split()[::-1], line.split()[::-1], strict=False))
            for head, same in (("adjusted", [own.p_value]), ("probability", steps)):
                if head in values:
                    assert float(values[head]) in [round(one, 3) for one in same], line
                    compared += 1
    assert compared >= 12
