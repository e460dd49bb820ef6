"""Lines of an author's Chialisp: of functions, and of expressions where that is certain."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.source_lines import find_line
from channelsim.channel.lab.targets.target import of_game
from channelsim.clsp.analysis.code import MAIN
from channelsim.clsp.analysis.disassembly import WIDE, Disassembly
from channelsim.clsp.analysis.shapes import operands, quoted
from channelsim.clsp.programs import Program
from channelsim.clsp.values import serialize
from channelsim.games import registry
from tests.channel.lab.toys import toy

SOURCE = """; (defun wrong (a) a)
(mod (A B)
  (include "lib.clinc")
  (defconstant SIZE 32)
  (defun check (a)
    (if (= (strlen a) SIZE)
      (x)
      (x)))
  (rules
    (= A (/ SIZE 2))
    (check A)))
"""
LIBRARY = """(
  (defun-inline twice (n)
    (* 2 n))
  (defun-inline is_short (text most)
    (if (strlen text)
      (> most (strlen text))
      ()))
)
"""
CALLS = """(mod (A B)
  (include "lib.clinc")
  (defconstant NOTHING 0)
  (defun both (a b)
    (if (is_short a 3)
      (is_short b 4) 0))
  (defun bare (a)
    (if (= a 0)
      (= a 1)
      (= (twice a) NOTHING)))
  (if (= (twice A) 7)
    (x)
    (if (= A 8) (both A B) (= A 9))))
"""
CALLING = {Path("a.clsp"): CALLS, Path("lib.clinc"): LIBRARY}
FILES = {Path("a.clsp"): SOURCE, Path("lib.clinc"): LIBRARY}


@pytest.mark.parametrize(
    ("function", "expression", "found"),
    [
        (MAIN, "", "a.clsp:2"),
        (MAIN, "(= A (f (divmod 32 2)))", "a.clsp:10"),  # a division, as the compiler makes it
        ("check", "", "a.clsp:5"),
        ("check", "(= (strlen a) 32)", "a.clsp:6"),  # a constant by its name
        ("check", "(= (strlen b) 32)", "a.clsp:5"),  # not there: the function
        ("check", "(x)", "a.clsp:5"),  # there twice: the function
        ("check", "(= (strlen a", "a.clsp:6"),
        ("twice", "(* 2 n)", "lib.clinc:3"),
        ("wrong", "", None),  # a comment defines nothing
        ("", "", None),
    ],
)
def test_lines(function: str, expression: str, found: str | None) -> None:
    line = find_line(FILES, function, expression)
    assert found == (None if line is None else f"{line[0]}:{line[1]}")


@pytest.mark.parametrize(
    ("function", "expression", "found"),
    [
        ("bare", "(= a ())", "a.clsp:8"),  # a constant 0
        ("bare", "(= a 1)", "a.clsp:9"),
        ("bare", "(= a 2)", "a.clsp:7"),  # another number is another expression
        ("bare", "(= (* 2 a) ())", "a.clsp:10"),  # the constant's name
        (MAIN, "(= (* 2 A) 7)", "a.clsp:11"),  # an argument that was inlined
        (MAIN, "(* 2 A)", "a.clsp:11"),
        (MAIN, "(= A 9)", "a.clsp:13"),
        (MAIN, "(= A 10)", None),  # never the head of the program
        ("both", "(if (strlen b) (> 4 (strlen b)) ())", "a.clsp:6"),  # the call
        ("both", "(> 3 (strlen a))", "lib.clinc:6"),  # the line inside
        ("both", "(> 5 (strlen a))", "a.clsp:4"),
        ("both", "(if (strlen b) (> 4 (strlen", "a.clsp:6"),
    ],
)
def test_lines_of_what_the_compiler_put_in_place(
    function: str, expression: str, found: str | None
) -> None:
    line = find_line(CALLING, function, expression)
    assert found == (None if line is None else f"{line[0]}:{line[1]}")


def test_lines_of_most_tests_of_our_own_programs() -> None:
    """Of the tests of a large program, compiled and printed, nearly all are found."""
    target = of_game(registry.get("calpoker"))
    found = missed = 0
    for name in target.present:
        code = target.tracer(name).code
        text = Disassembly(code, target.hash_names)
        for number in code.choices:
            test = next(operands(code.expressions[number]))
            if isinstance(test, tuple) and quoted(test) is None:
                function = code.owners[number] or MAIN
                line = target.source_line(name, function, text.text(test, WIDE))
                head = target.source_line(name, function)
                is_found = line not in ("", head)
                found, missed = found + is_found, missed + (not is_found)
    assert found > 20 * missed


def test_a_target_names_its_files_as_the_user_named_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy(tmp_path)
    monkeypatch.chdir(tmp_path.parent)
    target = load(f"{tmp_path.name}/toy.toml")
    assert target.source_line("bid", "bid") == f"{tmp_path.name}/bid.clsp:2"
    assert target.source_line("bid", "no_such_function") == ""
    later = load(f"{tmp_path.name}/toy.toml")
    (tmp_path / "bid.clsp").unlink()
    assert later.source_line("bid", "bid") == ""
    assert target.source_line("bid", "bid") != ""  # as it was read


def test_a_rule_is_found_where_one_line_alone_mentions_it(tmp_path: Path) -> None:
    path = toy(tmp_path)
    source = tmp_path / "bid.clsp"
    source.write_text(source.read_text() + "; TOY-BID-1\n; TOY-BID-2, not TOY-BID-3\n; TOY-BID-3\n")
    target = load(str(path))
    last = source.read_text().count("\n")
    assert target.rule_line("bid", "TOY-BID-1") == f"{source}:{last - 2}"
    assert target.rule_line("bid", "TOY-BID-2") == f"{source}:{last - 1}"
    for absent in ("TOY-BID-3", "TOY-BID", "TOY-BID-11", "BID-1"):
        assert target.rule_line("bid", absent) == ""


def test_an_installed_game_has_lines_where_it_ships_its_sources() -> None:
    game = registry.get("calpoker")
    assert re.fullmatch(r"calpoker/a\.clsp:\d+", of_game(game).source_line("a", MAIN))
    other = Program(serialize((b"\x01", b"another")))
    bare = replace(game, programs={**game.programs, "a": other})
    assert of_game(bare).source_line("a", MAIN) == ""
    assert of_game(bare).source_line("b", MAIN) != ""
