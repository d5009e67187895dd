"""Pages: links lead somewhere, texts are short, titles are questions, and promises name a test."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
LINK = re.compile(r"\]\((?!https?://|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.M | re.S)


def headings(page):
    """The anchors of a page, as MkDocs and GitHub both make them of plain headings."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    lines = re.findall(r"^#+ (.*)$", text, re.M)
    plain = [re.sub(r"[^\w\s-]", "", line.replace("`", "")).strip().lower() for line in lines]
    return {re.sub(r"\s+", "-", line) for line in plain}


def test_links_lead_somewhere():
    for page in (*ROOT.glob("*.md"), *PAGES):
        for link, anchor in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
            target = (page.parent / link).resolve() if link else page
            assert target.exists(), f"{page}: {link}"
            if anchor and target.suffix == ".md":
                assert anchor in headings(target), f"{page}: {link}#{anchor}"


MOST_WORDS = 30_000
MOST_IN_README = 900
WIDEST_IN_README = 4


def words_of(page):
    """As ``wc -w`` counts, tables and code included."""
    return len(page.read_text(encoding="utf-8").split())


def test_all_pages_together_have_few_words():
    assert sum(map(words_of, PAGES)) <= MOST_WORDS


def test_the_readme_is_a_screen_and_a_half():
    assert words_of(ROOT / "README.md") < MOST_IN_README
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert all(line.count("|") <= WIDEST_IN_README + 1 for line in lines if line.startswith("|"))


def test_the_title_of_a_page_is_a_question():
    for page in PAGES:
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        (title,) = re.findall(r"^# (.+)$", text, re.M)
        # Those in python/ are named after the objects that they describe.
        assert title.endswith("?") or page.parent.name == "python", page


GUARANTEES = (DOCS / "reference" / "guarantees.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
PROMISES = re.findall(r"^\| \d+ \|.*\|$", GUARANTEES, re.MULTILINE)


def test_the_tests_that_promises_name_are_there():
    for file, name in NAMED.findall(GUARANTEES):
        text = (ROOT / file).read_text(encoding="utf-8")
        assert not name or re.search(rf"^def {name}\(", text, re.MULTILINE), (file, name)


def test_promises_are_numbered_in_order_and_each_names_a_test():
    assert 20 < len(PROMISES) <= 25
    assert [promise for promise in PROMISES if not NAMED.search(promise)] == []
    numbers = [int(promise.split("|")[1]) for promise in PROMISES]
    assert numbers == list(range(1, len(numbers) + 1))
