"""A page as it is printed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

POINTS, MILLIMETRES = 72, 25.4
"""In an inch."""


class Paper:
    """The sheets of a PDF.

    Parameters
    ----------
    pdf
        The file's bytes.
    """

    def __init__(self, pdf: bytes):
        import pypdfium2

        self.pdf = pdf
        self._sheets = pypdfium2.PdfDocument(pdf)

    def __len__(self) -> int:
        return len(self._sheets)

    def size(self) -> tuple[float, float]:
        """Width and height of the first sheet in millimetres."""
        width, height = self._sheets[0].get_size()
        return width / POINTS * MILLIMETRES, height / POINTS * MILLIMETRES

    def texts(self) -> list[str]:
        """The text of each sheet."""
        return [sheet.get_textpage().get_text_range() for sheet in self._sheets]

    def pictures(self, dots: int = 96) -> list[Image]:
        """Each sheet as a picture of so many dots an inch."""
        return [sheet.render(scale=dots / POINTS).to_pil() for sheet in self._sheets]

    def ground(self) -> tuple[int, ...]:
        """The colour that most of the first sheet has."""
        pixels = self._sheets[0].render().to_pil().convert("RGB").tobytes()
        colours = Counter(zip(pixels[::3], pixels[1::3], pixels[2::3], strict=True))
        return colours.most_common(1)[0][0]
