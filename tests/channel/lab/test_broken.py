"""Every change that a test of the lab plants in our sources is of a text that is still there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

import pytest

from channelsim.clsp.programs import SOURCE

HERE = Path(__file__).parent
MODULES = [
    ".".join((*__package__.split("."), *path.relative_to(HERE).with_suffix("").parts))
    for path in sorted(HERE.rglob("test_*.py"))
    if "target_file(" in path.read_text("utf-8")
]


def planted(value: object) -> Iterator[tuple[str, str]]:
    """The changes among a module's constants: the file, and the text that is changed."""
    match value:
        case (*_, str(file), str(old), str()) if file.endswith((".clsp", ".clinc")):
            yield file, old
        case Mapping():
            for one in value.values():
                yield from planted(one)
        case tuple() | list():
            for one in value:
                yield from planted(one)


@pytest.mark.parametrize("module", MODULES)
def test_a_planted_change_is_of_a_text_that_stands_in_its_source(module: str) -> None:
    for file, old in planted(vars(import_module(module))):
        assert old in (SOURCE / file).read_text("utf-8"), file


def test_the_changes_of_the_planted_faults_are_found() -> None:
    from tests.channel.lab.laws import test_planted
    from tests.channel.lab.node import test_node_checks

    known = test_planted.VALIDATORS | test_planted.REFEREE | test_node_checks.FAULTS
    assert len(list(planted(known))) == len(known) > 30
