"""A few drawn files in every run; `make fuzz` draws many thousands."""

from hypothesis import settings

from tests.fuzz.cases import a_case
from tests.fuzz.files import drawn_loading, loaders

FEW = settings(max_examples=15, derandomize=True, deadline=None, database=None)


def test_drawn_files_are_read_or_refused(tmp_path):
    for name, (whole, load) in loaders(tmp_path).items():
        with a_case("a whole file", None) as case:
            load(whole)
        assert case.refused is None, name
        FEW(drawn_loading(name, whole, load))()
