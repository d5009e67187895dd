"""The site that ``make docs`` has built: whole, without anything from outside, with its gallery."""

import html
import os
import re
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from threading import Thread
from urllib.parse import unquote

import pytest

from tests.browsers.launching import EXECUTABLES, MissingBrowserError, launched

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
LOADED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"([^\"]+)\"|<link\b[^>]*\bhref=\"([^\"]+)\""
)
LINKED = re.compile(r"<a\b[^>]*\bhref=\"([^\"]+)\"")
IN_CSS = re.compile(r"url\(([^)]+)\)|@import\s+([^;]+)")
PUBLIC = (
    "misfeat",
    "misfeat.cohorts",
    "misfeat.completion",
    "misfeat.datasets",
    "misfeat.show.plots",
    "misfeat.sites",
    "misfeat.testing",
)
NOT_DESCRIBED = {"misfeat.__version__", "misfeat.plot"}
"""A text, and a module that has a page of its own."""
FAR = ("http:", "https:", "//")

pytestmark = pytest.mark.docs


@pytest.fixture(scope="module", autouse=True)
def site():
    if not (SITE / "index.html").is_file():
        explain = pytest.fail if os.environ.get("CI") else pytest.skip
        explain("make docs builds the site")
    return SITE


def pages():
    return sorted(SITE.rglob("*.html"))


def printed(name):
    """What a script of the gallery printed, as its page shows it."""
    page = (SITE / "gallery" / f"{name}.html").read_text(encoding="utf-8")
    blocks = re.findall(r'<div class="[^"]*printed[^"]*">(.*?)</div>', page, re.S)
    return html.unescape(re.sub(r"<[^>]+>", "", "\n".join(blocks)))


def test_nothing_is_loaded_from_outside():
    for page in pages():
        for found in LOADED.findall(page.read_text(encoding="utf-8")):
            assert not "".join(found).startswith(FAR), (page.name, found)
    for sheet in SITE.rglob("*.css"):
        for found in IN_CSS.findall(sheet.read_text(encoding="utf-8")):
            assert not "".join(found).strip("'\"").startswith(FAR), (sheet.name, found)


def test_every_link_within_the_site_leads_to_a_page_and_a_place_on_it():
    texts = {page: page.read_text(encoding="utf-8") for page in pages()}
    places = {page: set(re.findall(r'\bid="([^"]+)"', text)) for page, text in texts.items()}
    for page, text in texts.items():
        for link in LINKED.findall(text):
            link = unquote(html.unescape(link))
            if link.startswith((*FAR, "mailto:", "javascript:")) or page.name == "404.html":
                continue
            path, _, place = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            target = target / "index.html" if target.is_dir() else target
            assert target.is_file(), (page.name, link)
            if place and target in places and place != "__skip":
                assert place in places[target], (page.name, link)


@pytest.fixture(scope="module")
def addresses():
    """The site in its folder, and on a server."""
    silent = type("Silent", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(silent, directory=SITE)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield SITE.as_uri(), f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("name", EXECUTABLES)
def test_words_are_found_from_the_folder_and_on_a_server(name, addresses):
    pytest.importorskip("playwright")
    try:
        with launched(name) as browser:
            for address in addresses:
                tab = browser.new_context("light", 1300, 900).new_page()
                tab.goto(f"{address}/answers/why.html")
                tab.locator("input[name=query]").fill("codebook")
                tab.locator("a[href*='how_to/sites.html']:has(article)").first.wait_for(
                    state="attached"
                )
    except MissingBrowserError as missing:
        pytest.skip(str(missing))


def test_the_list_for_programs_names_every_page():
    listed = re.findall(r"^- \[.+?\]\(([^)]+)\)", (SITE / "llms.txt").read_text("utf-8"), re.M)
    built = {str(page.relative_to(SITE)) for page in pages()} - {"404.html"}
    assert set(listed) == built


@pytest.mark.parametrize("module", PUBLIC)
def test_the_reference_has_every_public_name(module):
    texts = [page.read_text(encoding="utf-8") for page in (SITE / "reference").rglob("*.html")]
    places = set(re.findall(r'\bid="([^"]+)"', "".join(texts)))
    names = {f"{module}.{name}" for name in import_module(module).__all__}
    assert names - places <= NOT_DESCRIBED


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_a_script_of_the_gallery_was_run(script):
    assert printed(script.stem) or (SITE / "gallery" / f"{script.stem}_1.png").is_file()


def test_there_is_a_gallery_of_eight_to_twelve():
    assert 8 <= len(EXAMPLES) <= 12


def test_scripts_of_the_gallery_print_what_they_are_there_to_show():
    out = printed("02_planted_truth")
    found = re.findall(r"\(([\d.]+) to ([\d.]+)\), truth ([\d.]+)", out)
    held = [float(low) <= float(truth) <= float(high) for low, high, truth in found]
    assert "predicted" in out
    assert sum(held) >= 0.75 * len(held) > 0
    drivers = {"annual_income", "interest_rate", "opened", "city"}
    lines = re.findall(r"^channel=\w+: (.*)$", printed("05_messy_credit"), re.M)
    assert len(lines) >= 2
    assert all(set(line.split(", ")) == drivers for line in lines)
    errors = dict(
        re.findall(r"(\w+): root mean square error ([\d.]+)", printed("09_own_completer"))
    )
    assert set(errors) == {"median", "transfer", "knn"}
    assert float(errors["transfer"]) < float(errors["knn"])
