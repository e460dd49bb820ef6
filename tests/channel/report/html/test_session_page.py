"""The page of a session and of a dispute: what it says, and how it shows it."""

from __future__ import annotations

import json
from base64 import b64decode
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.peer.chain_news import MovedOnChain
from channelsim.channel.peer.interface import BrokenOff
from channelsim.channel.report.html.session_data import SessionPage
from channelsim.channel.report.html.session_page import (
    PROMISES,
    dispute_log,
    dispute_page,
    session_html,
    session_log,
    session_page,
)
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.identity import node_seed
from channelsim.channel.session.result import Result
from channelsim.channel.session.session import Session
from channelsim.channel.session.session_events import Listener
from channelsim.channel.session.setup import Setup, check
from channelsim.channel.session.transcript import Recorder
from channelsim.channel.simulation.promises.checker import BrokenPromise
from channelsim.channel.simulation.run import Run
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.transcript import played
from tests.browser import by_id, opened, parsed, text_of

HOSTILE = "</script><img src=x onerror=alert(1)>\u2028'\"&"


@cache
def session() -> tuple[SessionPage, Result, tuple[bytes, ...]]:
    """The page of two hands, their result, and the lines of their transcript."""
    setup = check(Setup(("spacepoker",), HOSTILE, 2, 100, 10, 5000, ("random", "caller")))
    lines: list[bytes] = []
    recorder, log, deciders = Recorder(setup, lines.append), session_log(setup), Deciders(setup)
    chain = SimulatedChain(node_seed(setup.seed.encode()))
    listeners: list[Listener] = [recorder, log, deciders]
    result = Session(setup, deciders.decide, deciders.answer, listeners, chain).run()
    page = session_page(setup, log, chain, result, recorder.finish(result))
    return page, result, tuple(lines)


@cache
def dispute(adversary: str, step: int, weather: str = "calm") -> tuple[SessionPage, Run]:
    """The page of a dispute of a small game, and its run."""
    scenario = Scenario(("calpoker",), "page", adversary, step, weather=weather)
    log = dispute_log(scenario)
    run, broken, digest = played(scenario, lambda line: None, log)
    return dispute_page(run, broken, digest, log), run


def messages(page: SessionPage) -> list[bytes]:
    return [b64decode(one.message) for one in page.events if one.message]


def data_of(html: str) -> Any:
    return json.loads("".join(by_id(parsed(html), "data").itertext()))


def test_a_session_has_every_message_and_every_verdict() -> None:
    page, result, lines = session()
    records = [json.loads(line)[1] for line in lines]
    assert messages(page) == [bytes.fromhex(one["message"]) for one in records if "from" in one]
    verdicts = [verdict for event in page.events for verdict in event.verdicts]
    assert len(verdicts) == result.checks.moves_checked > 10
    assert {(one.rules, one.program, one.rule) for one in verdicts} == {("legal", "legal", "")}
    assert [hand.balances for hand in page.hands][-1] == result.balances
    assert page.good
    assert page.left_out == 0


def test_money_is_conserved_on_the_page() -> None:
    for page in (session()[0], dispute("stale-oldest", 5, "reorgs")[0]):
        (whole,) = {one.total for one in page.balances}
        (channel,) = (coin for coin in page.coins if coin.kind == "channel")
        paid = [coin for coin in page.coins if coin.kind == "payout"]
        last = page.balances[-1]
        assert channel.amount == whole == sum(coin.amount for coin in paid)
        assert last.games == 0
        for name, amount in (("Initiator", last.initiator), ("Receiver", last.receiver)):
            assert sum(coin.amount for coin in paid if coin.label.startswith(name)) == amount
        assert all(parent < at for at, one in enumerate(page.coins) for parent in one.parents)


def test_deadlines_end_in_time_where_an_honest_peer_met_them() -> None:
    page, _ = dispute("stale-oldest", 5, "reorgs")
    assert {one.outcome.split()[0] for one in page.deadlines} >= {"funded", "preempted"}
    for one in page.deadlines:
        assert one.ended is not None
        waited = one.ended - one.since
        assert waited >= one.limit if one.outcome == "timed out" else 0 <= waited <= one.limit


