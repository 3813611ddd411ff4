"""Lists within tables: what is known of each flow or link stands in the row of its run."""

from __future__ import annotations

from typing import Any

import pyarrow as pa


def elements(table: pa.Table, column: str) -> pa.Table:
    """Return one row for each element of a list column, beside the plain columns of its run.

    The name of an element, `id`, is called as the column: `flow` or `link`.
    """
    kind = table.schema.field(column).type
    chunks = table[column].chunks
    lists: Any = pa.concat_arrays(chunks) if chunks else pa.array([], kind)
    inner = lists.flatten()
    plain = [f.name for f in table.schema if not pa.types.is_list(f.type)]
    own = [inner.type.field(index) for index in range(inner.type.num_fields)]
    taken = {field.name for field in own}
    # What a flow has, too, must not be mistaken for the figure of the run.
    kept = table.select([name for name in plain if name not in taken]).take(
        lists.value_parent_indices()
    )
    for field, values in zip(own, inner.flatten(), strict=True):
        name = column.removesuffix("s") if field.name == "id" else field.name
        kept = kept.append_column(field.with_name(name), values)
    return kept
