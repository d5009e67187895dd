"""llms.txt: every page of the site with its first sentence, for programs that read them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.nav import Navigation

NAME = "llms.txt"
CODE = re.compile(r"^(```+).*?^\1$|<!--.*?-->", re.M | re.S)
NOT_TEXT = ("#", "|", "!", "-", ":", "<", "*All", "    ")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
SENTENCE = re.compile(r"(.+?[.?!:])(?:\s|$)")
LONGEST = 160
_pages: dict[str, tuple[str, str]] = {}


def description(markdown: str) -> str:
    """The first sentence of a page, without its formatting; empty where it has no text."""
    for paragraph in CODE.sub("", markdown).split("\n\n"):
        text = " ".join(paragraph.split())
        if text and not paragraph.startswith(NOT_TEXT):
            plain = LINK.sub(r"\1", text).replace("**", "").replace("`", "")
            found = SENTENCE.match(plain)
            sentence = (found[1] if found else plain).rstrip(":")
            cut = f"{sentence[:LONGEST].rsplit(' ', 1)[0]} …"
            return sentence if len(sentence) <= LONGEST else cut
    return ""


def on_nav(nav: Navigation, config: MkDocsConfig, files: object) -> Navigation:  # noqa: ARG001
    """Take the pages in the order of the navigation."""
    _pages.clear()
    for page in nav.pages:
        _pages[page.file.src_uri] = (page.file.url, "")
    return nav


def on_page_content(html: str, page: object, config: MkDocsConfig, files: object) -> str:  # noqa: ARG001
    """Keep the title and the first sentence of a page."""
    file, title = page.file, page.title  # type: ignore[attr-defined]
    heading = re.search(r"^# (.+)$", page.markdown or "", re.M)  # type: ignore[attr-defined]
    told = description(page.markdown or "")  # type: ignore[attr-defined]
    name = heading[1] if heading else title
    _pages[file.src_uri] = (file.url, f"[{name}]({file.url})" + (f": {told}" if told else ""))
    return html


def on_post_build(config: MkDocsConfig) -> None:
    """Write the list beside the pages."""
    folders: dict[str, list[str]] = {}
    for path, (_, line) in _pages.items():
        folders.setdefault(path.rpartition("/")[0] or "start", []).append(f"- {line}")
    parts = [f"# {config.site_name}", f"> {config.site_description}"]
    for folder, lines in folders.items():
        name = folder.replace("_", " ").replace("/", ", ").capitalize()
        parts.append("\n".join([f"## {name}", "", *lines]))
    path = Path(config.site_dir) / NAME
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
