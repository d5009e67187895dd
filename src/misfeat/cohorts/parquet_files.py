"""Parquet files: what their footers and pages say of themselves is checked before they are read.

DuckDB does not look at the checksums of pages, and believes footers. Pages may carry a checksum
each (Spark writes them, PyArrow where asked to); footers have none, but say some things twice.
"""

from __future__ import annotations

import mmap
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from misfeat.exceptions import DamagedFileError

if TYPE_CHECKING:
    Fields = dict[int, Any]

_COMPRESSED_SIZE, _CRC = 3, 4
"""Fields of a page's header, in the format's numbers."""
_DATA_PAGES = {5: 2, 8: 4}
"""Where the headers of data pages of both versions are, and within them the encoding."""
_ENCODINGS = {
    0: "PLAIN",
    2: "PLAIN_DICTIONARY",
    3: "RLE",
    4: "BIT_PACKED",
    5: "DELTA_BINARY_PACKED",
    6: "DELTA_LENGTH_BYTE_ARRAY",
    7: "DELTA_BYTE_ARRAY",
    8: "RLE_DICTIONARY",
    9: "BYTE_STREAM_SPLIT",
}
_LONGEST_NUMBER = 10
"""Bytes of a 64-bit number, seven bits a byte."""
_DEEPEST = 8
"""Structures within structures; a page's header has three."""


class _Unreadable(Exception):  # noqa: N818
    """Bytes that are no header of a page."""


def read_schema_names(file: str) -> list[str]:
    """The columns of a Parquet file; raises where its footer or a page is damaged."""
    import pyarrow.parquet as pq

    # A file of its own: PyArrow would take a path with "://" in it for an address.
    with Path(file).open("rb") as source:
        footer = pq.read_metadata(source)
        names: list[str] = footer.schema.to_arrow_schema().names
        _check_footer(footer, file)
        if footer.num_row_groups:
            with mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ) as held:
                _check_pages(held, footer, file)
    return names


def _check_footer(footer: Any, file: str) -> None:
    """Refuse a footer that says of a column's name, type or length two different things."""
    n_rows = 0
    for group in map(footer.row_group, range(footer.num_row_groups)):
        n_rows += group.num_rows
        if group.num_columns != len(footer.schema):
            raise _damaged(file, "its footer has columns that its schema lacks")
        for position in range(group.num_columns):
            chunk, column = group.column(position), footer.schema.column(position)
            flat = column.max_repetition_level == 0
            if (
                chunk.path_in_schema != column.path
                or chunk.physical_type != column.physical_type
                or (flat and chunk.num_values != group.num_rows)
            ):
                raise _damaged(file, f"its footer contradicts itself about {column.path!r}")
    if n_rows != footer.num_rows:
        raise _damaged(file, "its footer contradicts itself about the number of rows")


def _check_pages(held: mmap.mmap, footer: Any, file: str) -> None:
    """Compare every page that has a checksum with it."""
    with memoryview(held) as content:
        for group in map(footer.row_group, range(footer.num_row_groups)):
            for chunk in map(group.column, range(group.num_columns)):
                try:
                    _check_chunk(content, chunk)
                except (_Unreadable, IndexError) as error:
                    why = f"a page of {chunk.path_in_schema!r} is not as it was written"
                    raise _damaged(file, why) from error


def _check_chunk(content: memoryview, chunk: Any) -> None:
    if chunk.physical_type is None or chunk.total_compressed_size <= 0:
        return
    dictionary = chunk.dictionary_page_offset
    first = (
        chunk.data_page_offset if dictionary is None else min(dictionary, chunk.data_page_offset)
    )
    place, end, n_values = first, first + chunk.total_compressed_size, 0
    while place < end and n_values < chunk.num_values:
        place, header = _structure(content, place)
        size = header.get(_COMPRESSED_SIZE, -1)
        if size < 0 or place + size > len(content):
            raise _Unreadable
        crc = header.get(_CRC)
        if crc is not None and zlib.crc32(content[place : place + size]) != crc & 0xFFFFFFFF:
            raise _Unreadable
        n_values += _values_in(header, None if crc is None else chunk.encodings)
        place += size
    if n_values != chunk.num_values:
        raise _Unreadable


def _values_in(header: Fields, encodings: tuple[str, ...] | None) -> int:
    """How many values a data page holds, none in a dictionary.

    A checksum is of what comes after the header, so the encoding is compared with the footer's;
    those who write no checksums may not be as careful there.
    """
    for field, encoding in _DATA_PAGES.items():
        page = header.get(field)
        if isinstance(page, dict):
            if encodings and _ENCODINGS.get(page.get(encoding, -1)) not in encodings:
                raise _Unreadable
            return int(page.get(1, 0))
    return 0


def _structure(content: memoryview, place: int, depth: int = 0) -> tuple[int, Fields]:
    """The numbers in a structure of Thrift's compact protocol, and where it ends."""
    fields: Fields = {}
    number = 0
    if depth > _DEEPEST:
        raise _Unreadable
    while kind := content[place]:
        place += 1
        if kind >> 4:
            number += kind >> 4
        else:
            place, number = _number(content, place)
        place, fields[number] = _value(content, place, kind & 15, depth)
    return place + 1, fields


def _value(content: memoryview, place: int, kind: int, depth: int) -> tuple[int, Any]:
    match kind:
        case 1 | 2:  # a flag, which is its type
            return place, kind == 1
        case 3:
            return place + 1, content[place]
        case 4 | 5 | 6:
            return _number(content, place)
        case 7:
            return place + 8, None
        case 8:
            place, length = _unsigned(content, place)
            return place + length, None
        case 9 | 10:
            return _skipped_list(content, place, depth), None
        case 12:
            return _structure(content, place, depth + 1)
    raise _Unreadable


def _skipped_list(content: memoryview, place: int, depth: int) -> int:
    length, kind = content[place] >> 4, content[place] & 15
    place += 1
    if length == 15:
        place, length = _unsigned(content, place)
    for _ in range(length):
        place = place + 1 if kind in (1, 2) else _value(content, place, kind, depth + 1)[0]
    return place


def _unsigned(content: memoryview, place: int) -> tuple[int, int]:
    number = 0
    for shift in range(_LONGEST_NUMBER):
        byte = content[place + shift]
        number |= (byte & 127) << (7 * shift)
        if byte < 128:
            return place + shift + 1, number
    raise _Unreadable


def _number(content: memoryview, place: int) -> tuple[int, int]:
    place, number = _unsigned(content, place)
    return place, (number >> 1) ^ -(number & 1)


def _damaged(file: str, why: str) -> DamagedFileError:
    return DamagedFileError(
        "{path!r} is damaged: {why}; get the file again from where it came.", path=file, why=why
    )
