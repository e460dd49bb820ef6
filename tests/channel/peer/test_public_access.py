"""A peer is used by its public names alone, by the product and by the tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.paths import ROOT

PEER = ROOT / "channel" / "peer"


def names(node: ast.AST) -> Iterator[str]:
    """The names in a chain such as `end.peer.state`, from its end on."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        if isinstance(node, ast.Attribute):
            yield node.attr
        node = node.func if isinstance(node, ast.Call) else node.value
    if isinstance(node, ast.Name):
        yield node.id


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def private_uses(source: str) -> list[str]:
    """The uses of private names of a peer, and of the modules that it is made of."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(value, attr) if is_private(attr) and "peer" in names(value):
                found.append(ast.unparse(node))
            case ast.ImportFrom(module=str(module)) if module.startswith("channelsim.channel.peer"):
                found += [alias.name for alias in node.names if is_private(alias.name)]
    return found


@pytest.mark.parametrize("folder", ["channel", "tests"])
def test_no_other_folder_uses_private_names_of_a_peer(folder: str) -> None:
    files = [path for path in sorted((ROOT / folder).rglob("*.py")) if PEER not in path.parents]
    assert len(files) > 100
    found = {str(path): private_uses(path.read_text(encoding="utf-8")) for path in files}
    assert {path: uses for path, uses in found.items() if uses} == {}


@pytest.mark.parametrize(
    ("source", "uses"),
    [
        ("end.peer._state", ["end.peer._state"]),
        ("table.ends[0].peer.state._secret.x", ["table.ends[0].peer.state._secret"]),
        ("peer._play()", ["peer._play"]),
        ("from channelsim.channel.peer.play.sending import _news", ["_news"]),
        ("self._peer.state", []),
        ("peer.state.play", []),
        ("peer.__class__", []),
    ],
)
def test_a_private_use_would_be_found(source: str, uses: list[str]) -> None:
    assert private_uses(source) == uses
