"""The page of rules: each rule with its sentence, its code, and the vectors that break it.

Everything on the page is read from the code and from the conformance vectors of the repository.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from channelsim.channel.adversaries.registry import names
from channelsim.channel.adversaries.rules.breaker import name_of
from channelsim.channel.protocol.rules import DUTIES
from channelsim.channel.protocol.rules import RULES as CHANNEL_RULES
from channelsim.games import registry
from channelsim.games.contract import Game, Raise, Slash
from channelsim.games.judge import hashes_of
from channelsim.games.referee import RULES as REFEREE_RULES
from channelsim.games.vectors import read, verdict
from scripts.tools import ROOT, VECTORS, table
from scripts.tools.attack_faults.table import faults

ID = re.compile(r"\b(?:CH|REF|[A-Z]{2,})-[A-Z]+-\d+\b")

_CHECKED_IN = ("crypto", "protocol", "peer", "session")
"""The packages of `channel` in which rules of the channel are checked, and duties done."""

_MONITORED_IN = ("simulation/model", "simulation/promises")
"""The packages of `channel` that see duties of one's own side broken."""

_EXAMPLES = 2

_LONGEST = 140
"""Longer code is cut."""

_HEAD = """# Rules

Each rule has an id, which Python verdicts, violations, and comments in the Chialisp sources share.
For each rule of a game this page shows the test that decides it, in Python (a move that passes the
test breaks the rule) and in Chialisp (a move that passes it keeps the rule), and the number of
conformance vectors in `tests/data/vectors` that break it, with examples. For each rule of the
channel it shows the functions that check it, and the adversary that breaks it (`channelsim dispute
run NAME`). No message breaks a duty of one's own side: for each the page shows the functions that
do it, the monitors that see it broken, and the faults (`python -m scripts.tools.attack_faults
NAME`) that break it.

`python -m scripts.tools` writes this page.
"""


@dataclass(frozen=True)
class Mention:
    """A mention of a rule in a source: its line and code, and the function around it, if any."""

    rule: str
    path: Path
    line: int
    code: str
    function: str = ""


Column = Callable[[str], str]
"""The cell of a rule."""


def page() -> str:
    """The page, as Markdown."""
    checked = list(_in_all(python_places, _files(_CHECKED_IN)))
    referee = [ROOT / "games" / f"{name}.py" for name in ("referee", "referee_paths")]
    sections = [
        *map(_family, registry.families()),
        _section(
            "The referee (game coin)",
            REFEREE_RULES,
            {
                "Python": _column(_in_all(python_places, referee), _code),
                "Chialisp": _column(chialisp_places(_source("channel/referee")), _code),
            },
        ),
        _section(
            "The channel",
            CHANNEL_RULES,
            {
                "Checked in": _column(checked, _function),
                "Adversary": lambda rule: f"`{name_of(rule)}`" if name_of(rule) in names() else "",
            },
        ),
        _section(
            "Duties of one's own side",
            DUTIES,
            {
                "Done in": _column(checked, _function),
                "Monitored in": _column(_in_all(python_places, _files(_MONITORED_IN)), _function),
                "Planted faults": lambda rule: "<br>".join(
                    f"`{fault.name}`" for fault in faults() if rule == fault.about
                ),
            },
        ),
    ]
    return "\n".join((_HEAD, *sections))


def _files(packages: Iterable[str]) -> list[Path]:
    """The Python files of these packages of `channel`, but the list of rules."""
    return [
        path
        for package in packages
        for path in sorted((ROOT / "channel" / package).rglob("*.py"))
        if path != ROOT / "channel" / "protocol" / "rules.py"
    ]


def python_places(path: Path) -> Iterator[Mention]:
    """The places where a Python file names a rule: the innermost `if` around it, or its own line.

    Keys of dictionaries and docstrings do not count.
    """
    text = path.read_text("utf-8")
    lines = text.splitlines()

    def visit(node: ast.AST, test: ast.If | None, function: str) -> Iterator[Mention]:
        """The mentions below a node."""
        children = list(ast.iter_child_nodes(node))
        match node:
            case ast.Expr(value=ast.Constant()):
                return
            case ast.Dict(values=values):
                children = list(values)
            case ast.FunctionDef(name=name):
                function, test = name, None
            case ast.If():
                yield from visit(node.test, test, function)
                for statement in node.body:
                    yield from visit(statement, node, function)
                children = list(node.orelse)
            case ast.Constant(value=str(value)):
                line = test.lineno if test else node.lineno
                code = f"if {ast.unparse(test.test)}" if test else lines[line - 1].strip()
                for rule in ID.findall(value):
                    yield Mention(rule, path, line, code, function)
        for child in children:
            yield from visit(child, test, function)

    yield from visit(ast.parse(text), None, "")
    yield from _in_comments(path, text, "#")


