"""Faults around play, decks and messages: orders, limits, early messages, cards, and dealers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any
from unittest import mock

from msgspec.structs import replace

from channelsim.channel.peer import machine
from channelsim.channel.peer.decks import pool as pools
from channelsim.channel.peer.interface import (
    Effect,
    Event,
    NotProposed,
    Proposed,
    Send,
    Tell,
    YourTurn,
)
from channelsim.channel.peer.peer_state import Phase
from channelsim.channel.peer.phases import decks as deck_phases
from channelsim.channel.peer.phases import leaving, playing
from channelsim.channel.peer.play import receiving, sending
from channelsim.channel.peer.play.next_step import Step
from channelsim.channel.protocol import transitions
from channelsim.channel.protocol.messages import Batch, DeckStep, Request, decode
from channelsim.channel.session.picks import Pick
from channelsim.channel.session.questions import Questions
from channelsim.channel.session.side_player import SidePlayer
from channelsim.games.poker import openings, player
from channelsim.games.poker.player import PokerPlayer
from channelsim.games.poker.selections import best_masks
from channelsim.games.poker.states import End
from channelsim.games.poker.variants import VARIANTS
from channelsim.games.spacepoker import player as spacepoker
from scripts.tools.attack_faults.planting import (
    Fault,
    Planting,
    Reach,
    all_of,
    compared,
    effects,
    handler,
    marking,
    own_probe,
    where_it_fails,
)

HUGE = 1 << 30
"""A limit that nothing reaches."""


# --- proposals and limits ------------------------------------------------------------------------


def _first_unsent(told: Sequence[Effect]) -> list[Effect]:
    """The effects without all but the first of the proposals that come to nothing."""
    unsent = [effect for effect in told if isinstance(effect, Tell) and _is_unsent(effect)]
    return [effect for effect in told if effect not in unsent[1:]]


def _is_unsent(effect: Tell) -> bool:
    return isinstance(effect.news, NotProposed)


def _tells_one(owner: Any, name: str) -> Planting:
    def wrong(right: Any, *given: Any) -> Any:
        state, told = right(*given)
        return state, _first_unsent(told)

    return compared(owner, name, wrong)


def _counts_groups(owner: Any, name: str, groups: Any) -> Planting:
    """A limit of games that is compared with the number of proposals."""

    def wrong(right: Any, *given: Any) -> Any:
        if len(groups(*given)) >= transitions.MAX_OPEN_PROPOSALS:
            return right(*given)
        with mock.patch.object(owner, "MAX_OPEN_PROPOSALS", HUGE):
            return right(*given)

    return where_it_fails(owner, name, marking(owner, name, partial(_marked, wrong)))


def _marked(wrong: Any, reach: Reach, right: Any, *given: Any) -> Any:
    reach.mark()
    return wrong(right, *given)


def _each_alone(right: Any, endpoint: Any, play: Any, answers: Iterable[Any], *more: Any) -> Any:
    parts = [right(endpoint, play, [answer], *more) for answer in answers]
    return [one for part, _ in parts for one in part], [one for _, part in parts for one in part]


def _reversed(right: Any, endpoint: Any, play: Any, commands: Iterable[Any], *more: Any) -> Any:
    return right(endpoint, play, [*commands][::-1], *more)


def _first_reason(right: Any, *given: Any) -> Any:
    decks, reasons = right(*given)
    return decks, dict([*reasons.items()][:1])


# --- the potato, and the order of messages and news ----------------------------------------------


def _keeps(right: Any, endpoint: Any, play: Any, turns: Any) -> Any:
    step = right(endpoint, play, turns)
    owes = any(game.mover is not endpoint.side for game in play.state.games)
    idle = not (play.they_asked or play.queue or any(turns.values()))
    return Step.WAIT if step is Step.SEND and play.closing and owes and idle else step


def _backwards(right: Any, config: Any, state: Any) -> Any:
    return right(config, replace(state, early=state.early[::-1]))


def _is(effect: Effect, kind: type) -> bool:
    return isinstance(effect, Send) and isinstance(decode(effect.message), kind)


def _asks_later(right: Any, *given: Any, **more: Any) -> Any:
    state, due = right(*given, **more)
    play = state.play
    if state.phase is not Phase.PLAYING or not play.we_asked or not play.state.games:
        return state, due
    due = [effect for effect in due if not _is(effect, Request)]
    return replace(state, play=replace(play, we_asked=False, ask_later=True)), due


def _request_first(event: Event, due: list[Effect]) -> list[Effect]:
    if not any(_is(effect, Batch) for effect in due):
        return due
    requests = [effect for effect in due if _is(effect, Request)]
    return [*requests, *(effect for effect in due if effect not in requests)]


def _news_backwards(event: Event, due: list[Effect]) -> list[Effect]:
    news = [
        effect
        for effect in due
        if isinstance(effect, Tell) and not isinstance(effect.news, YourTurn | Proposed)
    ]
    turned = iter(news[::-1])
    return [next(turned) if effect in news else effect for effect in due]


def _no_early_step(right: Any, config: Any, state: Any, message: Any) -> Any:
    return state, []


def _newest_first(right: Any, questions: Questions) -> Any:
    oldest = right(questions)
    kind = questions.proposals if isinstance(oldest, Proposed) else questions.turns
    return [*kind.values()][-1] if oldest is not None else None


def _proposals_first(right: Any, questions: Questions) -> Any:
    waiting = [*questions.proposals.values(), *questions.turns.values()]
    return waiting[0] if waiting else None


def _never_withdrawn(reach: Reach, right: Any, questions: Questions, group: Any) -> None:
    if group.id in questions.proposals:
        reach.mark()
    if reach.probes:
        right(questions, group)


# --- decks ---------------------------------------------------------------------------------------


def _first_answers(right: Any, pool: Any, *given: Any) -> Any:
    first = {
        number: dataclasses.replace(one, answered=one.answered[:1])
        for number, one in pool.decks.items()
    }
    after, due = right(dataclasses.replace(pool, decks=first), *given)
    decks = {number: pool.decks[number] for number in after.decks}
    return dataclasses.replace(after, decks=decks), due


def _burns_all(right: Any, pool: Any, *given: Any) -> Any:
    after, due = right(pool, *given)
    left = {number: one for number, one in after.decks.items() if one.deck is not None}
    computing = {number for number, one in after.decks.items() if one.computing is not None}
    return dataclasses.replace(after, decks=left, discarded=after.discarded | computing), due


def _waits_anew(right: Any, config: Any, state: Any, *given: Any) -> Any:
    state, due = right(config, state, *given)
    pool = state.play.decks
    decks = {
        number: dataclasses.replace(one, since=state.block.peak)
        for number, one in pool.decks.items()
    }
    pool = dataclasses.replace(pool, decks=decks)
    return replace(state, play=replace(state.play, decks=pool)), due


# --- cards and evidence --------------------------------------------------------------------------


def _believing(right: Any, *given: Any) -> Any:
    with mock.patch.object(openings, "shows", return_value=True):
        return right(*given)


def _without_board(right: Any, seat: PokerPlayer, before: Any, move: bytes) -> Any:
    state = before.state
    if not isinstance(state, End) or not state.board or before.mover is seat.seat:
        return right(seat, before, move)
    if len(state.shown) < 5:
        return ()
    return (best_masks(state.table.showdown, state.shown),)


def _without_shown(right: Any, before: Any, locks: Any, position: Any, seat: Any) -> Any:
    known = right(before, locks, position, seat)
    is_shown = isinstance(position.state, End) and position.mover is seat
    return dataclasses.replace(known, others=()) if is_shown else known


def _without_other(right: Any, chain: Any, known: Any) -> Any:
    return replace(right(chain, known), other=None)


# --- dealers -------------------------------------------------------------------------------------


def _choosing(change: Any) -> Planting:
    """A dealer that proposes something else than it has named."""

    def wrong(right: Any, seat: SidePlayer, *given: Any) -> Any:
        choose = seat.choose
        if choose is None:
            return right(seat, *given)

        def chooses(number: int) -> Pick | None:
            pick = choose(number)
            return change(seat, pick) if pick is not None else None

        return right(dataclasses.replace(seat, choose=chooses), *given)

    return compared(SidePlayer, "_propose", wrong)


def _any_game(right: Any, seat: SidePlayer, group: Any) -> Any:
    if not seat.setup.dealer_chooses:
        return right(seat, group)
    setup = dataclasses.replace(seat.setup, games=tuple(VARIANTS))
    return right(dataclasses.replace(seat, setup=setup), group)


def _usual_limit(right: Any, seat: SidePlayer, group: Any) -> Any:
    refusal = right(seat, group)
    if refusal or not seat.setup.dealer_chooses:
        return refusal
    offer = group.offers[0]
    usual = seat.setup.parameters(offer.game).get("structure")
    chosen = offer.parameters.get("structure")
    return "" if chosen == usual else "other parameters than those agreed on"


PLAY_AND_DECKS = (
    Fault(
        "tells-one-unsent-proposal",
        "engine",
        "of several proposals that were not sent yet, a player hears of one that it is given up",
        all_of(
            _tells_one(sending, "without_new_games"),
            _tells_one(leaving, "end_proposals"),
        ),
    ),
    Fault(
        "counts-proposals-not-games",
        "engine",
        "the limit of games in open proposals is compared with the number of proposals",
        all_of(
            _counts_groups(transitions, "_propose", lambda channel, state, *action: state.groups),
            _counts_groups(
                sending, "_check_wishes", lambda endpoint, play, wishes: play.state.groups
            ),
            _counts_groups(sending, "_proposes", lambda endpoint, play, wanted: play.state.groups),
        ),
    ),
    Fault(
        "answers-each-proposal-alone",
        "engine",
        "a side that accepts two proposals compares each stake with all of its balance",
        compared(sending, "_answers", _each_alone),
    ),
    Fault(
        "answers-the-newest-first",
        "engine",
        "a side answers proposals in the opposite order of its player's answers",
        compared(sending, "_answers", _reversed),
    ),
    Fault(
        "proposes-the-newest-first",
        "engine",
        "a side makes proposals in the opposite order of its player's wishes",
        compared(sending, "_proposes", _reversed),
    ),
    Fault(
        "refuses-one-unfit-proposal",
        "engine",
        "of several unfit proposals of a batch, a side refuses the first by itself",
        compared(receiving, "_unfit", _first_reason),
    ),
    Fault(
        "keeps-the-potato-while-closing",
        "engine",
        "a side that closes the channel keeps the potato from the other one, which owes a move",
        compared(playing, "next_step", _keeps),
    ),
    Fault(
        "waits-to-open-cards",
        "engine",
        "a side that accepts a game with a deck asks for the potato with the next block only",
        compared(playing, "send_now", _asks_later),
    ),
    Fault(
        "asks-before-it-sends",
        "engine",
        "a request for the potato goes out before the batch that gives it away",
        effects(_request_first),
    ),
    Fault(
        "tells-news-backwards",
        "engine",
        "a player hears of what an event changes in the opposite order",
        effects(_news_backwards),
    ),
    Fault(
        "reveals-one-game-early",
        "engine",
        "of several games in which it is to show something early, a side does so in one",
        compared(playing, "early_reveals", lambda right, *given: right(*given)[:1]),
    ),
    Fault(
        "handles-early-messages-backwards",
        "engine",
        "messages that came before play are handled in the opposite order",
        compared(machine, "_on_block", _backwards),
    ),
    Fault(
        "holds-no-early-step",
        "decks",
        "a step of a deck that comes before play is lost",
        handler((Phase.FUNDING,), DeckStep, _no_early_step),
    ),
    Fault(
        "proposals-before-turns",
        "runner",
        "a player is asked about proposals as long as there are any, while its turn waits",
        compared(Questions, "next", _proposals_first),
    ),
    Fault(
        "asks-the-newest-first",
        "runner",
        "a player is asked about the newest game or proposal, while others wait",
        compared(Questions, "next", _newest_first),
    ),
    Fault(
        "asks-about-withdrawn-proposals",
        "runner",
        "a player is asked about proposals that are no longer open",
        own_probe(Questions, "withdrawn", _never_withdrawn),
    ),
    Fault(
        "repeats-its-first-step",
        "decks",
        "on a new connection, it repeats its first step of a deck in the place of its last one",
        compared(pools, "resume", _first_answers),
    ),
    Fault(
        "burns-all-decks-for-one",
        "decks",
        "with a deck that is given up, the others in preparation are dropped",
        compared(pools, "burn", _burns_all),
    ),
    Fault(
        "times-decks-by-connections",
        "decks",
        "the time of a step of a deck starts again with each connection",
        compared(deck_phases, "on_resume", _waits_anew),
    ),
    Fault(
        "believes-claimed-cards",
        "engine",
        "an early reveal is believed whatever card it claims",
        compared(player, "taken", _believing),
    ),
    Fault(
        "evidence-without-the-board",
        "engine",
        "the evidence against a showdown is the best hand without the shared cards",
        compared(PokerPlayer, "evidence", _without_board),
    ),
    Fault(
        "sees-no-hand-shown-first",
        "engine",
        "a player that shows second does not see the hand that was shown first",
        compared(player, "known_cards", _without_shown),
    ),
    Fault(
        "sees-no-hand-at-the-end",
        "engine",
        "a player of spacepoker does not see the other one's hand at the end",
        compared(spacepoker, "known_cards", _without_other),
    ),
    Fault(
        "deals-the-first-game",
        "runner",
        "a dealer that names a game proposes the first one of the list",
        _choosing(lambda seat, pick: Pick(seat.setup.games[0])),
    ),
    Fault(
        "deals-the-usual-limit",
        "runner",
        "a dealer that names a betting structure proposes the usual one of the game",
        _choosing(lambda seat, pick: Pick(pick.game)),
    ),
    Fault(
        "takes-games-off-the-list",
        "runner",
        "a dealer may name games that are not on the list",
        compared(SidePlayer, "_refusal", _any_game),
    ),
    Fault(
        "takes-the-usual-limit-only",
        "runner",
        "a dealer's choice of a betting structure is refused",
        compared(SidePlayer, "_refusal", _usual_limit),
    ),
)
"""The table of these."""
