"""Somebody's sources: what is no Chialisp is refused, and no source harms who compiles it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.targets.sources import Sources
from channelsim.clsp import chialisp
from channelsim.clsp.chialisp import DEEPEST, BadForm
from channelsim.clsp.compiler import CompileError, compile_source
from channelsim.clsp.programs import SOURCE

STANDARD = "(include *standard-cl-23*)"


def compiled(folder: Path, text: str | bytes, **others: str) -> bytes:
    """The program of a source, beside files of other names (with `_` for the dot)."""
    data = text if isinstance(text, bytes) else text.encode()
    (folder / "a.clsp").write_bytes(data)
    for name, other in others.items():
        (folder / name.replace("_", ".")).write_text(other)
    return Sources({"a": folder / "a.clsp"}, ()).compile()["a"].serialized


def test_all_of_our_own_sources_are_whole_forms() -> None:
    paths = [*SOURCE.rglob("*.clsp"), *SOURCE.rglob("*.clinc")]
    assert len(paths) > 20
    for path in paths:
        chialisp.check(path.read_text("utf-8"))


@pytest.mark.parametrize(
    "text",
    [
        "(mod (A) (c \"a ( ; b\" 'c ) d') ; e (\n)",
        '(mod (A) (c "say \\"(\\"" A))',
        "(mod (A) (defun don't (x) x) (don't A))",
        "(mod (A) (c a;b A))",
        "(" * DEEPEST + ")" * DEEPEST,
        "; only\n(include x)\n(export (A) A)\n; comments",
    ],
)
def test_whole_forms(text: str) -> None:
    chialisp.check(text)


BAD_FORMS = {
    "": ("has no form", 0),
    "; nothing\n": ("has no form", 10),
    "hello (mod)": ("'hello'", 0),
    '"hello"': ("'hello'", 0),
    "(mod (A)\n (f A)": ("never closed", 0),
    "(mod (A) A))": ("closes nothing", 11),
    "(mod (A) A) tail": ("behind the end", 12),
    "(mod (A) A) (mod (B) B)": ("behind the end", 12),
    '(mod (A) "open)': ("no end", 9),
    "(" * (DEEPEST + 1) + ")" * (DEEPEST + 1): ("nested deeper", DEEPEST),
    "(" * 100_000: ("nested deeper", DEEPEST),
}


@pytest.mark.parametrize("text", BAD_FORMS, ids=range(len(BAD_FORMS)))
def test_incomplete_forms_are_refused(text: str) -> None:
    reason, at = BAD_FORMS[text]
    with pytest.raises(BadForm, match=reason) as caught:
        chialisp.check(text)
    assert caught.value.at == at


PLACES: dict[str, tuple[str | bytes, dict[str, str], str]] = {
    "an unknown function": (
        f"(mod (A)\n  {STANDARD}\n  (frob A))",
        {},
        "a.clsp: line 3, column 4: no such callable 'frob'",
    ),
    "a number that is none": (
        "(mod (A)\n  (+ A\n  0xfffg))",
        {},
        "a.clsp: line 3, column 3: does not compile: Invalid character 'g'",
    ),
    "a reason without a place": ("\n(mod)", {}, "a.clsp: line 2, column 1: does not compile: "),
    "an old dialect": ("(mod (A)\n  (frob A 1))", {}, "a.clsp: line 2, column 4: "),
    "in an include": (
        f"(mod (A)\n  {STANDARD} (include lib.clinc)\n  (f A))",
        {"lib_clinc": "(\n  (defun f (X) (+ X Y))\n)"},
        "lib.clinc: line 2, column 21: Unbound use of Y",
    ),
    "an include that is not there": (
        f"(mod (A)\n  {STANDARD}\n  (include gone.clinc)\n  (+ A 1))",
        {},
        "a.clsp: line 3, column 12: there is no file gone.clinc to include",
    ),
    "an include of an include that is not there": (
        f"(mod (A)\n  {STANDARD}\n  (include lib.clinc)\n  (+ A 1))",
        {"lib_clinc": "(\n\n  (include gone.clinc)\n)"},
        "lib.clinc: line 3, column 12: there is no file gone.clinc to include",
    ),
    "prose as an include": (
        f"(mod (A)\n  {STANDARD}\n  (include lib.clinc)\n  (+ A 1))",
        {"lib_clinc": "\nThis is a library."},
        "a.clsp: line 3, column 12: includes ",
    ),
    "a device": (
        f"(mod (A)\n  (embed-file K bin /dev/zero)\n  {STANDARD} K)",
        {},
        "a.clsp: line 2, column 21: names /dev/zero: a device, not a file",
    ),
    "itself": (f"(mod (A) {STANDARD} (include a.clsp) (+ A 1))", {}, "a.clsp includes a.clsp"),
    "not UTF-8": (
        "(mod (A)\n ; caf\xe9\n A)".encode("latin-1"),
        {},
        "line 2, column 7: not a text",
    ),
    "an atom": (f"(mod A {STANDARD} A)", {}, "no program, but the atom 0x01"),
    "a constant": ("(mod (A) 5)", {}, "a constant"),
}


@pytest.mark.parametrize("kind", PLACES)
def test_a_bad_source_is_named_with_the_place(kind: str, tmp_path: Path) -> None:
    text, others, said = PLACES[kind]
    with pytest.raises(UsageError) as caught:
        compiled(tmp_path, text, **others)
    assert said in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_a_macro_that_needs_all_memory_is_an_error(tmp_path: Path) -> None:
    endless = "(defmac f (X) (qq (f (unquote X))))"
    with pytest.raises(UsageError, match="the compiler crashed: it needs too much memory"):
        compiled(tmp_path, f"(mod (A) {STANDARD} {endless} (f A))")


def test_a_macro_that_never_ends_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its second of processor time may take minutes on a busy machine.
    monkeypatch.setattr("channelsim.clsp.compile_process._PATIENCE", 300)
    path = tmp_path / "a.clsp"
    path.write_text("(mod (A) (defmacro f (X) (qq (f (unquote X)))) (f A))")
    with pytest.raises(CompileError, match="needs more than 1 s:"):
        compile_source(path, seconds=1)


HEX = {
    "ff10ff02ff8201": "ends too early",
    "ff10ff02ff0180zz": "line 1, column 15: 'z' is not a hex digit",
    "ff10ff02ff01\n80 \n8": "odd number",
    "ff10ff02ff010180ff": "bytes after the value's end",
    "80": "the atom ()",
    "8568656c6c6f": "the atom 0x68656c6c6f",
    "ff0105": "a constant",
    "": "is empty",
    "fe01": "not a CLVM program in hex",
}


@pytest.mark.parametrize("text", HEX)
def test_a_bad_program_in_hex(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.hex"
    path.write_text(text)
    with pytest.raises(UsageError, match=re.escape(HEX[text])):
        Sources({"a": path}, ()).compile()


WORDS = "mod A include defun f x 1 q defmac qq unquote if lambda @ . &rest 0x ' assign let"
FORMS = st.recursive(
    st.sampled_from([*WORDS.split(), '"s"', STANDARD]),
    lambda inner: st.lists(inner, max_size=5).map(lambda parts: f"({' '.join(parts)})"),
    max_leaves=20,
)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(FORMS.map(str.encode), FORMS.map(lambda form: f"(mod (A) {form})".encode())))
def test_a_wrong_source_is_the_one_error(
    tmp_path_factory: pytest.TempPathFactory, text: bytes
) -> None:
    folder = tmp_path_factory.mktemp("sources")
    said = ""
    try:
        assert compiled(folder, text)
    except UsageError as error:
        said = str(error)
    assert not said or str(folder) in said
    assert said.isprintable()
