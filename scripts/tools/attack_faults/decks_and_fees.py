"""Faults in the decks of a channel, and in the fees that a peer and a watcher pay."""

from __future__ import annotations

from dataclasses import replace as changed
from typing import Any

from msgspec.structs import replace

from channelsim.channel.peer import interface
from channelsim.channel.peer.decks import pool
from channelsim.channel.peer.fees import answers, paying
from channelsim.channel.peer.fees.fee_state import FeeState
from channelsim.channel.peer.fees.fee_wallet import FeeWallet
from channelsim.channel.peer.phases import closing, decks, leaving, playing
from channelsim.channel.peer.phases import fees as fee_phases
from channelsim.channel.peer.play import sending
from channelsim.channel.session.deck_works import Pace
from channelsim.channel.session.peer_runner import PeerRunner
from channelsim.channel.session.side_player import SidePlayer
from channelsim.channel.watch.pusher import Pusher
from scripts.tools.attack_faults.planting import Fault, all_of, changing, compared, function, value

# --- decks ---------------------------------------------------------------------------------------


def _same_number(right: Any, decks: Any, number: int) -> Any:
    after, effects = right(decks, number)
    return changed(after, highest=decks.highest), effects


def _still_ready(right: Any, decks: Any, numbers: Any) -> Any:
    return decks


def _open_still(right: Any, decks: Any, number: int) -> Any:
    after = right(decks, number)
    return changed(after, discarded=decks.discarded)


def _kept(right: Any, decks: Any, number: int) -> Any:
    return changed(right(decks, number), discarded=decks.discarded | {number})


def _erased_with_the_potato(right: Any, endpoint: Any, play: Any) -> Any:
    return right(endpoint, play) if play.potato else (endpoint, [])


def _nothing_erased(right: Any, endpoint: Any, play: Any, **more: Any) -> Any:
    return endpoint, []


def _not_repeated(right: Any, decks: Any, theirs: Any, highest: int) -> Any:
    after, effects = right(decks, theirs, highest)
    return after, [effect for effect in effects if not isinstance(effect, interface.Send)]


def _all_kept(right: Any, decks: Any, theirs: Any, highest: int) -> Any:
    return right(decks, {*theirs, *decks.decks}, highest)


def _all_dropped(right: Any, decks: Any, theirs: Any, highest: int) -> Any:
    return right(decks, (), max(decks.highest, highest))


def _in_silence(right: Any, *given: Any) -> Any:
    after, effects = right(*given)
    return after, [effect for effect in effects if not isinstance(effect, interface.Send)]


def _answers_forgotten(right: Any, decks: Any, number: int, deck: Any) -> Any:
    return right(decks, number, changed(deck, answered=()))


def _no_deck(command: Any) -> Any:
    return None if isinstance(command, interface.PrepareDeck) else command


async def _never_computed(right: Any, runner: Any, step: Any) -> None:
    return None


async def _not_ready(right: Any, runner: Any) -> None:
    return None


DECKS = (
    Fault(
        "uses-a-number-again",
        "decks",
        "the number of a deck is used again",
        compared(pool, "_use", _same_number),
    ),
    Fault(
        "names-a-deck-again",
        "decks",
        "a deck that a proposal names stays ready for another one",
        all_of(
            compared(sending, "name", _still_ready),
            compared(pool, "name", _still_ready),
        ),
    ),
    Fault(
        "counts-no-discarded-decks",
        "decks",
        "a burnt deck whose step is being computed counts no more",
        compared(pool, "_dropped", _open_still),
    ),
    Fault(
        "counts-discarded-decks-for-ever",
        "decks",
        "a burnt deck counts as one in preparation for ever",
        compared(pool, "_dropped", _kept),
    ),
    Fault(
        "erases-no-locks",
        "decks",
        "the locks of a deck are never erased",
        all_of(
            compared(decks, "erase", _nothing_erased),
            compared(playing, "erase", _nothing_erased),
        ),
    ),
    Fault(
        "erases-locks-late",
        "decks",
        "the locks of a deck are erased one batch after the proposal that named it was cancelled",
        compared(playing, "erase", _erased_with_the_potato),
    ),
    Fault(
        "erases-no-locks-at-the-end",
        "decks",
        "the locks of decks stay when play ends",
        all_of(
            compared(closing, "drop_all", lambda right, state: (state, [])),
            compared(leaving, "drop_all", lambda right, state: (state, [])),
        ),
    ),
    Fault(
        "repeats-no-step-of-a-deck",
        "decks",
        "the last step of a deck is not repeated on a new connection",
        compared(pool, "resume", _not_repeated),
    ),
    Fault(
        "keeps-decks-that-the-other-lacks",
        "decks",
        "decks that the other side does not have are not dropped",
        compared(pool, "resume", _all_kept),
    ),
    Fault(
        "drops-decks-on-connections",
        "decks",
        "all decks are dropped with a new connection",
        compared(pool, "resume", _all_dropped),
    ),
    Fault(
        "burns-in-silence",
        "decks",
        "the other side does not hear of a burnt deck",
        compared(pool, "burn", _in_silence),
    ),
    Fault(
        "answers-no-repeat",
        "decks",
        "a step that comes again burns its deck",
        compared(pool, "_with", _answers_forgotten),
    ),
    Fault(
        "computes-without-bound",
        "decks",
        "any number of decks is in preparation",
        value(pool, "MOST_DECKS", 1 << 30),
    ),
    Fault(
        "begins-decks-at-once",
        "decks",
        "a deck begins right after another one",
        changing(Pace, "delay", lambda delay: 0.0),
    ),
    Fault(
        "prepares-no-deck",
        "decks",
        "the player prepares no deck",
        changing(SidePlayer, "next_command", _no_deck),
    ),
    Fault(
        "loses-computed-steps",
        "decks",
        "a computed step of a deck is not reported",
        function(PeerRunner, "_computed", _never_computed),
    ),
    Fault(
        "takes-messages-before-its-deck",
        "decks",
        "a message after the last step is handled before the deck is there",
        function(PeerRunner, "ready", _not_ready),
    ),
)

