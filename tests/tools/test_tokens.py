"""The size of the product is that of its code alone."""

from __future__ import annotations

import pytest

from scripts.tools.tokens import package_of, size_of

PLAIN = "x = 1\n\n\ndef f(a):\n    return a\n"


@pytest.mark.parametrize(
    ("source", "described"),
    [
        (PLAIN, 0),
        (f'"""A module."""\n{PLAIN}', 1),
        (f"import os\nfrom sys import (\n    argv,\n)\n{PLAIN}", 0),
        (PLAIN.replace("= 1", '= 1  # one\n"""A number."""'), 0),
        (PLAIN.replace("    return", '    """Return it.\n\n    As it is.\n    """\n    return'), 1),
    ],
)
def test_words_about_the_code_are_not_counted(source: str, described: int) -> None:
    size = size_of(source)
    assert (size.tokens, size.described, size.defined) == (11, described, 2)


def test_a_package_of_the_channel_has_a_line_of_its_own() -> None:
    assert package_of("channel/lab/laws/cost.py") == "channel/lab"
    assert package_of("games/judge.py") == "games"
