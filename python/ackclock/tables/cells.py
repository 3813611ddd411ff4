"""Cells of CSV files."""

from __future__ import annotations

_BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def cell(text: str) -> str:
    """Return a text so that no spreadsheet takes it for a formula, which could do anything.

    One that begins like a formula gets an apostrophe in front, as OWASP recommends ("CSV
    Injection"); numbers stay as they are.
    """
    if not text.startswith(_BEGINS_FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text
