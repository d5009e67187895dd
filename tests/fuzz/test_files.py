"""A few drawn files in every run; `make fuzz` draws many thousands."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.cases import a_case
from tests.fuzz.files import Run, contents, loaders

FEW = settings(max_examples=25, derandomize=True, deadline=None, database=None)


@pytest.mark.parametrize("name", loaders())
def test_a_drawn_file_is_read_or_refused(name, tmp_path_factory):
    whole, load = loaders()[name]
    folder = tmp_path_factory.mktemp("files")

    @FEW
    @given(content=contents(whole))
    def tried(content):
        with a_case(f"load {name}", None):
            load(content, folder)

    with a_case("a whole file", None) as case:
        load(whole, folder)
    assert case.refused is None
    tried()


def test_a_run_with_a_drawn_file_is_refused_or_the_same(tmp_path):
    saved = Run(tmp_path / "run")

    @FEW
    @given(data=st.data())
    def tried(data):
        file = data.draw(st.sampled_from(sorted(saved.held)))
        with a_case("load a run", None):
            saved.load(file, data.draw(contents(saved.held[file])))

    tried()
