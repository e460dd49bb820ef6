"""The committed programs are what the sources compile to, by two compilers."""

import json
import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import pytest

from channelsim.clsp.__main__ import main
from channelsim.clsp.build import STAMP, build, build_order, compile_tree, stale, stamp
from channelsim.clsp.compiler import compile_source
from channelsim.clsp.programs import COMPILED, SOURCE, SYMBOLS, Program, load, names, with_symbols
from channelsim.clsp.run import Outcome, ProgramValid, run_serialized
from tests.clsp.analysis.test_tracer import calls

RULES = {
    "spacepoker/commitA": ("SP-COMMITA", 2),
    "spacepoker/commitB": ("SP-COMMITB", 2),
    "spacepoker/begin_round": ("SP-BEGIN", 7),
    "spacepoker/mid_round": ("SP-MID", 6),
    "spacepoker/end": ("SP-END", 5),
    "calpoker/a": ("CP-A", 1),
    "calpoker/b": ("CP-B", 1),
    "calpoker/c": ("CP-C", 2),
    "calpoker/d": ("CP-D", 2),
    "calpoker/e": ("CP-E", 6),
    "poker/deal": ("PK-DEAL", 3),
    "poker/begin": ("PK-BEGIN", 7),
    "poker/mid": ("PK-MID", 7),
    "poker/draw": ("PK-DRAW", 4),
    "poker/show": ("PK-SHOW", 4),
    "poker/end": ("PK-END", 6),
    "poker/commit": ("PK-COMMIT", 3),
    "poker/rows": ("PK-ROWS", 5),
    "poker/score": ("PK-SCORE", 6),
    "channel/unroll": ("UNROLL", 5),
}
"""The rules of each program: how their ids begin, and how many there are."""

ORDERED_DIFFERENTLY = "poker/show"

REFEREE_RULES = {"REF-TIMEOUT": 4, "REF-MOVE": 10, "REF-SLASH": 8}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tree")


@pytest.fixture(scope="module")
def ours(tree: Path) -> dict[str, Program]:
    """All programs, compiled once, in `tree`."""
    return compile_tree(tree)


@pytest.mark.long
def test_the_compiled_programs_are_what_the_sources_compile_to(
    ours: dict[str, Program],
) -> None:
    committed = json.loads((COMPILED / SYMBOLS).read_text("utf-8"))
    assert ours == {n: load(n) for n in names()}
    assert {name: one.symbols for name, one in ours.items()} == committed


def test_the_compiled_programs_are_fresh() -> None:
    assert (COMPILED / STAMP).read_text("utf-8") == stamp(COMPILED), "run: python -m clsp build"
    assert stale() == []


def test_stale_programs_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = {name: with_symbols(load(name)) for name in names()}
    monkeypatch.setattr("channelsim.clsp.build.compile_tree", lambda folder: fresh)
    compiled = tmp_path / "compiled"
    copytree(COMPILED, compiled)
    (compiled / "channel" / "unroll.hex").write_text("01\n")
    (compiled / "spacepoker" / "end.hex").unlink()
    (compiled / "spacepoker" / "start.hex").write_text("01\n")
    (compiled / "symbols.json").write_text("{}\n")
    assert stale(compiled) == [
        "channel/unroll: stale, its source compiles to something else",
        "spacepoker/end: missing, never compiled",
        "spacepoker/start: extra, it has no source",
        "symbols.json: stale, its source compiles to something else",
        "stamp.json: stale, it is of other sources or programs",
    ]
    build(compiled)
    assert stale(compiled) == []
    assert (compiled / STAMP).read_bytes() == (COMPILED / STAMP).read_bytes()
    assert (compiled / "channel" / "unroll.hex").read_bytes() == (
        COMPILED / "channel" / "unroll.hex"
    ).read_bytes()
    assert not (compiled / "spacepoker" / "start.hex").exists()
    assert (compiled / "spacepoker" / "end.hex").stat().st_mode & 0o044


def test_the_commands(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("channelsim.clsp.__main__.stale", list)
    assert main(["check"]) == 0
    assert main([]) == main(["rebuild"]) == 2
    capsys.readouterr()
    monkeypatch.setattr("channelsim.clsp.__main__.stale", lambda: ["spacepoker/end: stale"])
    assert main(["check"]) == 1
    assert capsys.readouterr().err.startswith("spacepoker/end: stale\n")
    monkeypatch.setattr(
        "channelsim.clsp.__main__.build", lambda: {"spacepoker/end": load("spacepoker/end")}
    )
    assert main(["build"]) == 0
    assert load("spacepoker/end").hash.hex() in capsys.readouterr().out


@pytest.mark.long
def test_a_second_compiler_makes_the_same_bytes(
    tree: Path, ours: dict[str, Program], tmp_path: Path
) -> None:
    """Each source in a process of its own: see `channelsim.clsp.compiler`.

    In one program the two order a function's parameters differently, by names that they number.
    It judges every stored case alike.
    """
    source = tree / "source"
    for name, made in ours.items():
        output = tmp_path / "second.hex"
        arguments = (str(source / f"{name}.clsp"), str(output), [str(source)])
        code = f"import clvm_tools_rs; clvm_tools_rs.compile_clvm(*{arguments!r})"
        subprocess.run([sys.executable, "-c", code], check=True)
        first, second = made.serialized, bytes.fromhex(output.read_text("ascii"))
        if name != ORDERED_DIFFERENTLY:
            assert second == first, name
            continue
        assert sorted(second) == sorted(first)
        for tag, environment in calls(name):
            outcomes = [run_serialized(program, environment) for program in (first, second)]
            assert result_of(outcomes[0]) == result_of(outcomes[1]), tag


def result_of(outcome: Outcome) -> object:
    """What a validator answers, without its cost: orders of parameters differ in their paths."""
    return outcome.value if isinstance(outcome, ProgramValid) else type(outcome)


def test_a_program_does_not_depend_on_what_was_compiled_before() -> None:
    """The compiler orders functions by names that it numbers across a process."""
    assert compile_source(SOURCE / "poker" / "deal.clsp").hash == load("poker/deal").hash


def test_programs_name_their_successors_by_hash() -> None:
    order = build_order()
    assert sorted(order) == list(names())
    successors = {
        "spacepoker/commitA": ["commitB"],
        "spacepoker/commitB": ["begin_round", "mid_round"],
        "spacepoker/begin_round": [],
        "spacepoker/mid_round": ["begin_round", "end"],
        "spacepoker/end": [],
        "calpoker/a": ["b"],
        "calpoker/b": ["c"],
        "calpoker/c": ["d"],
        "calpoker/d": ["e"],
        "calpoker/e": [],
    }
    for name, named in successors.items():
        game = name.partition("/")[0]
        others = {other for other in names() if load(other).hash in load(name).serialized}
        assert others == {f"{game}/{other}" for other in named}
        assert all(order.index(other) < order.index(name) for other in others)


@pytest.mark.parametrize("name", sorted(RULES))
def test_every_rule_has_its_comment(name: str) -> None:
    prefix, count = RULES[name]
    assert _ids(name) == {f"{prefix}-{number}" for number in range(1, count + 1)}


def test_every_rule_of_the_referee_has_its_comment() -> None:
    assert _ids("channel/referee") == {
        f"{prefix}-{number}"
        for prefix, count in REFEREE_RULES.items()
        for number in range(1, count + 1)
    }


def _ids(name: str) -> set[str]:
    text = (SOURCE / f"{name}.clsp").read_text("utf-8")
    return set(re.findall(r"\b(?:[A-Z]+-)+\d+\b", text))
