"""Compiling other authors' sources, without a trace in their folders."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from channelsim.clsp.compiler import CompileError, compile_programs, compile_source
from channelsim.clsp.programs import load, symbols
from channelsim.clsp.run import evaluate
from channelsim.clsp.values import to_list

MOD = """
(mod (mask)
  (include *standard-cl-23*)
  (include "lib/masks.clinc")
  (include "beside.clinc")
  (include "hashes/spacepoker/end.clinc")
  (list (popcount mask) (twice 21) END_HASH)
)
"""
BESIDE = "((defun twice (number) (* 2 number)))"
MODULE = """
(include *standard-cl-23*)
(export (number) (if number (list number (+ number 1)) ()))
"""
EXPORTS = """
(include *standard-cl-23*)
(defun one (number) (+ number 1))
(defun two (number) (+ number 2))
(export one)
(export two)
"""
PRELUDE = "(defmac one_more (A) (qq (+ 1 (unquote A))))"


def written(folder: Path, text: str, name: str = "user.clsp") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_source_may_include_ours_and_its_own(tmp_path: Path) -> None:
    source = written(tmp_path, MOD)
    written(tmp_path, BESIDE, "beside.clinc")
    compiled = compile_source(source)
    result = evaluate(compiled, to_list([b"\x83"]))
    assert result == to_list([b"\x03", b"\x2a", load("spacepoker/end").hash])
    assert "popcount" in set(compiled.symbols.values())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["beside.clinc", "user.clsp"]


def test_other_folders_may_be_searched(tmp_path: Path) -> None:
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    written(libraries, BESIDE, "beside.clinc")
    assert compile_source(written(tmp_path, MOD), [libraries]).serialized


def test_a_module_leaves_nothing_beside_its_source(tmp_path: Path) -> None:
    source = written(tmp_path, MODULE)
    compiled = compile_source(source)
    assert evaluate(compiled, to_list([b"\x05"])) == to_list([b"\x05", b"\x06"])
    assert list(tmp_path.iterdir()) == [source]


def test_a_modules_only_export_is_its_program(tmp_path: Path) -> None:
    compiled = compile_source(written(tmp_path, EXPORTS.replace("(export two)", "")))
    assert evaluate(compiled, to_list([b"\x05"])) == b"\x06"
    assert compiled.symbols[compiled_name(compiled.symbols, "one") + "_arguments"] == "(number)"


def compiled_name(symbols: Mapping[str, str], name: str) -> str:
    return next(key for key, value in symbols.items() if value == name)


def test_named_exports_need_one_to_be_the_program(tmp_path: Path) -> None:
    source = written(tmp_path, EXPORTS)
    with pytest.raises(CompileError, match="exports one, two, and no main"):
        compile_source(source)
    assert list(tmp_path.iterdir()) == [source]


def test_an_authors_own_prelude_comes_before_ours(tmp_path: Path) -> None:
    (tmp_path / "std").mkdir()
    written(tmp_path / "std", PRELUDE, "prelude.clinc")
    text = MODULE.splitlines()[1] + "\n(export (number) (one_more number))\n"
    compiled = compile_source(written(tmp_path, text))
    assert evaluate(compiled, to_list([b"\x05"])) == b"\x06"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(mod (a) (include *standard-cl-23*) (+ a missing))", "missing"),
        ("(mod (a) (include *standard-cl-23*) (include nowhere.clinc) a)", "nowhere"),
        ("(mod (a)", "missing"),
    ],
)
def test_what_does_not_compile_is_one_clear_line(tmp_path: Path, text: str, reason: str) -> None:
    source = written(tmp_path, text)
    with pytest.raises(CompileError, match=reason) as caught:
        compile_source(source)
    message = str(caught.value)
    assert message.startswith(str(source))
    assert "\n" not in message
    assert list(tmp_path.iterdir()) == [source]


def test_a_source_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="No such file"):
        compile_source(tmp_path / "none.clsp")


def test_running_programs_needs_no_compiler_and_no_layer_above() -> None:
    code = (
        "import sys\n"
        "from channelsim.clsp import build, compiler, curry, programs, run\n"
        "programs.load('spacepoker/end').hash\n"
        "assert not {'chialisp', 'channelsim.games', 'channelsim.channel'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_programs_of_a_folder_are_compiled_in_the_order_of_need(tmp_path: Path) -> None:
    last = "(mod (x) (include *standard-cl-23*) (defun double (n) (* 2 n)) (list (double x) 1))"
    first = '(mod () (include *standard-cl-23*) (include "hashes/mine/last.clinc") LAST_HASH)'
    written(tmp_path, last, "last.clsp")
    written(tmp_path, first, "first.clsp")
    programs = compile_programs(tmp_path, ("first", "last"))
    assert list(programs) == ["first", "last"]
    assert evaluate(programs["first"], b"") == programs["last"].hash
    assert "double" in symbols(programs["last"]).values()


@pytest.mark.parametrize("needed", ["first", "last"])
def test_programs_that_need_each_others_hash_are_refused(tmp_path: Path, needed: str) -> None:
    written(tmp_path, f'(mod () (include "hashes/{needed}.clinc") ())', "first.clsp")
    written(tmp_path, '(mod () (include "hashes/first.clinc") ())', "last.clsp")
    with pytest.raises(
        CompileError, match=r"first needs the hash of.*; let one of them pass its PROGRAM_HASH on"
    ):
        compile_programs(tmp_path, ("first", "last"))


def test_a_missing_source_is_named(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"none\.clsp: No such file"):
        compile_programs(tmp_path, ("none",))


def test_a_source_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "one.clsp").write_bytes(b"\xff(mod () 1)")
    with pytest.raises(CompileError, match=r"one\.clsp: not a text file \(not UTF-8\)"):
        compile_programs(tmp_path, ("one",))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("(mod (x)\n  (+ x 1)", "line 1, column 1: this `(` is never closed"),
        (
            '(mod (x)\n  (include "lib/rulez.clinc")\n  (+ x 1))',
            "line 2, column 12: there is no file lib/rulez.clinc to include",
        ),
    ],
)
def test_the_programs_of_a_game_fail_at_a_line(source: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "one.clsp").write_text(source)
    with pytest.raises(CompileError) as failed:
        compile_programs(tmp_path, ["one"])
    assert str(failed.value) == f"{tmp_path}/one.clsp: {said}"
