"""The page of endings has every line with which a peer can end, and no other.

The lines are read from the code: the messages of all errors that are raised where a peer runs, what
is printed at its end, and the texts of its news. A new one needs a row on the page.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import get_args

import pytest

from channelsim.channel import cli
from channelsim.channel.chain.coins import Coin
from channelsim.channel.errors import Blame
from channelsim.channel.peer import chain_news, interface
from channelsim.channel.peer.chain_news import (
    ChannelClosed,
    ChannelSettled,
    LeftForChain,
    UnilateralClose,
)
from channelsim.channel.peer.interface import BrokenOff, News, OldCopy, OpeningFailed, OwnFault
from channelsim.channel.peer.peer_state import Phase
from channelsim.channel.peer_text.news_text import news_text
from channelsim.channel.watch.watcher import Step
from tests.markdown import read
from tests.paths import ROOT

GAP = "…"
"""What stands for anything in a line."""

PLACES = (
    "channel/store",
    "channel/network",
    "channel/watch",
    "channel/chain/rpc_server.py",
    "channel/chain/full_node.py",
    "channel/chain/rpc.py",
    "channel/chain/several_nodes.py",
    "channel/cli/__init__.py",
    "channel/cli/commands/close.py",
    "channel/cli/commands/close.py",
    "channel/cli/commands/peer",
    "channel/cli/commands/recover.py",
    "channel/cli/conflicts.py",
    "channel/cli/work/watch.py",
    "channel/peer_text/last_lines.py",
    "channel/session/fee_maxima.py",
    "channel/cli/endings.py",
    "channel/cli/new_channel.py",
    "channel/cli/nodes.py",
    "channel/cli/peers.py",
    "channel/cli/prompt.py",
    "channel/cli/running.py",
    "channel/cli/secret_files.py",
    "channel/system/durable_files.py",
    "channel/system/input_files.py",
    "channel/system/line_log.py",
    "channelsim/plugins.py",
    "channelsim/watchdog.py",
)
"""Where a peer's process raises errors with a text of their own, and prints."""

ELSEWHERE = (
    *("channel/store/store_copy.py", "channel/attack/failing_node.py"),
    "channel/attack/rpc_node.py",
)
"""Modules with errors of stores or nodes that no peer runs: `channels` reads a copy, and `attack`
lets its node fail."""

UNUSED = ("read_text", "decoded")
"""Functions of these modules that no peer calls: they read files of text."""

ERRORS = (
    *("StoreError", "NodeError", "UsageError", "WrongAnswer"),
    *("complain", "_complain", "look_failed", "_leave"),
)
"""Calls whose first argument is a line on stderr."""

TEXTS = ("_remedy", "unwritable", "_failure", "notice_text")
"""Functions that return a part of a line, or a line."""

NOTICES = ("publishing_notice",)
"""Functions that return what is printed on stderr."""


def sources(*places: str) -> Iterator[Path]:
    for place in places:
        path = ROOT / place
        found = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        yield from (one for one in found if str(one.relative_to(ROOT)) not in ELSEWHERE)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def called(call: ast.Call) -> str:
    """The name of what a call calls."""
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


@cache
def returned(function: str) -> tuple[str, ...]:
    """The texts that a function of these places returns."""
    found = [
        text
        for path in sources(*PLACES)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef) and node.name == function
        for part in ast.walk(node)
        if isinstance(part, ast.Return) and part.value is not None
        for text in texts(part.value)
    ]
    assert found, function
    return tuple(found)


def texts(node: ast.AST) -> list[str]:
    """What an expression can say; a gap stands for all that is not written in it."""
    match node:
        case ast.Constant(str(text)):
            return [text]
        case ast.FormattedValue(value):
            return texts(value)
        case ast.JoinedStr(values):
            return ["".join(parts) for parts in product(*map(texts, values))]
        case ast.IfExp(_, body, other):
            return [*texts(body), *texts(other)]
        case ast.Call() if called(node) in TEXTS:
            return list(returned(called(node)))
        case _:
            return [GAP]


def lines_of_errors() -> set[str]:
    """The messages of the errors, and what is printed on stderr."""
    found = set()
    for path in sources(*PLACES):
        unused = {
            id(part)
            for node in ast.walk(tree(path))
            if isinstance(node, ast.FunctionDef) and node.name in UNUSED
            for part in ast.walk(node)
        }
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call) and called(node) in ERRORS and node.args:
                found |= set(texts(node.args[0])) if id(node) not in unused else set()
    found |= {text for function in NOTICES for text in returned(function)}
    return {line for line in map(plain, found) if re.search(r"\w\w", line)}


def plain(line: str) -> str:
    """A line with single blanks and gaps."""
    return re.sub(rf"{GAP}+", GAP, " ".join(line.split()))


def last_lines() -> set[str]:
    """The lines that `peer`, `close` and `recover` print at their end."""
    ends = {
        text
        for node in ast.walk(tree(ROOT / "channel" / "peer_text" / "last_lines.py"))
        if isinstance(node, ast.Call) and called(node) == "End"
        for text in texts(node.args[0])
    }
    interrupted = {
        text
        for node in ast.walk(tree(ROOT / "channel" / "cli" / "running.py"))
        if isinstance(node, ast.Call) and called(node) == "add" and len(node.args) > 1
        if isinstance(node.args[0], ast.Constant) and node.args[0].value == "Interrupted"
        for text in texts(node.args[1])
    }
    found = ends | interrupted
    assert len(ends) > 2
    assert interrupted
    phases = {phase.value for phase in (Phase.CLOSED, Phase.FAILED)}
    return {
        *map(plain, found),
        *phases,
        f"{Phase.CLOSED.value}; balances Initiator 1, Receiver 2",
    } - {GAP}


