from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from misfeat import DamagedFileError
from misfeat.cohorts import build_cohorts


def table(rows=5000):
    random = np.random.default_rng(1)
    return pa.table(
        {
            "x": random.integers(0, 9, rows),
            "z": random.normal(size=rows),
            "text": random.choice(["a", "b"], rows),
            "list": [[1, 2]] * rows,
            "nothing": pa.nulls(rows),
            "y": random.integers(0, 2, rows),
        }
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"data_page_version": "2.0"},
        {"compression": "zstd", "row_group_size": 700},
        {"use_dictionary": False, "column_encoding": {"z": "BYTE_STREAM_SPLIT"}},
        {"compression": "none", "data_page_size": 500},
    ],
)
@pytest.mark.parametrize("checksums", [True, False])
def test_whole_files_of_any_form_are_read(tmp_path, options, checksums):
    whole = table().drop_columns(["list", "nothing"])
    pq.write_table(whole, tmp_path / "t.parquet", write_page_checksum=checksums, **options)
    assert build_cohorts(tmp_path / "t.parquet", "y").features == ("x", "z", "text")


def test_what_an_engine_says_of_a_page_is_about_the_file(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(table(), path, compression="snappy")
    place = pq.read_metadata(path).row_group(0).column(1).data_page_offset + 200
    content = path.read_bytes()
    path.write_bytes(content[:place] + b"\xff" * 300 + content[place + 300 :])
    with pytest.raises(DamagedFileError, match=r"t\.parquet"):
        build_cohorts(path, "y")


def test_not_a_number_in_a_parquet_file_is_missing_as_a_null_is(tmp_path):
    gap, y = float("nan"), np.array([0, 1] * 10)
    for values in ([1.5, gap, 2.5, 3.5] * 5, [gap if i % 7 == 0 else i * 1.37 for i in range(20)]):
        file = tmp_path / "table.parquet"
        pq.write_table(pa.table({"a": values, "y": y}), file)
        found = build_cohorts(str(file), "y")
        expected = build_cohorts({"a": np.array(values), "y": y}, "y")
        assert found.categories == expected.categories
        assert np.array_equal(found.codes, expected.codes)
