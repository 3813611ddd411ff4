"""Segment scripts: one end of a connection against a script that plays the other one.

The language is the useful part of packetdrill's. `grammar` reads a file, `commands` knows what its
shell lines set, `connection` drives one end of the engine, `matching` compares segments, `snippets`
runs assertions, and `runner` puts them together.
"""

from ackclock.script.model import SettingError
from ackclock.script.runner import Result, run_script

__all__ = ["Result", "SettingError", "run_script"]
