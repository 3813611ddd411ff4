"""Golden digests: what each scenario of the package has to come to.

python tests/python/digests.py     simulate all scenarios and write digests.txt anew
"""

from pathlib import Path

from ackclock import Scenario, library, run

FILE = Path(__file__).parents[1] / "digests.txt"


def golden() -> dict[str, str]:
    """Return the digests of the file by the names of their scenarios."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return dict(line.split() for line in lines if line and not line.startswith("#"))


def digest(name: str) -> str:
    """Return the digest of a run of a scenario without records."""
    return run(Scenario.load(name).set("record", "none")).summary["digest"]


def write() -> None:
    """Write the file anew; its head stays."""
    head = [line for line in FILE.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    names = library.names()
    width = max(map(len, names))
    lines = head + [f"{name:{width}}  {digest(name)}" for name in names]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