# --- fees ----------------------------------------------------------------------------------------


def _first_coin(right: Any, coin: Any, block: Any) -> Any:
    """The coins of the wallet as they were before any of them was spent."""
    found = right(coin, block)
    return changed(found, unspent=tuple(other for other in found.unspent if other == coin))


def _nothing_past(right: Any, fee_state: Any, offer: Any) -> Any:
    return replace(right(fee_state, offer), past=())


def _no_answer(right: Any, fee_wallet: Any, fee_state: Any, event: Any) -> Any:
    return fee_state, []


def _split_again(right: Any, fee_wallet: Any, fee_state: Any, ready: int) -> Any:
    return right(fee_wallet, fee_state, ready + 3 * len(fee_wallet.coins.unspent))


FEES = (
    Fault(
        "follows-no-change",
        "fees",
        "the change of a fee coin is lost",
        compared(fee_phases, "find_fee_coins", _first_coin),
    ),
    Fault(
        "counts-no-paid-fees",
        "fees",
        "fees that were paid do not count for the maximum",
        changing(fee_phases, "find_fee_coins", lambda found: changed(found, paid=0)),
    ),
    Fault(
        "forgets-past-offers",
        "fees",
        "what a fee coin was offered for before is forgotten",
        compared(FeeState, "with_offer", _nothing_past),
    ),
    Fault(
        "answers-no-node",
        "fees",
        "what a node says of a spend with a fee changes nothing",
        compared(fee_phases, "react", _no_answer),
    ),
    Fault(
        "splits-without-end",
        "fees",
        "more fee coins are made with each block",
        compared(paying, "_split", _split_again),
    ),
    Fault(
        "splits-nothing",
        "fees",
        "no fee coins are made",
        compared(paying, "_split", lambda right, wallet, fee_state, ready: (fee_state, [])),
    ),
    Fault(
        "answers-without-bound",
        "fees",
        "any number of offers answers a node at one height",
        value(answers, "MOST_ANSWERS", 1 << 30),
    ),
    Fault(
        "bids-no-more",
        "fees",
        "a fee that is too low for a full mempool is not raised",
        compared(answers, "_bid_more", lambda right, *given: None),
    ),
    Fault(
        "keeps-a-spent-coin",
        "fees",
        "a spend is not tried without a fee coin that its node never knows",
        compared(answers, "_can_wait", lambda right, wallet, offer: True),
    ),
    Fault(
        "offers-alone-at-once",
        "fees",
        "a spend is tried without its fee coin as soon as a node does not know that",
        compared(answers, "_can_wait", lambda right, wallet, offer: False),
    ),
    Fault(
        "splits-before-it-hears-all",
        "fees",
        "a coin is split, or a spend offered alone, before a report has all fee coins",
        compared(paying, "_has_new_coins", lambda right, wallet, state: False),
    ),
    Fault(
        "pays-from-one-coin",
        "fees",
        "no second coin pays for a spend",
        compared(FeeWallet, "_with_second", lambda right, wallet, state, offer, free: offer),
    ),
    Fault(
        "pays-no-fees",
        "fees",
        "a peer that pays fees pushes its spends without them",
        compared(fee_phases, "pay", lambda right, wallet, state, effects, **more: (state, effects)),
    ),
    Fault(
        "hears-no-rate",
        "fees",
        "a peer does not hear of the node's fee rate",
        function(PeerRunner, "_report_fee_rate", lambda right, runner, rate: None),
    ),
    Fault(
        "watcher-pays-nothing",
        "fees",
        "a watcher offers its spends without fees",
        function(Pusher, "_fee_wallet", lambda right, pusher, peak: None),
    ),
)
