"""Results stay what they are, bit by bit, unless a change of them is meant."""

import digests
import pytest

from ackclock import library

GOLDEN = digests.golden()


def test_every_scenario_has_a_digest_and_every_digest_a_scenario():
    assert sorted(GOLDEN) == library.names(), "python tests/python/digests.py writes the file anew"


@pytest.mark.parametrize("name", library.names())
def test_a_scenario_comes_to_its_digest(name):
    assert digests.digest(name) == GOLDEN[name], (
        "results of this scenario changed: if that is meant, say so in CHANGELOG.md under "
        "'Results change' and run python tests/python/digests.py"
    )
