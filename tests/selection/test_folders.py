from __future__ import annotations

import pytest

from misfeat import MisfeatError, SubgroupSelector
from misfeat.selection.folders import ARRAYS, MANIFEST, check_folder, make_folder


def test_a_selection_is_replaced_and_nothing_else_is(selector, tmp_path):
    selector.save(tmp_path / "run")
    selector.save(str(tmp_path / "run"))
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("years of work")
    with pytest.raises(MisfeatError, match=r"holds 'thesis.txt', which is no part of a selection"):
        selector.save(tmp_path / "other")
    with pytest.raises(MisfeatError, match=r"thesis.txt' is a file; give a folder"):
        selector.save(tmp_path / "other" / "thesis.txt")
    with pytest.raises(MisfeatError, match="cannot be written"):
        selector.save(tmp_path / "other" / "thesis.txt" / "run")
    assert (tmp_path / "other" / "thesis.txt").read_text() == "years of work"


def test_files_that_others_put_beside_a_selection_are_not_lost(selector, tmp_path):
    selector.save(tmp_path / "run")
    (tmp_path / "run" / "report.html").write_text("of the old selection")
    selector.save(tmp_path / "run")
    assert not (tmp_path / "run" / "report.html").exists()
    (tmp_path / "run" / "thesis.txt").write_text("years of work")
    with pytest.raises(MisfeatError, match=r"holds 'thesis.txt'"):
        selector.save(tmp_path / "run")
    assert (tmp_path / "run" / "thesis.txt").read_text() == "years of work"


def test_a_report_that_stands_alone_is_somebody_elses(selector, tmp_path):
    (tmp_path / "report.html").write_text("years of work")
    with pytest.raises(MisfeatError, match=r"holds 'report.html'"):
        selector.save(tmp_path)


def test_a_link_is_followed_to_the_folder_it_points_to(selector, tmp_path):
    (tmp_path / "disk").mkdir()
    link = tmp_path / "run"
    link.symlink_to(tmp_path / "disk", target_is_directory=True)
    for _ in range(2):  # into an empty folder, then over what is there
        selector.save(link)
        assert link.is_symlink()
        assert sorted(path.name for path in (tmp_path / "disk").iterdir()) == [ARRAYS, MANIFEST]
    assert SubgroupSelector.load(link).top_k().equals(selector.top_k())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk", "run"]


def test_a_folder_is_checked_before_the_work_and_left_as_it_was(tmp_path):
    new = tmp_path / "new"
    assert check_folder(str(new)) == new.resolve()
    assert not new.exists()
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(MisfeatError, match="is no part of a saved run"):
        check_folder(str(tmp_path))
    with pytest.raises(MisfeatError, match="is a file; give a folder") as refused:
        make_folder(str(tmp_path / "thesis.txt"))
    assert refused.value.parameter == "out"
    with pytest.raises(MisfeatError, match="is empty; give the path of a folder"):
        make_folder("")
