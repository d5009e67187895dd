"""What whoever asked reads first: the answer in sentences, and what may overturn it."""

from misfeat.show.first_screen.first_screen import FirstScreen, first_screen

__all__ = ["FirstScreen", "first_screen"]
