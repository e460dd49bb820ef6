"""The command that prints the size of the product counts code alone."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

import pytest

from tests.paths import ROOT

LOADER = SourceFileLoader("tokens", str(ROOT / "scripts" / "tokens"))
SPEC = spec_from_loader("tokens", LOADER)
assert SPEC is not None
TOKENS = module_from_spec(SPEC)
LOADER.exec_module(TOKENS)

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
    size = TOKENS.size_of(source)
    assert (size.tokens, size.described, size.defined) == (11, described, 2)


def test_a_package_of_the_channel_has_a_line_of_its_own() -> None:
    assert TOKENS.package_of("channel/lab/laws/cost.py") == "channel/lab"
    assert TOKENS.package_of("games/judge.py") == "games"
