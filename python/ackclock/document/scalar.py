"""Plain scalars by the YAML 1.2 core schema, and nothing else.

YAML 1.1 reads `no` as false, `10:30` as 630 and `1e6` as text. In a document about rates and times
these are traps, so the few rules of version 1.2 are written out here.
"""

from __future__ import annotations

import re
from typing import Any

_NULL = {"", "~", "null", "Null", "NULL"}
_TRUE = {"true", "True", "TRUE"}
_FALSE = {"false", "False", "FALSE"}
_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INF = re.compile(r"[-+]?\.(inf|Inf|INF)")
_NAN = re.compile(r"\.(nan|NaN|NAN)")

# Longer integers are no numbers of this world, and reading them takes quadratic time.
_MAX_DIGITS = 400


def read_scalar(text: str) -> Any:
    """Return the value of an unquoted scalar: None, bool, int, float or str.

    Floats may be infinite or NaN; the caller refuses those.
    """
    if text in _NULL:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if len(text) <= _MAX_DIGITS:
        if _INT.fullmatch(text):
            return int(text)
        if _OCTAL.fullmatch(text) or _HEX.fullmatch(text):
            return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _INF.fullmatch(text):
        return float("-inf" if text.startswith("-") else "inf")
    return float("nan") if _NAN.fullmatch(text) else text
