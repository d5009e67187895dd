import hashlib
import json
import zlib

import numpy as np
import pytest

from misfeat import MisfeatError
from misfeat.sites import read_summary, write_summary
from misfeat.sites.signed_documents import sealed


@pytest.fixture(scope="module")
def written(summaries, tmp_path_factory):
    file = tmp_path_factory.mktemp("shared") / "va.misfeat"
    write_summary(summaries[3], file)
    return file.read_bytes()


def forged(whole, change, counts=None):
    """A file whose head and counts were changed, with checksums that fit."""
    head, _, body = whole.partition(b"\n")
    held = {k: v for k, v in json.loads(head).items() if k not in ("checksum", "signature")}
    kind = held.pop("format")
    held.pop("version")
    held.pop("signed_by")
    if counts is not None:
        body = counts
    held["body"] = hashlib.sha256(body).hexdigest()
    change(held)
    return sealed(kind, held) + b"\n" + body


def as_it_is(held):
    """Change nothing."""


def refused(content, tmp_path, match):
    file = tmp_path / "strange.misfeat"
    file.write_bytes(content)
    with pytest.raises(MisfeatError, match=match) as caught:
        read_summary(file)
    assert "strange.misfeat" in str(caught.value)


def test_a_summary_comes_back_as_it_was(summaries, written, tmp_path):
    file = tmp_path / "va.misfeat"
    file.write_bytes(written)
    again, before = read_summary(file), summaries[3]
    assert again.site == before.site
    assert again.codebook == before.codebook
    assert np.array_equal(again.tables, before.tables)
    assert np.array_equal(again.by_class, before.by_class)


def test_the_same_table_gives_the_same_bytes(summaries, written, tmp_path):
    write_summary(summaries[3], tmp_path / "again.misfeat")
    assert (tmp_path / "again.misfeat").read_bytes() == written


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_file_that_is_cut_off_is_refused(written, tmp_path, share):
    refused(written[: int(len(written) * share)], tmp_path, "damaged|no summary")


def test_any_changed_byte_is_noticed(written, tmp_path):
    rng = np.random.default_rng(0)
    for place in rng.choice(len(written), 60, replace=False):
        changed = bytearray(written)
        changed[place] ^= 1 << int(rng.integers(8))
        refused(bytes(changed), tmp_path, "damaged|no summary|format")


def test_counts_that_unpack_to_more_than_they_should_are_refused(written, tmp_path):
    bomb = zlib.compress(b"\0" * 50_000_000, 9)
    refused(forged(written, as_it_is, bomb), tmp_path, "more or fewer counts")


def test_tables_that_contradict_each_other_are_refused(written, summaries, tmp_path):
    tables = summaries[3].tables.copy()
    place = int(np.flatnonzero(tables[:, 0])[0])
    tables[place, 0] -= 1
    tables[place + 1, 0] += 1
    body = zlib.compress(tables.astype("<u4").tobytes())
    refused(forged(written, as_it_is, body), tmp_path, "do not agree with each other")
    tables[place, 0] += 5
    body = zlib.compress(tables.astype("<u4").tobytes())
    refused(forged(written, as_it_is, body), tmp_path, "do not add up")


@pytest.mark.parametrize(
    "change",
    [
        lambda held: held.update(by_class=[1, 2]),
        lambda held: held.update(by_class=[-1, 1, 1, 1, 1]),
        lambda held: held.update(by_class=[True, 1, 1, 1, 1]),
        lambda held: held.update(by_class=[2**60, 1, 1, 1, 1]),
        lambda held: held.update(recorded=[1] * 13),
        lambda held: held.update(recorded=[True] * 13),
        lambda held: held.update(recorded=[False] * 13),
        lambda held: held.update(share="rows"),
        lambda held: held.update(counts="O"),
        lambda held: held.update(misfeat=3),
        lambda held: held.update(codebook=None),
        lambda held: held["codebook"].update(features=[]),
        lambda held: held["codebook"]["features"].append(held["codebook"]["features"][0]),
        lambda held: held["codebook"]["features"][0].update(edges=[2, 1]),
        lambda held: held["codebook"]["features"][0].update(kind="pickle"),
        lambda held: held["codebook"].update(edition="x"),
        lambda held: held.pop("by_class"),
    ],
)
def test_a_strangers_head_is_checked(written, tmp_path, change):
    refused(forged(written, change), tmp_path, "damaged or was altered")


@pytest.mark.parametrize("word", [b"NaN", b"Infinity", b"-Infinity"])
def test_what_is_no_number_in_json_is_refused(written, tmp_path, word):
    refused(written.replace(b'"min_cell":1', b'"min_cell":' + word), tmp_path, "cut off, or no")


def test_a_summary_of_a_site_without_a_name_is_refused(written, tmp_path):
    file = tmp_path / "strange.misfeat"
    file.write_bytes(forged(written, lambda held: held.update(site=5)))
    with pytest.raises(MisfeatError, match="name"):
        read_summary(file)


def test_a_codebook_of_more_cells_than_fit_is_refused_before_memory_is_taken(written, tmp_path):
    def grow(held):
        features = [
            {**held["codebook"]["features"][0], "column": str(n), "edges": list(range(29))}
            for n in range(200)
        ]
        held["codebook"]["features"] = features
        held["recorded"] = [True] * 200

    refused(forged(written, grow), tmp_path, "would take")
