from __future__ import annotations

import os
from pathlib import Path

import pytest

from misfeat import MisfeatError, SubgroupSelector
from misfeat.runtime.atomic_files import as_path, check_no_folder, real_path, write_file

TABLE = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
ODD = ("a\0b", "~nobody-of-this-name/run", "q" * 3000, "loop", "loop/run", 3, "", b"run")


@pytest.fixture(scope="module")
def selector():
    return SubgroupSelector(size=1).fit(TABLE, "y")


def test_odd_paths_are_refused_in_one_line(selector, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    report = selector.report()
    for path in ODD:
        for use in (selector.save, SubgroupSelector.load, report.write_html):
            if path == "loop" and use == report.write_html:
                continue  # a file takes the place of a link that leads nowhere
            with pytest.raises(MisfeatError) as refused:
                use(path)
            assert str(refused.value).isprintable()
            assert len(str(refused.value)) < 2000
            assert [entry.name for entry in Path().iterdir()] == ["loop"]


def test_a_home_folder_is_spelled_out():
    assert as_path("~/run", "folder") == Path.home() / "run"


def test_a_link_leads_to_its_place(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there")
    assert real_path(tmp_path / "link" / "new") == (tmp_path / "there" / "new").resolve()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
@pytest.mark.parametrize("below", ["", "run", "table.csv"])
def test_what_may_not_be_read_is_named(below, selector, tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0)
    for ask in (selector.save, SubgroupSelector.load):
        with pytest.raises(MisfeatError, match="Permission denied"):
            ask(folder / below)
    with pytest.raises(MisfeatError, match="Permission denied"):
        SubgroupSelector().fit(str(folder / below), "y")


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
