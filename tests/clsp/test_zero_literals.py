"""Literals of zero bytes that become `()`: as warned of, and nowhere else."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from channelsim.clsp.compiler import compile_source
from channelsim.clsp.run import evaluate
from channelsim.clsp.values import to_list
from channelsim.clsp.zero_literals import lost_zeros
from tests.sampling import one_in

DIALECTS = {
    "classic": "(mod (x)\n {macro}\n {body})",
    "21": "(mod (x) (include *standard-cl-21*)\n {macro}\n {body})",
    "22": "(mod (x) (include *standard-cl-22*)\n {macro}\n {body})",
    "23": "(mod (x) (include *standard-cl-23*)\n {macro}\n {body})",
    "23.1": "(mod (x) (include *standard-cl-23.1*)\n {macro}\n {body})",
    "24": "(mod (x) (include *standard-cl-24*)\n {macro}\n {body})",
    "module": "(include *standard-cl-23*)\n {macro}\n (export (x) {body})",
}
FORMS = {
    "in a test": ("", "(if (= (strlen 0x00) 1) 1 ())", "23"),
    "in a branch": ("", "(if x (strlen 0x00) 5)", "23"),
    "two bytes": ("", "(if x (strlen 0x0000) 5)", "23"),
    "quoted": ("", "(if x (strlen (q . 0x00)) 5)", "23"),
    "in a list": ("", "(strlen (f (list 0x00)))", "23"),
    "outside": ("", "(strlen 0x00)", ""),
    "a constant": ("(defconstant ZERO 0x00)", "(if x (strlen ZERO) 5)", ""),
    "in a function": ("(defun g (y) (strlen 0x00))", "(if x (g x) 5)", ""),
    "in another function's test": ("(defun g (y) (if y (strlen 0x00) 5))", "(g x)", "21 22 23"),
    "with more bytes": ("", "(if x (strlen 0x0001) 5)", ""),
    "a macro's argument": (
        "(defmac m (X) (qq (+ 0 (unquote X))))",
        "(m (strlen 0x00))",
        "21 22 23",
    ),
}


@pytest.mark.parametrize("case", one_in(6, list(product(FORMS, DIALECTS))), ids=" in ".join)
def test_a_zero_byte_is_lost_where_it_is_warned_of(case: tuple[str, str], tmp_path: Path) -> None:
    form, dialect = case
    macro, body, lost_in = FORMS[form]
    if dialect == "classic" and "defmac" in macro:
        macro = macro.replace("defmac", "defmacro")
    lost = dialect in lost_in.split()
    path = tmp_path / "a.clsp"
    path.write_text(DIALECTS[dialect].format(macro=macro, body=body))
    result = evaluate(compile_source(path), to_list([b"\x05"]))
    assert (result == b"") == lost
    lines = [line for _, line in lost_zeros({path: path.read_text()})]
    expected = 2 if macro.startswith("(defun") else 3
    assert lines == ([expected] if lost else [])
