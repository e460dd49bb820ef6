"""Import order: `clsp` <- `games` <- `channel`, and no I/O below the channel."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.paths import ROOT

LAYERS = ("clsp", "games", "channel")
PREFIX = "channelsim."
IMPURE = {"asyncio", "os", "random", "secrets", "socket", "subprocess", "threading", "time"}
BUILD = {
    *("compiler.py", "compile_process.py", "compile_child.py", "program_cache.py", "build.py"),
    "__main__.py",
}
"""What of `clsp` builds the compiled programs: it does read and write files."""


def sources(layer: str) -> list[Path]:
    found = sorted((ROOT / layer).rglob("*.py"))
    assert len(found) > 5
    return found


@cache
def imported(path: Path) -> tuple[str, ...]:
    """The modules that a file names in any import, inside functions as well, without `PREFIX`."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names):
                yield from (alias.name.removeprefix(PREFIX) for alias in names)
            case ast.ImportFrom(module="channelsim", names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), level=0, names=names):
                name = module.removeprefix(PREFIX)
                # What is imported may be a module too.
                yield from (name, *(f"{name}.{alias.name}" for alias in names))
            case ast.ImportFrom():
                raise AssertionError(f"{path}: a relative import")
            case ast.Call(
                func=ast.Name(id="__import__" | "import_module"),
                args=[ast.Constant(str(name)), *_],
            ):
                yield name.removeprefix(PREFIX)


BARE_IMPORT = re.compile(rf"^\s*(?:from|import) (?:{'|'.join(LAYERS)})\b", re.M)
"""An import of our packages by names that are not those under which they are installed."""


def top(name: str) -> str:
    return name.split(".")[0]


@pytest.mark.parametrize(("layer", "allowed"), [("clsp", 1), ("games", 2), ("channel", 3)])
def test_imports_go_one_way(layer: str, allowed: int) -> None:
    for path in sources(layer):
        above = {top(name) for name in imported(path)} & set(LAYERS[allowed:])
        assert not above, f"{path.relative_to(ROOT)} imports {above}"
        assert not {top(name) for name in imported(path)} & {"tests", "scripts"}


def test_tools_import_the_product_only() -> None:
    for path in sources("scripts/tools"):
        assert "tests" not in {top(name) for name in imported(path)}, path


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


def test_plugins_may_be_used_by_every_layer() -> None:
    """It reads the environment and the installed packages, for all of them, and knows none."""
    for file in ("plugins.py", "watchdog.py"):
        assert not {top(name) for name in imported(ROOT / "channelsim" / file)} & set(LAYERS)
    loose = {path.name for path in (ROOT / "channelsim").glob("*.py")}
    assert loose == {"__init__.py", "__main__.py", "plugins.py", "watchdog.py"}


@pytest.mark.parametrize("layer", LAYERS)
def test_what_only_tests_need_is_used_by_tests_only(layer: str) -> None:
    """The other interpreter and compiler are opinions to be held against ours."""
    for path in sources(layer):
        used = {top(name) for name in imported(path)} & {"clvm", "clvm_tools_rs"}
        assert not used, f"{path.relative_to(ROOT)} imports {used}"


PACKAGES = (
    *("system", "findings", "campaign", "crypto", "chain", "protocol", "peer", "watch", "store"),
    *(
        "network",
        "session",
        "peer_text",
        "adversaries",
        "simulation",
        "attack",
        "explore",
        "lab",
        "prove",
        "documents",
    ),
    *("report", "comparisons", "kit", "cli"),
)
"""The packages of `channel`: each may import those before it."""

LAB = (
    *("targets", "sites", "referee", "cases", "laws", "crosscheck", "fuzz", "coverage", "trace"),
    "debug",
    *("node", "costs", "mutants", "testing"),
)
"""The packages of `channel.lab`: each may import those before it."""

SIMULATION = ("model", "promises")
"""The packages of `channel.simulation`: each may import those before it."""

PEER = {
    "": (
        *("agreement", "limits", "fee_settings", "config", "chain_news", "interface"),
        *("push_answers", "fees", "decks", "endpoint"),
        *(
            "slashable",
            "shutdown",
            "opening",
            "play",
            "onchain",
            "deadlines",
            "peer_state",
        ),
        *("phases", "machine"),
    ),
    "opening": ("introduction", "funding", "handshake", "failed_opening"),
    "fees": ("payment", "coins", "fee_state", "fee_wallet", "paying", "answers"),
    "decks": ("pool",),
    "play": ("play_state", "receiving", "sending", "next_step"),
    "onchain": (
        *("signed_games", "lineage", "dispute"),
        *("reading", "decisions", "scan_games", "scan"),
    ),
    "phases": (
        *("decks", "fees", "leaving", "opening", "on_chain", "closing", "playing", "resuming"),
        "blocks",
    ),
}
"""The modules and packages of `channel.peer`: each may import those before it."""


def packages(folder: Path) -> set[str]:
    return {path.parent.name for path in folder.glob("*/__init__.py")}


def used(folder: Path, parent: str) -> set[str]:
    """The packages of `parent` that the files below a folder import."""
    depth = parent.count(".") + 1
    return {
        name.split(".")[depth]
        for path in sorted(folder.rglob("*.py"))
        for name in imported(path)
        if name.startswith(f"{parent}.")
    }


@pytest.mark.parametrize(
    ("parent", "order"),
    [
        ("channel", PACKAGES),
        ("channel.lab", LAB),
        ("channel.simulation", SIMULATION),
    ],
    ids=("channel", "lab", "simulation"),
)
def test_packages_import_only_those_before_them(parent: str, order: tuple[str, ...]) -> None:
    folder = ROOT / parent.replace(".", "/")
    assert packages(folder) == set(order)
    for number, package in enumerate(order):
        later = used(folder / package, parent) & set(order[number + 1 :])
        assert not later, f"{parent}.{package} imports {later}"


