"""Files outside docs/ that pages link to (scripts, pictures of benchmarks) become part of the site.

A link such as ``../../benchmarks/paper/figure_6.svg`` works in a checkout. In the site the file
lies under ``files/``, and the link leads there. A link to a script of examples/ leads to its page
in the gallery.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"(\]\()((?:\.\./)+[^)#\s]+)")
HELD, EXAMPLES, GALLERY = "files", "examples", "gallery"


def target_outside(page: str, link: str) -> Path | None:
    """The file that a link of a page leads to, relative to the checkout, if it is not in docs/."""
    path = Path(os.path.normpath(DOCS / Path(page).parent / link))
    if path.is_relative_to(DOCS) or not path.is_relative_to(ROOT) or not path.is_file():
        return None
    return path.relative_to(ROOT)


def in_site(target: Path) -> str:
    """Where the site has a file of the checkout."""
    if target.parts[0] == EXAMPLES and target.suffix == ".py":
        return f"{GALLERY}/{target.stem}.md"
    return f"{HELD}/{target.as_posix()}"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add every file outside that a page links to."""
    for page in list(files.documentation_pages()):
        for _, link in LINK.findall(page.content_string):
            target = target_outside(page.src_uri, link)
            if target is None or target.parts[0] == EXAMPLES:
                continue
            held = in_site(target)
            if files.get_file_from_path(held) is None:
                files.append(File.generated(config, held, abs_src_path=str(ROOT / target)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Lead links to where the files lie in the site."""
    here = Path(page.file.src_uri).parent

    def moved(found: re.Match[str]) -> str:
        target = target_outside(page.file.src_uri, found[2])
        if target is None:
            return found[0]
        return found[1] + os.path.relpath(in_site(target), here)

    return LINK.sub(moved, markdown)
