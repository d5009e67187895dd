"""llms.txt: every page of the site with a line that says what is on it, for programs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page

NAME = "llms.txt"
NOT_TEXT = re.compile(r"^---\n.*?^---$|^(```+).*?^\1$|<!--.*?-->", re.M | re.S)
TEXT = re.compile(r"[\w*`\[(]")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
LONGEST = 200
_lines: dict[str, str] = {}
"""The line of every page, in the order of the navigation."""


def description(markdown: str) -> str:
    """The first sentences of a page's text, as many as make a line."""
    paragraphs = NOT_TEXT.sub("", markdown).split("\n\n")
    text = next((p.strip() for p in paragraphs if TEXT.match(p.strip()) and ":::" not in p), "")
    plain = re.sub(r"\*\*|`|(?<!\w)\*|\*(?!\w)", "", LINK.sub(r"\1", " ".join(text.split())))
    kept = ""
    for sentence in re.split(r"(?<=[.?!])\s", plain):
        if kept and len(kept) + len(sentence) > LONGEST:
            break
        kept = f"{kept} {sentence}".strip()
    return kept.rstrip(":")


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:  # noqa: ARG001
    """Take the pages in the order of the navigation."""
    _lines.clear()
    _lines.update((page.file.src_uri, "") for page in nav.pages)
    return nav


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> None:  # noqa: ARG001
    """Keep the title of a page and what it begins with."""
    title = re.search(r"^# (.+)$", markdown, re.M)
    line = f"- [{title[1] if title else page.title}]({page.file.url})"
    told = description(markdown)
    _lines[page.file.src_uri] = f"{line}: {told}" if told else line


def on_post_build(config: MkDocsConfig) -> None:
    """Write the list beside the pages."""
    folders: dict[str, list[str]] = {}
    for path, line in _lines.items():
        folders.setdefault(path.rpartition("/")[0] or "about", []).append(line)
    parts = [f"# {config.site_name}", f"> {config.site_description}"]
    for folder, lines in folders.items():
        name = folder.replace("_", " ").replace("/", ", ").capitalize()
        parts.append("\n".join([f"## {name}", "", *lines]))
    Path(config.site_dir, NAME).write_text("\n\n".join(parts) + "\n", encoding="utf-8")