@pytest.mark.parametrize("package", PEER)
def test_the_modules_of_a_peer_import_only_those_before_them(package: str) -> None:
    order, parent = PEER[package], f"channel.peer{package and '.'}{package}"
    folder = ROOT / parent.replace(".", "/")
    assert {path.stem for path in folder.iterdir() if not path.stem.startswith("__")} == set(order)
    assert not wrong_imports(folder, parent, order)


def wrong_imports(folder: Path, parent: str, order: tuple[str, ...]) -> list[str]:
    """The modules of a package that import later ones, also inside functions and for types only."""
    wrong: list[str] = []
    for number, name in enumerate(order):
        files = [*folder.glob(f"{name}.py"), *folder.glob(f"{name}/*.py")]
        assert files
        later = tuple(f"{parent}.{module}." for module in order[number + 1 :])
        wrong += [
            f"{path.name} imports {module}"
            for path in files
            for module in imported(path)
            if f"{module}.".startswith(later)
        ]
    return wrong


@pytest.mark.parametrize(
    "circle",
    [
        "from channelsim.channel.peer.onchain.scan import scan",
        "from channelsim.channel.peer.onchain import scan",
        "import channelsim.channel.peer.onchain.scan",
        "def late():\n    from channelsim.channel.peer.onchain import scan",
        "if TYPE_CHECKING:\n    from channelsim.channel.peer.onchain.scan import scan",
    ],
)
def test_a_circle_of_modules_would_be_found(tmp_path: Path, circle: str) -> None:
    order = ("dispute", "scan")
    for name, text, wrong in (("circle", circle, True), ("order", "import re", False)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "dispute.py").write_text(text)
        (folder / "scan.py").write_text("from channelsim.channel.peer.onchain import dispute")
        assert bool(wrong_imports(folder, "channel.peer.onchain", order)) is wrong


def test_the_channel_has_packages_only() -> None:
    loose = {path.name for path in (ROOT / "channel").glob("*.py")}
    assert loose == {"__init__.py", "errors.py"}


def test_the_lab_needs_no_peer() -> None:
    assert used(ROOT / "channel" / "lab", "channel") <= {
        *("__version__", "errors", "system", "campaign", "findings", "crypto", "chain", "protocol"),
        "lab",
    }


def test_what_a_watcher_sees_and_can_spend_needs_no_key() -> None:
    """Only its pusher has a key, that of its fee coins."""
    signing = ("channel.peer", "channel.store", "channel.crypto.keys", "channel.protocol.wallet")
    users = {
        path.stem
        for path in (ROOT / "channel" / "watch").glob("*.py")
        if any(name.startswith(signing) for name in imported(path))
    }
    assert users == {"pusher"}


def test_only_searches_for_faults_can_replace_signatures() -> None:
    """Nothing that handles money can use another scheme: not `peer`, `session` or `recover`."""
    channel, searching = ROOT / "channel", {"attack", "explore"}
    users = {
        path.relative_to(channel)
        for path in channel.rglob("*.py")
        if "channel.crypto.keyed_hash" in imported(path)
    }
    names = {"attack.py", "explore.py"}
    assert users
    assert not [path for path in users if not ({path.parts[0]} <= searching or path.name in names)]
    switching = {
        path.relative_to(channel)
        for path in channel.rglob("*.py")
        if "replaced_by" in path.read_text(encoding="utf-8")
    }
    assert switching == {Path("crypto/bls.py"), Path("crypto/keyed_hash.py")}


def test_each_package_says_what_it_is_and_what_it_may_import() -> None:
    for path in sorted((ROOT / "channel").rglob("__init__.py")):
        if path.parent.name == "channel" or {"commands", "template"} & set(path.parts):
            continue
        text = ast.get_docstring(ast.parse(path.read_text()))
        assert text is not None, path
        assert len(text.split("\n\n")) == 2, path
        assert "import" in text, path


@pytest.mark.parametrize("package", ["protocol", "peer"])
def test_a_peer_does_no_io_and_knows_no_node(package: str) -> None:
    """Events and effects are values; only a driver touches the chain and the network."""
    for path in sorted((ROOT / "channel" / package).rglob("*.py")):
        names = set(imported(path))
        assert not {top(name) for name in names} & IMPURE, path
        assert not names & {
            "channel.chain.simulator",
            "channel.chain.full_node",
        }, path


def test_only_the_seed_comes_from_the_operating_system() -> None:
    users = {
        path.parent.name
        for path in sources("channel")
        if {top(name) for name in imported(path)} & {"random", "secrets", "os"}
    }
    assert "crypto" in users
    assert not users & {"chain", "protocol", "peer", "opening", "play", "onchain"}


def test_the_packages_are_imported_by_their_installed_names() -> None:
    """`import games` may find a folder of an author's own."""
    for folder in (*LAYERS, "scripts", "tests", "examples"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            assert not BARE_IMPORT.search(path.read_text("utf-8")), path
    for path in sorted((ROOT / "docs").glob("*.md")):
        assert not BARE_IMPORT.search(path.read_text("utf-8")), path
    assert BARE_IMPORT.search("def f():\n    from games import cards\n")


def test_a_wrong_import_would_be_found(tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(
        "def f():\n    from channelsim.channel import peer\n    from channelsim import games\n"
        "    import os.path\n"
    )
    assert list(imported(path)) == ["channel", "channel.peer", "games", "os.path"]
