"""Somebody's sources: what is no Chialisp is refused, and no source harms who compiles it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from channel.errors import UsageError
from channel.lab import chialisp
from channel.lab.chialisp import DEEPEST
from channel.lab.compiling import compile_apart
from channel.lab.sources import Sources
from clsp.build import SOURCE
from clsp.compiler import compile_source

STANDARD = "(include *standard-cl-23*)"


def compiled(folder: Path, text: str | bytes, **others: str) -> bytes:
    """What a source compiles to, beside files of other names (with `_` for the dot)."""
    data = text if isinstance(text, bytes) else text.encode()
    (folder / "a.clsp").write_bytes(data)
    for name, other in others.items():
        (folder / name.replace("_", ".")).write_text(other)
    return Sources({"a": folder / "a.clsp"}, ()).compile()["a"].program.serialized


def test_our_own_sources_compile_apart_as_they_do_here() -> None:
    for name in ("calpoker/a", "spacepoker/commitB"):
        here, apart = compile_source(SOURCE / f"{name}.clsp"), compile_apart(_own(name), [])
        assert (here.program, here.symbols) == (apart.program, apart.symbols)


def _own(name: str) -> Path:
    return SOURCE / f"{name}.clsp"


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


BAD_WORDS = "mod A include defun f x 1 q defmac qq unquote if lambda @ . &rest 0x ' assign let"
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
