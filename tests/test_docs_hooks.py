"""The hooks of the handbook: what can be copied, what has colours, what leads to the glossary."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from pygments import highlight  # type: ignore[import-untyped]
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]

from tests.markdown import DOCS, blocks, read
from tests.paths import ROOT


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_hooks", ROOT / "scripts/docs_hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["docs_hooks"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def console(text: str) -> str:
    """A console of a page, as the theme writes it."""
    body = highlight(text, get_lexer_by_name("console"), HtmlFormatter(nowrap=True))
    return f'<div class="language-console highlight"><pre><code>{body}</code></pre></div>'


def test_a_copy_has_commands_without_prompt_and_output(hooks: ModuleType) -> None:
    shown = hooks.with_commands_to_copy(
        console("$ cat 'a<b' \\\n    --more \"x\"\nout $ 1\n$ ls  # here\n")
        + console("no command\n")
    )
    assert shown.count("data-copy") == 1
    assert 'data-copy="cat &#x27;a&lt;b&#x27; \\\n    --more &quot;x&quot;\nls  # here">' in shown


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_each_command_of_the_handbook_can_be_copied(hooks: ModuleType, page: Path) -> None:
    for block in blocks(page):
        if block.language == "console":
            commands = hooks.commands(block.text).splitlines()
            assert commands
            assert not any(line.startswith("$") for line in commands)


def test_chialisp_has_colours_and_no_errors(hooks: ModuleType) -> None:
    assert hooks.ChialispLexer.aliases == ["chialisp", "clsp"]
    for source in (ROOT / "clsp" / "source").rglob("*.clsp"):
        text = source.read_text("utf-8")
        tokens = list(get_lexer_by_name("chialisp").get_tokens(text))
        assert not [value for kind, value in tokens if "Error" in str(kind)], source
        assert "".join(value for _, value in tokens).strip() == text.strip()
    kinds = {
        str(kind) for kind, _ in get_lexer_by_name("clsp").get_tokens('(if (= a 0x01) "b" c) ; d')
    }
    assert {f"Token.{kind}" for kind in ("Keyword", "Operator", "Comment.Single")} <= kinds


def test_the_first_use_of_a_term_leads_to_the_glossary(hooks: ModuleType) -> None:
    known = {"unroll coin": "unroll-coin", "coin": "coin", "state": "state", "mojo": "mojo"}
    html = (
        "<h2>Mojo</h2><p><code>mojo</code> Unroll coins and <a>mojo</a> a coin; mojos, mojos,"
        " and the unroll coin of a state. Commojos</p>"
    )
    assert hooks.with_terms(html, known, "../glossary/") == (
        '<h2>Mojo</h2><p><code>mojo</code> <a href="../glossary/#unroll-coin">Unroll coins</a> and'
        ' <a>mojo</a> a <a href="../glossary/#coin">coin</a>;'
        ' <a href="../glossary/#mojo">mojos</a>, mojos, and the unroll coin of a state.'
        " Commojos</p>"
    )


def test_every_term_of_the_glossary_has_an_anchor(hooks: ModuleType) -> None:
    terms = hooks.terms(read(ROOT / "docs" / "glossary.md"))
    assert len(terms) > 90
    assert hooks.EVERYDAY - terms.keys() == set(), "no word is left out that is no term"
    entry = "<li><strong>Alice</strong>, <strong>half-signature</strong>: <strong>x</strong></li>"
    assert hooks.with_anchors(entry) == (
        '<li><strong id="alice">Alice</strong>, <strong id="half-signature">half-signature'
        "</strong>: <strong>x</strong></li>"
    )
    page = SimpleNamespace(file=SimpleNamespace(src_uri="glossary.md"), url="glossary/")
    assert hooks.on_page_content(entry, page) == hooks.with_anchors(entry)
