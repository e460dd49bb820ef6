"""What one side of a game receives, stores and is shown has nothing that the other hides."""

from __future__ import annotations

import json
from functools import partial
from io import StringIO
from typing import TypeVar

import msgspec
from rich.console import Console

from channelsim.channel.peer_text.peer_lines import Line, PeerLines
from channelsim.channel.report.html.session_log import SessionLog
from channelsim.channel.report.html.session_page import session_log
from channelsim.channel.report.narrator import Narrator
from channelsim.channel.report.session_document import document
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.session import Session
from channelsim.channel.session.session_events import (
    Listener,
    NewsFor,
    Sent,
    SessionEvent,
)
from channelsim.channel.session.setup import NAMES, Setup
from channelsim.channel.session.transcript import Recorder
from channelsim.games.cards import card_face, card_name
from channelsim.games.contract import Hand, Seat
from channelsim.games.poker.known_cards import card
from channelsim.games.poker.player import PokerPlayer
from channelsim.games.poker.states import Deal
from channelsim.games.poker.variants import VARIANTS
from channelsim.games.spacepoker.player import SpacePokerPlayer

P = TypeVar("P")


def every(kind: type[P], hand: Hand, seat: Seat) -> list[P]:
    """A player before and after each step."""
    steps = [pair[seat] for step in hand.steps for pair in (step.players_before, step.players)]
    return [player for player in steps if isinstance(player, kind)]


def players(hand: Hand, seat: Seat) -> list[PokerPlayer]:
    return every(PokerPlayer, hand, seat)


def seen_by(hand: Hand, viewer: Seat) -> set[int]:
    """Every card that a player knew at some time."""
    cards = [player.cards for player in players(hand, viewer)]
    known = [(*one.own, *one.others, *one.own_up, *one.others_up, *one.board) for one in cards]
    return {number for numbers in known for number in numbers}


def pack(hand: Hand) -> tuple[int, ...]:
    """The cards at all positions of a hand's deck."""
    table = hand.steps[0].before.state
    assert isinstance(table, Deal)
    locks = (players(hand, seat)[0].locks for seat in Seat)
    return tuple(card(table.table, at, *both) for at, both in enumerate(zip(*locks, strict=True)))


class Views:
    """What each side received, stored and was shown in a session, and its transcript.

    `told` are the lines of each hand, in the terminal and on the page, and `documents` its data.
    """

    def __init__(
        self, games: tuple[str, ...], seed: str, policies: tuple[str, str], hands: int
    ) -> None:
        setup = Setup(games, seed, hands, 100, 10, 2000 * hands, policies)
        self.received: dict[str, list[bytes]] = {name: [] for name in NAMES}
        lines: list[bytes] = []
        texts = {name: StringIO() for name in NAMES}
        narrators = [
            Narrator(setup, Console(file=text, width=100), viewer=name)
            for name, text in texts.items()
        ]
        logs = {name: session_log(setup, name) for name in NAMES}
        self.news: dict[str, list[str]] = {name: [] for name in NAMES}
        self.lines = [PeerLines(side, partial(self.say, name)) for side, name in enumerate(NAMES)]
        recorder = Recorder(setup, lines.append)
        listeners: list[Listener] = [
            self.note,
            recorder,
            *narrators,
            *logs.values(),
        ]
        result = Session(Deciders(setup), listeners, simulated_dealer=True).run()
        digest = recorder.finish(result)
        self.hands = [hand for _, hand in result.hands]
        # The first line has the seed, and with it all secrets.
        self.transcript = b"".join(lines[1:])
        self.told = {
            name: [
                *map(
                    "".join,
                    zip(text.getvalue().split("── hand ")[1:], pages(logs[name]), strict=True),
                )
            ]
            for name, text in texts.items()
        }
        self.documents = {
            name: [json.dumps(hand) for hand in document(setup, result, digest, name)["hands"]]
            for name in NAMES
        }

    def say(self, name: str, line: Line) -> None:
        self.news[name].append(line["text"])

    def note(self, event: SessionEvent) -> None:
        match event:
            case NewsFor(name, _):
                self.lines[NAMES.index(name)](event)
            case Sent(sender, message):
                self.received[NAMES[1 - NAMES.index(sender)]].append(message)


def pages(log: SessionLog) -> list[str]:
    """What the page says of each hand: its rows, and its cards, actions and result."""
    begins = [hand.event for hand in log.hands]
    ends = [*begins[1:], len(log.events)]
    hands = [log.events[begin:end] for begin, end in zip(begins, ends, strict=True)]
    views = [json.dumps(msgspec.to_builtins(hand.view), ensure_ascii=False) for hand in log.hands]
    return [
        "\n".join((*("\n".join((row.text, *row.lines)) for row in rows), view))
        for rows, view in zip(hands, views, strict=True)
    ]


def test_what_a_side_hides_in_space_poker_is_nowhere_on_the_other_side() -> None:
    """The values of its chain below those that it has opened."""
    views = Views(("spacepoker",), "hidden", ("folder", "random"), 4)
    received = {name: b"".join(blobs) for name, blobs in views.received.items()}
    hidden = 0
    for number, hand in enumerate(views.hands):
        for viewer in Seat:
            name = hand.names[viewer]
            other = every(SpacePokerPlayer, hand, viewer.other)[-1]
            known = every(SpacePokerPlayer, hand, viewer)[-1].known.level
            hidden += known > 0
            assert other.chain[known] in received[name]
            told = views.told[name][number] + views.documents[name][number]
            for value in other.chain[:known]:
                assert value not in received[name]
                assert value.hex() not in told
                assert value.hex().encode() not in views.transcript
            if known > 0:
                data = json.loads(views.documents[name][number])["cards"]
                assert data[hand.names[viewer.other]] == {"hole": None, "boost": None}
    assert hidden > 1


def test_what_a_side_hides_is_nowhere_on_the_other_side() -> None:
    """Its locks of every position whose card the viewer never saw, its cards, and the salt of an
    arrangement that it did not show. What it has shown is found by the same search."""
    views = Views(tuple(VARIANTS), "hidden", ("folder", "random"), len(VARIANTS))
    assert {hand.terms.game for hand in views.hands} == set(VARIANTS)
    received = {name: b"".join(blobs) for name, blobs in views.received.items()}
    shown: set[bool] = set()
    for number, hand in enumerate(views.hands):
        dealt = pack(hand)
        for viewer in Seat:
            name, other = hand.names[viewer], players(hand, viewer.other)[-1]
            seen = seen_by(hand, viewer)
            for lock, dealt_card in zip(other.locks, dealt, strict=True):
                known = dealt_card in seen
                assert (lock in received[name]) == known, hand.terms.game
                assert known or lock.hex().encode() not in views.transcript
            assert seen <= set(dealt)
            story, data = views.told[name][number], views.documents[name][number]
            said = " ".join(views.news[name])
            for one in range(52):
                assert card_face(one)[0].strip() not in said
                assert one in seen or card_face(one)[0].strip() not in story
                assert one in seen or f'"{card_name(one)}"' not in data
            if not players(hand, viewer)[-1].cards.others:
                assert other.salt not in received[name]
                assert other.salt.hex().encode() not in views.transcript
            shown.add(seen >= {*other.cards.own})
    assert shown == {False, True}
