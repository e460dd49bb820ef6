"""What one side of a poker game receives, stores and is shown has nothing that the other hides."""

from __future__ import annotations

import json
from io import StringIO

from rich.console import Console

from channelsim.channel.peer.interface import Store
from channelsim.channel.report.document import document
from channelsim.channel.report.narrator import Narrator
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.session import Session
from channelsim.channel.session.session_events import Handled, Listener, Sent, SessionEvent
from channelsim.channel.session.setup import NAMES, Setup
from channelsim.channel.session.transcript import Recorder
from channelsim.games.contract import Hand, Seat
from channelsim.games.poker.hand_names import card_face, card_name
from channelsim.games.poker.known_cards import card
from channelsim.games.poker.player import PokerPlayer
from channelsim.games.poker.states import Deal
from channelsim.games.poker.variants import VARIANTS


def players(hand: Hand, seat: Seat) -> list[PokerPlayer]:
    """A player before and after each step."""
    steps = [pair[seat] for step in hand.steps for pair in (step.players_before, step.players)]
    return [player for player in steps if isinstance(player, PokerPlayer)]


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
    """What each side received, stored and was shown in a session, and its transcript."""

    def __init__(self, seed: str, policies: tuple[str, str], hands: int) -> None:
        setup = Setup(tuple(VARIANTS), seed, hands, 100, 10, 2000 * hands, policies)
        self.received: dict[str, list[bytes]] = {name: [] for name in NAMES}
        lines: list[bytes] = []
        texts = {name: StringIO() for name in NAMES}
        narrators = [
            Narrator(setup, Console(file=text, width=100), viewer=name)
            for name, text in texts.items()
        ]
        deciders, recorder = Deciders(setup), Recorder(setup, lines.append)
        listeners: list[Listener] = [self.note, deciders, recorder, *narrators]
        result = Session(
            setup, deciders.decide, deciders.answer, listeners, simulated_dealer=True
        ).run()
        digest = recorder.finish(result)
        self.hands = [hand for _, hand in result.hands]
        # The first line has the seed, and with it all secrets.
        self.transcript = b"".join(lines[1:])
        self.told = {name: text.getvalue().split("── hand ")[1:] for name, text in texts.items()}
        self.documents = {
            name: [json.dumps(hand) for hand in document(setup, result, digest, name)["hands"]]
            for name in NAMES
        }

    def note(self, event: SessionEvent) -> None:
        match event:
            case Sent(sender, message):
                self.received[NAMES[1 - NAMES.index(sender)]].append(message)
            case Handled(peer, _, effects):
                stored = [one.data for one in effects if isinstance(one, Store)]
                self.received[peer] += stored


def test_what_a_side_hides_is_nowhere_on_the_other_side() -> None:
    """Its locks of every position whose card the viewer never saw, its cards, and the salt of an
    arrangement that it did not show. What it has shown is found by the same search."""
    views = Views("hidden", ("folder", "random"), len(VARIANTS))
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
            for one in range(52):
                assert one in seen or card_face(one)[0].strip() not in story
                assert one in seen or f'"{card_name(one)}"' not in data
            if not players(hand, viewer)[-1].cards.others:
                assert other.salt not in received[name]
                assert other.salt.hex().encode() not in views.transcript
            shown.add(seen >= {*other.cards.own})
    assert shown == {False, True}
