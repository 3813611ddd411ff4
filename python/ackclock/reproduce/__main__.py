"""Print reports as Markdown: ``python -m ackclock.reproduce caltech > FILE``."""

import sys

from ackclock.errors import InputError
from ackclock.reproduce import markdown, run

_USAGE = "usage: python -m ackclock.reproduce EXPERIMENT"


def main(arguments: list[str]) -> int:
    """Run one experiment and print its report under a title; return the exit status."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.stderr.write(f"{_USAGE}\n")
        return 2
    try:
        (report,) = run(arguments)
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    command = f"python -m ackclock.reproduce {report.name} > docs/reproductions/{report.name}.md"
    sys.stdout.write(f"# {report.title}\n\nMade by `{command}`; do not edit.\n\n")
    sys.stdout.write(markdown(report))
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