def chialisp_places(path: Path) -> Iterator[Mention]:
    """The places where a Chialisp file names a rule in a comment, and the code from there."""
    return _in_comments(path, path.read_text("utf-8"), ";")


def _in_all(
    places: Callable[[Path], Iterator[Mention]], paths: Iterable[Path]
) -> Iterator[Mention]:
    """The places in all of these files."""
    return chain.from_iterable(map(places, paths))


def _in_comments(path: Path, text: str, sign: str) -> Iterator[Mention]:
    lines = [line.partition(f" {sign} ") for line in text.splitlines()]
    for number, (_, _, comment) in enumerate(lines, 1):
        for rule in ID.findall(comment):
            code = _expression(code for code, _, _ in lines[number - 1 :])
            yield Mention(rule, path, number, code)


def _expression(lines: Iterable[str]) -> str:
    """The code from the first line on, until its parentheses are closed, in one line.

    >>> _expression(["  (>   ", "    (f a)", "    b", "  )", ")"])
    '(> (f a) b)'
    """
    code = ""
    for line in lines:
        code = f"{code} {' '.join(line.split())}".strip()
        if code.count("(") <= code.count(")"):
            break
    code = code.replace(" )", ")")
    return code if len(code) <= _LONGEST else f"{code[:_LONGEST]}…"


def breaking_vectors(game: Game) -> Iterator[tuple[str, str]]:
    """The rules that stored vectors of a game break, each with the id of the vector."""
    hashes = hashes_of(game)
    with (VECTORS / f"{game.name}.jsonl").open("rb") as lines:
        for case in read(lines):
            ruling = verdict(case, game, hashes)
            if isinstance(ruling, Slash | Raise):
                yield ruling.rule, case.id


# --- the sections --------------------------------------------------------------------------------


def _family(games: tuple[Game, ...]) -> str:
    first = games[0]
    judges = [validator.judge for validator in registry.validators_of(games).values()]
    terms = first.terms.func if isinstance(first.terms, partial) else first.terms
    files = {Path(inspect.getfile(judge)) for judge in (*judges, terms)}
    programs = [_source(f"{first.family}/{name}") for name in registry.validators_of(games)]
    breaking = [vector for game in games for vector in breaking_vectors(game)]
    columns = {
        "Python": _column(_in_all(python_places, sorted(files)), _code),
        "Chialisp": _column(_in_all(chialisp_places, programs), _code),
        "Vectors": lambda rule: _count([case for broken, case in breaking if broken == rule]),
    }
    title = ", ".join(game.title.partition(":")[0] for game in games)
    rules = {rule: text for game in games for rule, text in game.rules.items()}
    return _section(title, rules, columns)


def _source(name: str) -> Path:
    return ROOT / "clsp" / "source" / f"{name}.clsp"


def _column(places: Iterable[Mention], cell: Callable[[Mention], str]) -> Column:
    mentions = list(places)
    return lambda rule: "<br>".join(
        dict.fromkeys(cell(mention) for mention in mentions if mention.rule == rule)
    )


def _code(place: Mention) -> str:
    return f"{_link(place, f':{place.line}', f'#L{place.line}')} `{place.code}`"


def _function(place: Mention) -> str:
    return _link(place, f" {place.function}".rstrip())


def _link(place: Mention, shown: str, anchor: str = "") -> str:
    path = place.path.resolve().relative_to(ROOT).as_posix()
    return f"[{place.path.name}{shown}](../{path}{anchor})"


def _count(cases: Sequence[str]) -> str:
    return f"{len(cases)}: {', '.join(f'`{case}`' for case in cases[:_EXAMPLES])}" if cases else ""


def _section(title: str, rules: Mapping[str, str], columns: Mapping[str, Column]) -> str:
    rows = (
        (f"`{rule}`", text, *(column(rule) for column in columns.values()))
        for rule, text in rules.items()
    )
    return f"## {title}\n\n{table(('id', 'rule', *columns), rows)}\n"
