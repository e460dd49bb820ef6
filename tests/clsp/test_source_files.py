"""Sources of every kind compile from copies: nothing appears in any folder of an author."""

from __future__ import annotations

from pathlib import Path

import pytest

from channelsim.clsp.compiler import compile_programs, compile_set, compile_source
from channelsim.clsp.run import evaluate
from channelsim.clsp.values import Value, to_list, tree_hash

MODERN = "(include *standard-cl-23*)\n"
PLUS_ONE = "(export (x) (+ x 1))"
USING = MODERN + "(import {} exposing program_hash)\n(export (x) (+ x (strlen program_hash)))"
MAIN = "main.clsp"

KINDS: dict[str, dict[str, str]] = {
    "a classic program": {MAIN: "(mod (x) (+ x 32))"},
    "a program": {MAIN: f"(mod (x) {MODERN} (+ x 32))"},
    "a program with an include": {
        MAIN: f"(mod (x) {MODERN} (include near.clinc) (include ours.clinc) (g x))",
        "near.clinc": "((defun g (x) (h x)))",
        "libraries/ours.clinc": "((defun h (x) (+ x 32)))",
    },
    "a module": {MAIN: MODERN + "(export (x) (+ x 32))"},
    "a module with one named export": {MAIN: MODERN + "(defun f (x) (+ x 32))\n(export f)"},
    "a module in an older dialect": {MAIN: "(include *standard-cl-21*)\n(export (x) (+ x 32))"},
    "a module in a later dialect": {MAIN: "(include *standard-cl-23.1*)\n(export (x) (+ x 32))"},
    "a module with a library": {
        MAIN: MODERN + "(import maths.more exposing (g))\n(export (x) (g x))",
        "maths/more.clinc": "(defun g (x) (+ x 32))",
    },
    "a module with a qualified import": {
        MAIN: MODERN + "(import qualified maths.more as m)\n(export (x) (m.g x))",
        "maths/more.clinc": "(defun g (x) (+ x 32))",
    },
    "a module that imports one beside it": {
        MAIN: USING.format("other"),
        "other.clsp": MODERN + PLUS_ONE,
    },
    "a module that imports one whose name begins with its own": {
        MAIN: USING.format("main_other"),
        "main_other.clsp": MODERN + PLUS_ONE,
    },
    "a module that imports from another folder": {
        MAIN: USING.format("deep.other"),
        "libraries/deep/other.clsp": MODERN + "(import third exposing program_hash)\n" + PLUS_ONE,
        "libraries/third.clsp": MODERN + "(export (x y) (c x y))",
    },
    "a module that imports by an absolute path": {
        MAIN: USING.format("{here}/libraries/other"),
        "libraries/other.clsp": MODERN + PLUS_ONE,
    },
    "a module that imports a program": {
        MAIN: USING.format("other"),
        "libraries/other.clsp": f"(mod (x) {MODERN} (+ x 1))",
    },
    "a module that embeds a file": {
        MAIN: MODERN + "(embed-file K bin image)\n(export (x) (+ x K 31))",
        "image": "\x01",
    },
}


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_new_appears_beside_any_source(kind: str, tmp_path: Path) -> None:
    for name, text in KINDS[kind].items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("{here}", str(tmp_path)))
    before = contents(tmp_path)
    program = compile_source(tmp_path / MAIN, [tmp_path / "libraries"])
    assert contents(tmp_path) == before
    assert evaluate(program, to_list([b"\x01"])) == b"\x21"


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_hash_is_not_written_outside_the_copy(tmp_path: Path) -> None:
    """The hash of another program goes where the include says, but never above the copies."""
    (tmp_path / "a").mkdir()
    include = "../hashes/second.clinc"
    (tmp_path / "a/first.clsp").write_text(f'(mod () {MODERN} (include "{include}") SECOND_HASH)')
    (tmp_path / "a/second.clsp").write_text(f"(mod (x) {MODERN} (+ x 1))")
    before = contents(tmp_path)
    programs = compile_programs(tmp_path / "a", ("first", "second"))
    assert evaluate(programs["first"], b"") == programs["second"].hash
    assert contents(tmp_path) == before


BUSY = """
(defun pairs (x y) (if (> x 1) (pairs (- x y) y) (c x y)))
(defun twice (n) (assign (a . b) (pairs n 7) (if (> a b) (twice (+ n 1)) (list a b a (sha256 a)))))
"""
DIFFERENT = {
    "a module in an older dialect": (
        f"(include *standard-cl-21*)\n{BUSY}\n(export (x) (list (twice x) (twice (+ x 1))))"
    ),
    "a program in an older dialect": (
        f"(mod (x) (include *standard-cl-22*)\n{BUSY}\n(list (twice x) (twice (+ x 1))))"
    ),
}
SAME = {
    "a module": f"{MODERN}{BUSY}\n(export (x) (list (twice x) (twice (+ x 1))))",
    "a program": f"(mod (x) {MODERN}{BUSY}\n(list (twice x) (twice (+ x 1))))",
    "a named export": f"{MODERN}{BUSY}\n(defun main (x) (list (twice x) (twice x)))\n(export main)",
}


@pytest.mark.parametrize("kind", [*DIFFERENT, *SAME])
def test_an_imported_program_is_the_one_that_the_import_embeds(kind: str, tmp_path: Path) -> None:
    named = "main" if kind == "a named export" else "program"
    first, second = tmp_path / "first.clsp", tmp_path / "second.clsp"
    first.write_text(
        f"{MODERN}(import second exposing {named}_hash)\n(export (x) (sha256 {named}_hash))"
        if named == "program"
        else f"{MODERN}(import second exposing main)\n(export (x) (c x main))"
    )
    second.write_text((DIFFERENT | SAME)[kind])
    together = compile_set({"first": first, "second": second})
    programs, alone = together.programs, compile_source(second)
    assert (programs["second"] == alone) == (kind in SAME)
    assert [(e.name, e.importer, e.hash_alone) for e in together.embeddings] == (
        [] if kind in SAME else [("second", "first", alone.hash)]
    )
    if named == "program":
        assert programs["second"].hash in programs["first"].serialized
    assert "twice" in programs["second"].symbols.values()
    twice = next(key for key, name in programs["second"].symbols.items() if name == "twice")
    assert bytes.fromhex(twice) in hashes_within(programs["second"].value)


def hashes_within(value: Value) -> set[bytes]:
    """The tree hash of a value and of all values inside it."""
    inside = [value]
    for here in inside:
        if isinstance(here, tuple):
            inside += here
    return {tree_hash(here) for here in inside}
