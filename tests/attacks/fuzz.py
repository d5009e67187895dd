"""Drawn tables, questions and files of every kind, by the ten thousand: `make fuzz`.

A case is one fit, one question or one loading on drawn input, with the promises of
tests/fuzz/promises.py checked. Each round of the machine has a seed. A wrong case is told with the
seed of its round; `pytest tests/fuzz --fuzz-seed SEED` draws that round again and reduces what
fails to the smallest example.
"""

from __future__ import annotations
