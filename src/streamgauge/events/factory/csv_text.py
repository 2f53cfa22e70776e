"""Rows as CSV, for files and for the bulk load of a database."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.csv


def csv_of(batch: pa.RecordBatch) -> pa.Buffer:
    """The rows without a heading; a null is an empty field, a text is in quotes."""
    columns = [_quickly_written(column) for column in batch.columns]
    sink = pa.BufferOutputStream()
    options = pyarrow.csv.WriteOptions(include_header=False)
    pyarrow.csv.write_csv(pa.record_batch(columns, names=batch.schema.names), sink, options)
    return sink.getvalue()


def heading_of(schema: pa.Schema) -> bytes:
    return (",".join(schema.names) + "\n").encode("ascii")


def _quickly_written(column: pa.Array) -> pa.Array:
    """Times become texts, each of them once: to write one takes as long as a row of numbers."""
    if not pa.types.is_timestamp(column.type) or column.null_count == len(column):
        return column
    encoded = column.dictionary_encode()
    return encoded.dictionary.cast(pa.string()).take(encoded.indices)
