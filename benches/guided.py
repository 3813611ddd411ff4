"""Builds ``ackclock-bench`` as wheels for Linux are built: guided by a profile of runs.

Prints the program. A first engine counts the workloads of :mod:`train`, and the second one is
compiled by these counts. That needs ``llvm-profdata`` of the Rust compiler (``rustup component add
llvm-tools``); without it the program is built as ``make setup`` builds the extension.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from train import documents

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "target"


def build(folder: Path, flag: str = "") -> Path:
    """Build the program into a folder, with one more flag of the compiler, and return it."""
    command = ["cargo", "build", "--release", "--locked", "--quiet", "-p", "ackclock-bench"]
    own = {"CARGO_TARGET_DIR": str(folder)} | ({"CARGO_ENCODED_RUSTFLAGS": flag} if flag else {})
    subprocess.run(command, cwd=ROOT, env=os.environ | own, check=True)
    return folder / "release" / "ackclock-bench"


def profdata() -> Path | None:
    """Return the program that puts counts together, where it is installed."""
    asked = ["rustc", "--print", "sysroot"]
    sysroot = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    return next(Path(sysroot).glob("lib/rustlib/*/bin/llvm-profdata*"), None)


def main() -> int:
    """Build it, and print where it is."""
    merge = profdata()
    if merge is None:
        print("Not guided by a profile: rustup component add llvm-tools", file=sys.stderr)
        print(build(TARGET))
        return 0
    print("Building ackclock-bench, guided by a profile: some minutes", file=sys.stderr)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counting = build(TARGET / "counting", f"-Cprofile-generate={TARGET / 'counts'}")
        files = []
        for number, document in enumerate(documents()):
            files.append(folder / f"{number}.json")
            files[-1].write_text(json.dumps(document))
        counts = folder / "counts.profraw"
        there = os.environ | {"LLVM_PROFILE_FILE": str(counts)}
        subprocess.run([counting, *files], env=there, stdout=subprocess.DEVNULL, check=True)
        profile = TARGET / "engine.profdata"
        subprocess.run([merge, "merge", "-o", profile, counts], check=True)
    print(build(TARGET / "guided", f"-Cprofile-use={profile}"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
