"""Hooks of mkdocs: links out of docs/, Chialisp in colours, commands to copy, and the glossary.

They need nothing but the standard library and Pygments, so that the tests can call them.
"""

from __future__ import annotations

import re
from html import escape, unescape
from posixpath import relpath
from typing import Any

import pygments.lexers
from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

GLOSSARY = "glossary.md"

EVERYDAY = {
    *("action", "case", "claim", "deck", "effect", "event", "game", "hand", "law", "lock"),
    *("memory", "move", "opening", "player", "redo", "rule", "seat", "share", "site", "stack"),
    *("state", "target", "timeout", "unit", "verdict", "weather", "worker"),
}
"""Terms that are words of every day as well: they are not linked."""

NOT_LINKED = re.compile(
    r"<(pre|code|a|h[1-6]|th|script|style|summary|button)\b.*?</\1>|<[^>]*>", re.DOTALL
)
"""The parts of a page in which no word becomes a link."""


class ChialispLexer(RegexLexer):
    """Chialisp for Pygments: forms, operators, numbers, text and comments."""

    name = "Chialisp"
    aliases = ["chialisp", "clsp"]  # noqa: RUF012 (Pygments reads a list)
    tokens = {  # noqa: RUF012
        "root": [
            (r";.*?$", Comment.Single),
            (r"\s+", Text.Whitespace),
            (r'"[^"]*"', String.Double),
            (r"0[xX][0-9a-fA-F]*|-?\d+(?![^\s()])", Number),
            (
                words(
                    (
                        *("mod", "include", "import", "export", "embed-file", "compile-file"),
                        *("defun", "defun-inline", "defmac", "defmacro", "defconst"),
                        *("defconstant", "let", "let*", "assign", "assign-inline", "lambda"),
                        *("if", "qq", "unquote", "list", "all", "any", "not", "and", "or"),
                    ),
                    prefix=r"(?<=\()",
                    suffix=r"(?=[\s()])",
                ),
                Keyword,
            ),
            (
                words(
                    (
                        *("sha256", "sha256tree", "concat", "substr", "strlen", "logand"),
                        *("logior", "logxor", "lognot", "ash", "lsh", "divmod", "modpow"),
                        *("point_add", "pubkey_for_exp", "coinid", "bls_verify", "a", "c", "f"),
                        *("r", "l", "x", "i", "q"),
                    ),
                    prefix=r"(?<=\()",
                    suffix=r"(?=[\s()])",
                ),
                Name.Builtin,
            ),
            (r"(?<=\()[-+*/=><][s=]?(?=[\s()])|@", Operator),
            (r"\*[\w.-]+\*", Name.Namespace),
            (r"[()]", Punctuation),
            (r"\.(?=\s)", Punctuation),
            (r"[^\s()\";@]+", Name),
        ]
    }


def _register() -> None:
    """Let Pygments find the lexer by its names."""
    found = (__name__, ChialispLexer.name, tuple(ChialispLexer.aliases), ("*.clsp",), ())
    pygments.lexers.LEXERS["ChialispLexer"] = found
    pygments.lexers._lexer_cache[ChialispLexer.name] = ChialispLexer  # type: ignore[attr-defined] # noqa: SLF001


_register()
_terms: dict[str, str] = {}
"""The terms of the glossary in small letters, with their anchors."""


def on_files(files: Any, **_: Any) -> Any:
    """Read the terms of the glossary before the first page is made."""
    _terms.update(terms(files.get_file_from_path(GLOSSARY).content_string))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page without links to source files, which work on a code host only."""
    return re.sub(
        r"\[([^\]]+)\]\((?:\.\./)+(?!spec/|reference/)[\w/.-]+\.(?:py|clsp|toml)(?:#\w+)?\)",
        r"\1",
        markdown,
    )


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """The page with commands that can be copied, and words that lead to the glossary."""
    if page.file.src_uri == GLOSSARY:
        return with_anchors(html)
    html = with_commands_to_copy(html)
    if page.file.src_uri.startswith("reference/"):
        return html
    return with_terms(html, _terms, relpath("glossary/", page.url or "."))


def terms(glossary: str) -> dict[str, str]:
    """The terms of a glossary in Markdown, with their anchors.

    >>> terms("- **peer**: one side.\\n- **Alice**, **state number**: the others.")
    {'peer': 'peer', 'alice': 'alice', 'state number': 'state-number'}
    """
    entries = re.findall(r"^- (\*\*.+?\*\*(?:, \*\*.+?\*\*)*):", glossary, re.M)
    found = [term for entry in entries for term in re.findall(r"\*\*(.+?)\*\*", entry)]
    return {term.lower(): _anchor(term) for term in found}


def _anchor(term: str) -> str:
    return re.sub(r"[^\w]+", "-", term.lower()).strip("-")


def with_anchors(html: str) -> str:
    """A glossary whose terms can be linked to."""

    def entry(found: re.Match[str]) -> str:
        """An entry with an anchor for each of its terms."""
        marked = re.sub(
            r"<strong>(.+?)</strong>",
            lambda term: f'<strong id="{_anchor(unescape(term[1]))}">{term[1]}</strong>',
            found[1],
        )
        return f"<li>{marked}:"

    return re.sub(r"<li>((?:<strong>.+?</strong>(?:, )?)+):", entry, html)


def with_commands_to_copy(html: str) -> str:
    """A page whose copy buttons take the commands of a console, without prompts and output."""

    def block(found: re.Match[str]) -> str:
        """A block with its commands as an attribute, where the theme looks for it."""
        copied = commands(unescape(re.sub(r"<[^>]*>", "", found[2])))
        return f'{found[1]} data-copy="{escape(copied)}">{found[2]}' if copied else found[0]

    blocks = r'(<div class="language-console highlight")>(.*?)(?=</div>)'
    return re.sub(blocks, block, html, flags=re.DOTALL)


def commands(console: str) -> str:
    """The commands in the text of a console, one a line.

    >>> commands("$ cd here\\n$ make \\\\\\n    all\\nmade\\n")
    'cd here\\nmake \\\\\\n    all'
    """
    taken: list[str] = []
    goes_on = False
    for line in console.splitlines():
        if goes_on or line.startswith("$ "):
            taken.append(line if goes_on else line[2:])
            goes_on = line.endswith("\\")
    return "\n".join(taken)


def with_terms(html: str, known: dict[str, str], glossary: str) -> str:
    """A page on which the first use of each term leads to the glossary."""
    left = {term: anchor for term, anchor in known.items() if term not in EVERYDAY}
    longest_first = "|".join(sorted(map(re.escape, left), key=len, reverse=True))
    if not left:
        return html
    word = re.compile(rf"\b({longest_first})(s?)\b", re.IGNORECASE)

    def link(found: re.Match[str]) -> str:
        """The word as a link, if it is the first of its term."""
        anchor = left.pop(found[1].lower(), None)
        return found[0] if anchor is None else f'<a href="{glossary}#{anchor}">{found[0]}</a>'

    parts, end = [], 0
    for kept in NOT_LINKED.finditer(html):
        parts += [word.sub(link, html[end : kept.start()]), kept[0]]
        end = kept.end()
    return "".join([*parts, word.sub(link, html[end:])])
