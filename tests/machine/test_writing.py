from __future__ import annotations

import pytest

from misfeat import MisfeatError
from misfeat.machine.writing import check_no_folder, write_file


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path):
    place = tmp_path / "new" / "a.bin"
    for content in (b"first", b"\x00\r\n\xff"):
        write_file(place, content)
        assert place.read_bytes() == content
    assert list(place.parent.iterdir()) == [place]


def test_a_folder_in_the_place_of_a_file_is_named(tmp_path):
    for refused in (lambda: write_file(tmp_path, b""), lambda: check_no_folder(tmp_path)):
        with pytest.raises(MisfeatError, match="is a folder; give the name of a file in it"):
            refused()
