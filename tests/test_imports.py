"""Which part may use which: `clsp` <- `games` <- `channel`, and no I/O below the channel."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ("clsp", "games", "channel")
IMPURE = {"asyncio", "os", "random", "secrets", "socket", "subprocess", "threading", "time"}
BUILD = {"compiler.py", "build.py", "__main__.py"}
"""What of `clsp` builds the compiled programs: it does read and write files."""


def sources(layer: str) -> list[Path]:
    found = sorted((ROOT / layer).rglob("*.py"))
    assert len(found) > 5
    return found


def imported(path: Path) -> Iterator[str]:
    """The modules that a file names in any import, inside functions as well."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module
            case ast.ImportFrom():
                raise AssertionError(f"{path}: a relative import")
            case ast.Call(
                func=ast.Name(id="__import__" | "import_module"),
                args=[ast.Constant(str(name)), *_],
            ):
                yield name


def top(name: str) -> str:
    return name.split(".")[0]


@pytest.mark.parametrize(("layer", "allowed"), [("clsp", 1), ("games", 2), ("channel", 3)])
def test_imports_go_one_way(layer: str, allowed: int) -> None:
    for path in sources(layer):
        above = {top(name) for name in imported(path)} & set(LAYERS[allowed:])
        assert not above, f"{path.relative_to(ROOT)} imports {above}"
        assert "tests" not in {top(name) for name in imported(path)}


@pytest.mark.parametrize("layer", ["clsp", "games"])
def test_nothing_below_the_channel_does_io_or_is_random(layer: str) -> None:
    for path in sources(layer):
        if layer == "clsp" and path.name in BUILD:
            continue
        impure = {top(name) for name in imported(path)} & IMPURE
        assert not impure, f"{path.relative_to(ROOT)} imports {impure}"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="open" | "print" | "input" as name)):
                    raise AssertionError(f"{path.relative_to(ROOT)} calls {name}")


@pytest.mark.parametrize("layer", LAYERS)
def test_what_only_tests_need_is_used_by_tests_only(layer: str) -> None:
    """The other interpreter and compiler are opinions to be held against ours."""
    for path in sources(layer):
        used = {top(name) for name in imported(path)} & {"clvm", "clvm_tools_rs"}
        assert not used, f"{path.relative_to(ROOT)} imports {used}"


STATE_MACHINE = (
    *("batch", "book", "coins", "compose", "errors", "events", "funding", "kept", "keys"),
    *("messages", "opening", "past", "peer", "peer_chain", "proposal", "receive", "signed"),
    *("clock", "shutdown", "state", "wallet"),
    *("onchain/dispute", "onchain/fees", "onchain/games", "onchain/look", "onchain/memory"),
    *("onchain/news", "onchain/playing", "onchain/reading", "onchain/records"),
    *("onchain/spends", "onchain/spots"),
)


@pytest.mark.parametrize("name", STATE_MACHINE)
def test_the_peer_itself_does_no_io_and_knows_no_driver(name: str) -> None:
    """What goes in and comes out of a peer are values; the chain and the mail are a driver's."""
    path = ROOT / "channel" / f"{name}.py"
    used = set(imported(path))
    assert not {top(one) for one in used} & IMPURE
    drivers = {"channel.session", "channel.chain", "channel.cli", "channel.report", "channel.setup"}
    assert not {one for one in used if any(one.startswith(driver) for driver in drivers)}


def test_only_the_seed_comes_from_the_operating_system() -> None:
    users = [
        path.relative_to(ROOT / "channel").as_posix()
        for path in sources("channel")
        if {top(name) for name in imported(path)} & {"random", "secrets", "os"}
    ]
    assert "entropy.py" in users
    assert not set(users) & {f"{name}.py" for name in STATE_MACHINE}


def test_a_wrong_import_would_be_found(tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text("def f():\n    from channel import peer\n    import os.path\n")
    assert list(imported(path)) == ["channel", "os.path"]