def reasons() -> set[str]:
    """The reasons for which a peer goes on chain."""
    found = set()
    for path in sources("channel/peer", "channel/session", "channel/cli/commands"):
        named: dict[str, str] = {}
        for node in ast.walk(tree(path)):
            match node:
                case ast.Assign([ast.Name(name)], ast.Constant(str(text))):
                    named[name] = text
                case ast.ClassDef(name="GoOnChain", body=body):
                    defaults = [one.value for one in body if isinstance(one, ast.AnnAssign)]
                    found |= {one.value for one in defaults if isinstance(one, ast.Constant)}
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call) and called(node) in ("leave", "GoOnChain", "end_channel"):
                for argument in node.args:
                    for part in ast.walk(argument):
                        match part:
                            case ast.Constant(str(text)):
                                found.add(text)
                            case ast.Name(name) if name in named:
                                found.add(named[name])
    return {one for one in found if isinstance(one, str)}


COIN = Coin(bytes(32), bytes(32), 1)
BLAME = Blame("ben", "play", "CH-BATCH-2", "number 5")
ENDS: tuple[News, ...] = (
    BrokenOff(BLAME, 3),
    BrokenOff(BLAME, None),
    OwnFault("InvariantError: planted", 3),
    OwnFault("InvariantError: planted", None),
    LeftForChain("the reason", 3),
    UnilateralClose(9),
    OldCopy(5, 3),
    OpeningFailed(20),
    ChannelSettled(3, 100, 200),
    ChannelClosed((COIN, COIN), 9),
)
"""News that play, or the channel, ends."""

GOES_ON = {
    *(interface.FundingSent, interface.ChannelOpen, interface.Proposed, interface.Cancelled),
    *(interface.NotProposed, interface.GameStarted, interface.YourTurn, interface.Acted),
    *(interface.Moved, interface.GameSettled, interface.SawCards, interface.Ignored),
    *(interface.DeckReady, interface.DeckBurnt, interface.DecksUsedUp, interface.NearLimit),
    *(interface.ShutdownStarted, interface.SpendDropped, interface.FeeTooLow),
    *(chain_news.UnrollSeen, chain_news.UnknownSpend, chain_news.UnknownGame),
    *(chain_news.StateCounts, chain_news.MovedOnChain, chain_news.IllegalOnChain),
    *(chain_news.RevealAtRisk, chain_news.GamePaid, chain_news.Forfeited, chain_news.GameVoid),
    *(chain_news.GameEnded, chain_news.Undone),
}
"""Kinds of news with which neither ends."""

FINAL = {
    Step.PAID: f"{Step.PAID.value}: state 3, and the newest is 3",
    Step.SHUT: Step.SHUT.value,
    Step.UNKNOWN: Step.UNKNOWN.value,
}
"""The last steps that a watcher sees, as it prints them."""


def expected() -> set[str]:
    """Every line of the code."""
    news = {news_text(one, 0) for one in ENDS}
    return lines_of_errors() | last_lines() | reasons() | news | set(FINAL.values())


@cache
def rows() -> tuple[str, ...]:
    """The lines in the first column of the page's tables."""
    span = re.compile(r"^\| (?:``(?P<double>.+?)``|`(?P<single>[^`]+)`) \|", re.M)
    page = read(ROOT / "docs" / "endings.md")
    return tuple((one["double"] or one["single"]).strip() for one in span.finditer(page))


def matches(row: str, line: str) -> bool:
    """True if a row is of this line."""
    return re.fullmatch(".*".join(map(re.escape, row.split(GAP))), line) is not None


def test_every_line_of_the_code_has_a_row() -> None:
    lines = [line for line in expected() if not line.startswith("--")]
    assert len(lines) > 70
    assert sorted(line for line in lines if not any(matches(row, line) for row in rows())) == []


def test_every_row_is_of_a_line_of_the_code() -> None:
    found = expected()
    assert sorted(row for row in rows() if not any(matches(row, line) for line in found)) == []
    assert len(set(rows())) == len(rows())


def test_no_row_is_of_any_line() -> None:
    assert [row for row in rows() if len(re.findall(r"\w", row)) < 6] == []


def test_every_place_that_raises_errors_of_stores_or_nodes_is_read() -> None:
    known = {*sources(*PLACES), *(ROOT / one for one in ELSEWHERE)}
    raising = {
        path
        for path in sources("channel")
        if re.search(r"(Store|Node)Error\(", path.read_text(encoding="utf-8"))
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and called(node) in ("StoreError", "NodeError")
    }
    assert raising - known == set()


def test_every_kind_of_news_is_an_end_or_not() -> None:
    kinds = set(get_args(News)) | set(get_args(chain_news.ChainNews))
    ends = {type(one) for one in ENDS}
    assert {kind for kind in kinds if isinstance(kind, type)} == ends | GOES_ON
    assert not ends & GOES_ON


def test_a_watcher_ends_with_the_last_steps() -> None:
    assert set(Step) - set(FINAL) == {Step.ABSENT, Step.OPEN, Step.STALE, Step.PUBLISHED}


@pytest.mark.parametrize("code", [0, cli.FAILED, cli.USAGE, cli.INTERNAL, 130])
def test_every_exit_code_has_a_row(code: int) -> None:
    assert re.search(rf"^\| {code}\b", read(ROOT / "docs" / "endings.md"), re.M)
