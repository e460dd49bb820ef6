"""The page of a session and of a dispute: what it says, and how it shows it."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from channelsim.channel.attack.disputes import dispute_script, recorded
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
from channelsim.games.contract import Hand
from channelsim.games.spacepoker.result import summarize
from tests.browser import by_id, opened, parsed, text_of
from tests.sampling import one_in

HOSTILE = "</script><img src=x onerror=alert(1)>\u2028'\"&"


@cache
def session() -> tuple[SessionPage, Result, tuple[bytes, ...]]:
    """The page of two hands, their result, and the lines of their transcript."""
    setup = check(Setup(("spacepoker",), HOSTILE, 2, 100, 10, 5000, ("random", "caller")))
    lines: list[bytes] = []
    recorder, log = Recorder(setup, lines.append), session_log(setup)
    chain = SimulatedChain(node_seed(setup.seed.encode()))
    listeners: list[Listener] = [recorder, log]
    result = Session(Deciders(setup), listeners, chain).run()
    page = session_page(setup, log, chain, result, recorder.finish(result))
    return page, result, tuple(lines)


@cache
def dispute(adversary: str, step: int, weather: str = "calm") -> tuple[SessionPage, Run]:
    """The page of a dispute of a small game, and its run."""
    scenario = Scenario(("calpoker",), "page", adversary, step, weather=weather)
    log = dispute_log(scenario)
    done, digest = recorded(dispute_script(scenario), lambda line: None, log)
    return dispute_page(done.run, done.broken, digest, log), done.run


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
    assert page.glance.holds
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
    assert missed.what == "Receiver moves in hand 1"
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
    page, run = dispute(adversary, 4 if adversary == "breaks-ch-move-4" else 5)
    (blame,) = (one.blame for one in run.parties[0].news if isinstance(one, BrokenOff))
    illegal = [(event.kind, one) for event in page.events for one in event.verdicts if one.rule]
    assert [kind for kind, _ in illegal] == ["message"]
    for _, one in illegal:
        assert (one.program, one.rules, one.rule) == (words, words, blame.rule)
        assert one.sentence


def test_moves_on_chain_are_judged_too() -> None:
    page, run = dispute("leaver", 4, "reorgs")
    moves = [one for one in run.parties[0].news if isinstance(one, MovedOnChain)]
    judged = [event.verdicts for event in page.events if event.kind == "chain" and event.verdicts]
    assert len(judged) == len(moves) > 2
    assert {(one.rules, one.program) for some in judged for one in some} == {("legal", "legal")}


def test_broken_promises_are_named_as_what_was_promised() -> None:
    page, run = dispute("wrong-commitment", 5)
    assert {one.name for one in page.promises} == PROMISES.keys() - {"signatures"}
    assert not any(one.broken for one in page.promises)
    bad = dispute_page(run, [BrokenPromise("duty", HOSTILE)], "", dispute_log(run.scenario))
    assert not bad.glance.holds
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
    first, second = (hand.event for hand in page.hands)
    one = msgspec.structs.replace(
        page, hands=page.hands[1:], events=page.events[:first] + page.events[second:]
    )
    both = len(session_html(page))
    assert both + 198 * (both - len(session_html(one))) < 3_000_000


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
    assert chosen.get("id") == f"row-{at}"


# --- the story and the hands ---------------------------------------------------------------------


def text_without_script(page: SessionPage) -> str:
    """What a reader without JavaScript sees."""
    document = parsed(session_html(page))
    for parent in list(document.iter()):
        for child in list(parent):
            if child.tag in ("script", "style"):
                parent.remove(child)
    return text_of(document)


def test_a_session_is_told_in_sentences() -> None:
    page, result, _ = session()
    assert 3 <= len(page.story) <= 6
    text = text_without_script(page)
    assert " ".join(page.story) in text
    assert (
        "each put 50 units (5,000 mojos) into a channel, and played 2 hands of Space Poker" in text
    )
    for name, balance in zip(("Initiator", "Receiver"), result.balances, strict=True):
        assert f"{name} got {balance:,} mojos" in text
    assert page.title == "Space Poker: 2 hands between Initiator and Receiver"


@pytest.mark.parametrize(
    ("adversary", "words"),
    [
        ("stale-oldest", ("closed the channel alone, with state 1", "replaced the published one")),
        (
            "wrong-commitment",
            ("broke CH-MOVE-5", "slashed Receiver's move and took the whole game"),
        ),
        ("breaks-ch-open-5", ("broke CH-OPEN-5", "No channel was opened.")),
    ],
)
def test_a_dispute_is_told_in_sentences(adversary: str, words: tuple[str, ...]) -> None:
    page, run = dispute(adversary, 5 if "open" not in adversary else 0)
    assert 3 <= len(page.story) <= 6
    story = " ".join(page.story)
    for part in (*words, f"Receiver cheats as {adversary}", "Every promise to Initiator was kept."):
        assert part in story
    # No id of a game is left, and no number of four digits without its comma.
    assert not re.search("game [0-9]|[0-9]{4}", story)
    if run.chain.coins_at(run.parties[0].peer.config.reward_address):
        assert "Initiator got" in story


def test_hands_are_tiles_of_cards_and_actions_with_the_pot() -> None:
    page, result, _ = session()
    document = parsed(session_html(page))
    panels = [node for node in document.iter("article") if node.get("class") == "hand"]
    assert len(panels) == 2
    for panel, (_, hand) in zip(panels, result.hands, strict=True):
        cards = [text_of(node) for node in panel.iter("span") if node.get("class") == "card"]
        alice = spacepoker_cards(hand)
        assert cards[: len(alice)] == alice
        assert hand.payouts is not None
        actions = text_of(next(panel.iter("ol")))
        assert "commits; each puts in 1 unit (100 mojos)" in actions
        assert "pot 2 units (200 mojos)" in actions
        for paid in hand.payouts:
            assert f"({paid:,} mojos)" in text_of(panel)
    assert not re.search("[┌│└]", text_without_script(page))
    boosts = set(re.findall(r"\S+(?= boost)", text_of(document)))
    assert "no" in boosts
    assert boosts <= {"no", "+"}


def spacepoker_cards(hand: Hand) -> list[str]:
    """The two cards of the first player of a hand, as on their tiles."""
    hole = summarize(hand)["cards"][hand.names[0]]["hole"]
    return [{11: "J", 12: "Q", 13: "K", 14: "A"}.get(rank, str(rank)) for rank in hole]


def test_a_hand_of_a_dispute_is_followed_to_its_end_on_chain() -> None:
    page, _ = dispute("stale-oldest", 5, "reorgs")
    (hand,) = page.hands
    assert [street.name for street in hand.view.streets][-1] == "showdown"
    assert hand.payouts
    assert {text for _, text in hand.payouts} == {0, 2000}


def test_a_hand_that_an_adversary_changed_is_shown_as_far_as_both_agree() -> None:
    page, _ = dispute("wrong-commitment", 5)
    (hand,) = page.hands
    assert dict(hand.payouts) == {"Initiator": 2000, "Receiver": 0}
    assert [street.name for street in hand.view.streets] == ["deal", "discard"]


# --- the decisive event -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("adversary", "step", "kind", "words"),
    [
        ("wrong-commitment", 5, "message", "moves in hand 1"),
        ("silent", 5, "blame", "breaks off: CH-TIME-2"),
        ("stale-oldest", 5, "leaves", "closes the channel unilaterally"),
        ("", 0, "hand", "begins hand 1: California Poker"),
    ],
)
def test_a_page_opens_at_the_decisive_event(
    adversary: str, step: int, kind: str, words: str
) -> None:
    page, _ = dispute(adversary, step)
    event = page.events[page.decisive]
    assert event.kind == kind
    assert words in event.text
    assert any(verdict.breaks for verdict in event.verdicts) is (adversary == "wrong-commitment")


def test_a_session_opens_at_its_last_hand() -> None:
    page = session()[0]
    assert page.decisive == page.hands[-1].event
    assert page.events[page.decisive].text == "begins hand 2: Space Poker"


@pytest.mark.parametrize("width", one_in(3, [500, 1024, 1600]))
def test_slider_list_and_detail_are_in_step(tmp_path: Path, width: int) -> None:
    page = session()[0]
    shown = opened(session_html(page), tmp_path, width=width)
    assert shown.console == []
    document = shown.document
    rows = [node for node in document.iter() if node.get("role") == "option"]
    (chosen,) = (node for node in rows if node.get("aria-selected") == "true")
    place, of_all = int(chosen.get("aria-posinset")), int(chosen.get("aria-setsize"))
    assert chosen.get("id") == f"row-{page.decisive}"
    assert by_id(document, "events").get("aria-activedescendant") == f"row-{page.decisive}"
    said = f"event {place} of {of_all}, height {page.events[page.decisive].height}"
    assert text_of(by_id(document, "now")) == said
    assert by_id(document, "time").get("aria-valuetext") == said
    assert page.events[page.decisive].text in text_of(by_id(document, "detail"))


# --- the course ---------------------------------------------------------------------------------


def test_blocks_in_which_nothing_happens_are_one_row() -> None:
    page, run = dispute("leaver", 4, "reorgs")
    blocks = [event for event in page.events if event.kind == "block"]
    assert any(re.fullmatch("blocks [0-9]+ to [0-9]+", event.text) for event in blocks)
    assert len(blocks) < run.blocks
    for before, after in pairwise(page.events):
        assert not (before.kind == after.kind == "block" and after.height > before.height)


def test_moves_are_named_by_who_and_what() -> None:
    page = session()[0]
    steps = [event for event in page.events if event.kind == "step"]
    assert len(steps) > 10
    for event in steps:
        assert event.text.startswith(("Initiator ", "Receiver "))
        assert event.message
    assert not any(re.search(r"\bgame [0-9]", event.text) for event in page.events)


def test_numbers_have_their_thousands_apart() -> None:
    for page in (session()[0], dispute("stale-oldest", 5, "reorgs")[0]):
        document = parsed(session_html(page))
        shown = [
            "".join(text for text in (node.text, *(child.tail for child in node)) if text)
            for node in document.iter()
            if node.tag not in ("script", "style", "code", "pre")
        ]
        assert not [text for text in shown if re.search(r"(?<![\w,.])[0-9]{4,}(?![\w…])", text)]
        assert any("5,000 mojos" in text or "3,000 mojos" in text for text in shown)
        lines = [line for event in page.events for line in (event.text, *event.lines)]
        assert not [line for line in lines if re.search(r"(?<![\w,.])[0-9]{4,}(?![\w…])", line)]


def test_a_page_of_many_hands_folds_all_but_the_last() -> None:
    page = session()[0]
    many = msgspec.structs.replace(page, hands=page.hands * 3)
    folded = [
        node for node in parsed(session_html(many)).iter("details") if node.get("class") == "hand"
    ]
    assert len(folded) == 6
    assert [node.get("open") is not None for node in folded] == [False] * 5 + [True]


def test_what_needs_a_script_is_not_shown_without_one(tmp_path: Path) -> None:
    html = session_html(session()[0])
    plain = parsed(html)
    hidden = [node for node in plain.iter() if node.get("hidden") is not None]
    assert {node.get("class") for node in hidden} == {"time", "course", "goto"}
    unseen = {node for outer in hidden for node in outer.iter()}
    assert not [n for n in plain.iter() if n.tag in ("button", "input") and n not in unseen]
    document = opened(html, tmp_path).document
    assert not [node for node in document.iter() if node.get("hidden") is not None]
