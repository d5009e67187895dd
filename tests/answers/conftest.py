"""A fitted selector for every test, which no other has asked anything."""

from tests.saving.conftest import new_selector as selector  # noqa: F401