def test_a_missed_deadline_is_over_its_limit() -> None:
    page, _ = dispute("silent", 5)
    (missed,) = (one for one in page.deadlines if one.outcome == "missed")
    assert missed.what == "Receiver moves in game 1"
    assert missed.ended is not None
    assert missed.ended - missed.since > missed.limit


@pytest.mark.parametrize(
    ("adversary", "words"),
    [
        ("wrong-commitment", "another result than the move declares"),
        ("breaks-ch-move-4", "illegal"),
    ],
)
def test_an_illegal_move_is_marked_with_the_rule_that_it_breaks(adversary: str, words: str) -> None:
    page, run = dispute(adversary, 5)
    (blame,) = (one.blame for one in run.parties[0].news if isinstance(one, BrokenOff))
    illegal = [(event.kind, one) for event in page.events for one in event.verdicts if one.rule]
    assert [kind for kind, _ in illegal] == ["message"]
    for _, one in illegal:
        assert (one.program, one.rules, one.rule) == (words, words, blame.rule)
        assert one.sentence


def test_moves_on_chain_are_judged_too() -> None:
    page, run = dispute("stale-oldest", 5, "reorgs")
    moves = [one for one in run.parties[0].news if isinstance(one, MovedOnChain)]
    judged = [event.verdicts for event in page.events if event.kind == "chain" and event.verdicts]
    assert len(judged) == len(moves) > 2
    assert {(one.rules, one.program) for some in judged for one in some} == {("legal", "legal")}


def test_broken_promises_are_named_as_what_was_promised() -> None:
    page, run = dispute("wrong-commitment", 5)
    assert {one.name for one in page.promises} == PROMISES.keys() - {"signatures"}
    assert not any(one.broken for one in page.promises)
    bad = dispute_page(run, [BrokenPromise("duty", HOSTILE)], "", dispute_log(run.scenario))
    assert not bad.good
    assert [one.broken for one in bad.promises if one.name == "duty"] == [(HOSTILE,)]
    text = text_of(parsed(session_html(bad)))
    assert "1 promise to Initiator broken" in text
    assert "onerror=alert(1)" in text


def test_a_page_is_valid_html_that_runs_only_its_own_script() -> None:
    html = session_html(session()[0])
    document = parsed(html)
    tags = {node.tag for node in document.iter()}
    assert not tags & {"img", "iframe", "link", "object", "embed", "base", "form"}
    assert len(list(document.iter("script"))) == 2
    assert not [node for node in document.iter() for name in node.attrib if name.startswith("on")]
    (policy,) = (node.get("content") for node in document.iter("meta") if node.get("http-equiv"))
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert HOSTILE in ["".join(node.itertext()) for node in document.iter("dd")]
    events = data_of(html)["events"]
    assert events == json.loads(msgspec.json.encode(session()[0].events))


def test_a_session_of_200_hands_fits_in_3_mb() -> None:
    page = session()[0]
    _, second = (hand.event for hand in page.hands)
    one_hand = len(msgspec.json.encode(page.events[second:]))
    assert len(session_html(page)) + 200 * one_hand < 3_000_000


def test_a_browser_shows_a_chosen_message_with_its_fields(tmp_path: Path) -> None:
    page, _ = dispute("wrong-commitment", 5)
    at = next(n for n, event in enumerate(page.events) if any(one.rule for one in event.verdicts))
    event = page.events[at]
    shown = opened(session_html(page), tmp_path, f"#event-{at + 1}")
    assert shown.console == []
    detail = text_of(by_id(shown.document, "detail"))
    assert event.text in detail
    batch = msgspec.msgpack.decode(b64decode(event.message))
    assert f"number{batch['number']}actions" in detail
    for name in (*batch, *batch["actions"][0]):
        assert name in detail
    assert f"{event.verdicts[0].rule}: {event.verdicts[0].sentence}" in detail
    rows = [node for node in shown.document.iter() if node.get("role") == "option"]
    assert 0 < len(rows) < 60
    (chosen,) = (node for node in rows if node.get("aria-selected") == "true")
    assert chosen.get("aria-posinset") == str(at + 1)
