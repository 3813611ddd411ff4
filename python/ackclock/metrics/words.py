"""Columns of words (flows, links, states): as codes, and the words that they stand for."""

from typing import Any

import numpy as np
import pyarrow as pa

from ackclock.arrays import Flags, Integers


def coded(column: pa.ChunkedArray) -> tuple[Integers, list[str]]:
    """Return the code of each row, -1 for none, and the words in the order of the codes."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    whole: Any = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # no rows at all
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], column.type)
    # By NumPy, where a null is NaN: pyarrow's own functions take long to load.
    codes = np.nan_to_num(whole.indices.to_numpy(zero_copy_only=False), nan=-1)
    return codes.astype(np.int64), [str(word) for word in whole.dictionary.to_pylist()]


def are(column: pa.ChunkedArray, word: str) -> Flags:
    """Return which rows have this word."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    found = [np.empty(0, np.bool_)]
    for chunk in column.chunks:
        words = chunk.dictionary.to_pylist()
        codes = chunk.indices.to_numpy(zero_copy_only=False)  # a null is NaN, which no code is
        found.append(codes == (words.index(word) if word in words else -1))
    return np.concatenate(found)
