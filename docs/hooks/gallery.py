"""The gallery: every script of examples/ is run while the site is built, and shown with its output.

``GALLERY=off mkdocs serve`` shows the scripts without running them.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

from cells import Script, Shown, read_script, run_script
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDER = "gallery"
INDEX = f"{FOLDER}/index.md"
log = logging.getLogger("mkdocs.hooks.gallery")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for every script, its pictures, and what they have in common to the index."""
    tiles = []
    for path in sorted(EXAMPLES.glob("*.py")):
        script = read_script(path)
        shown, seconds = _run(script, path)
        pictures = _named_pictures(path.stem, shown)
        for name, picture in pictures.items():
            files.append(File.generated(config, f"{FOLDER}/{name}", content=picture))
        page = page_of(path.name, script, shown)
        files.append(File.generated(config, f"{FOLDER}/{path.stem}.md", content=page))
        files.append(File.generated(config, f"{FOLDER}/{path.name}", abs_src_path=str(path)))
        tiles.append(tile_of(path.stem, script, next(iter(pictures), None)))
        log.info("%s: %.1f s of CPU", path.name, seconds)
    index = files.get_file_from_path(INDEX)
    if index is None:
        raise PluginError(f"There is no page {INDEX}")
    words = index.content_string
    files.remove(index)
    listed = [INDEX, *(f"{FOLDER}/{path.stem}.md" for path in sorted(EXAMPLES.glob("*.py")))]
    config.nav = [{"Gallery": listed} if "Gallery" in entry else entry for entry in config.nav]
    tiled = f'{words}\n<div class="tiles" markdown>\n\n' + "\n".join(tiles) + "\n</div>\n"
    files.append(File.generated(config, INDEX, content=tiled))
    return files


def _run(script: Script, path: Path) -> tuple[list[Shown], float]:
    if os.environ.get("GALLERY") == "off":
        return [Shown("", ()) for _ in script.cells], 0.0
    try:
        return run_script(script, path)
    except Exception as error:
        raise PluginError(f"{path.name} failed: {type(error).__name__}: {error}") from error


def _named_pictures(stem: str, shown: list[Shown]) -> dict[str, bytes]:
    pictures = [picture for one in shown for picture in one.pictures]
    return {f"{stem}_{number}.png": picture for number, picture in enumerate(pictures, 1)}


def page_of(name: str, script: Script, shown: list[Shown]) -> str:
    """The page of a script: text, code, what was printed, and pictures, cell by cell."""
    parts, number = [f"# {script.title}", script.words], 0
    for cell, one in zip(script.cells, shown, strict=True):
        parts.append(cell.text)
        if cell.code:
            parts.append(f"```python\n{cell.code}\n```")
        if one.printed:
            parts.append(f"```{{ .text .printed }}\n{one.printed.rstrip()}\n```")
        for _ in one.pictures:
            number += 1
            parts.append(f"![Picture {number} of {name}]({Path(name).stem}_{number}.png)")
    parts.append(f"[The script]({name}), run when this site was built.")
    return "\n\n".join(part for part in parts if part) + "\n"


def tile_of(stem: str, script: Script, picture: str | None) -> str:
    """A tile of the index: the first picture of a script, or its first words, and its title."""
    face = f"![{script.title}]({picture})" if picture else ""
    words = script.words.partition("\n\n")[0].replace("\n", " ")
    linked = f"[{face}**{script.title}**]({stem}.md)"
    return f'<div class="tile" markdown>\n\n{linked}\n\n{words}\n\n</div>\n'
