"""The pytest plug-in: an author's own suite asks the lab about its target.

`pytest --channelsim-target FILE`, or `channelsim_target = FILE` in the suite's ini file. A suite
that names no target sees nothing of it: no fixture, no marker, and next to no time.

Fixtures, all of the session: `target`, `rules` (the game whose rules it should obey), `laws`
(all laws, by name) and `lab`, which tries them. The marker `channelsim_cases(FILE, …)` runs a test
once for each stored case, as its argument `case`.
"""

from __future__ import annotations

import pytest

OPTION, INI, MARKER = "--channelsim-target", "channelsim_target", "channelsim_cases"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option, and the same in an ini file."""
    group = parser.getgroup("channelsim", "validators of two-party games on Chia")
    text = "the target that the suite is about: an installed game, or a TOML file"
    group.addoption(OPTION, metavar="TARGET", dest=INI, help=text)
    parser.addini(INI, f"{text} (relative to this file's folder)")


def pytest_configure(config: pytest.Config) -> None:
    """Give the fixtures to a suite that names its target."""
    if config.getoption(INI) or config.getini(INI):
        from channelsim.channel.lab.testing import fixtures

        text = f"{MARKER}(*files): run the test for each case of these files or folders"
        config.addinivalue_line("markers", text)
        config.pluginmanager.register(fixtures, "channelsim-fixtures")
