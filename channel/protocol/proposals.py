"""Proposals: both sides build the first coin of a game and compare every field.

Source: spec/channel.md, "Proposals".
"""

from __future__ import annotations

from dataclasses import replace

import msgspec

from channelsim.channel.errors import Violation
from channelsim.channel.protocol.bounds import MOST_TIMEOUT
from channelsim.channel.protocol.messages import NamedDeck, Offer
from channelsim.channel.protocol.state import Channel, Group, LiveGame, Side
from channelsim.games import registry
from channelsim.games.amounts import counted
from channelsim.games.contract import Game, Next, Parameters, Seat, SharedDeck
from channelsim.games.dealing import shared_deck
from channelsim.games.deck.faults import DeckFault
from channelsim.games.errors import BadTerms, UnknownGame
from channelsim.games.judge import commitment, hashes_of
from channelsim.games.referee import FIRST, GameCoin, referee

ANSWER_MARGIN = 3
"""Blocks left to answer within a timeout, after those that reorganisations can take.

Where not every block carries transactions, it is multiplied by the spacing."""


class UnfitProposal(Exception):
    """This side cannot or will not play a proposal, and cancels it with this reason."""


class Wish(msgspec.Struct, frozen=True):
    """A game that a player wants to propose; `i_am_alice`: the proposer moves first.

    `deck` is the number of the prepared deck for a game that needs one. A player leaves it out, and
    the peer takes one that is ready.
    """

    game: str
    parameters: Parameters
    timeout: int
    i_am_alice: bool
    deck: int | None = None


def needs_deck(wish: Wish) -> bool:
    """True if a deck has yet to be chosen for this game."""
    known = wish.game in registry.names()
    return wish.deck is None and known and registry.get(wish.game).deck_positions > 0


def offer_of(channel: Channel, proposer: Side, game_id: int, wish: Wish) -> Offer:
    """State a wish with the initial record it leads to. Raises `UnfitProposal`."""
    return _build(channel, proposer, game_id, wish)[0]


def first_game(channel: Channel, proposer: Side, offer: Offer) -> LiveGame:
    """Build the game of an offer, at its first coin.

    Raises `UnfitProposal` for a game that cannot be played here, and `Violation` when the offer
    states another initial record than its game and parameters give.
    """
    number = offer.deck.number if offer.deck is not None else None
    wish = Wish(offer.game, offer.parameters, offer.timeout, offer.proposer_is_alice, number)
    ours, game = _build(channel, proposer, offer.game_id, wish)
    if ours.deck != offer.deck:
        raise UnfitProposal(f"PD-9: deck {number} has another root")
    for name in Offer.__struct_fields__:
        value = getattr(ours, name)
        if getattr(offer, name) != value:
            raise Violation("CH-PROPOSE-4", f"game {offer.game_id}: {name} is not {value!r}")
    return game


def least_timeout(game: str, confirmations: int, spacing: int) -> int:
    """The shortest game timeout, in blocks, that a careful player accepts."""
    reveals = registry.get(game).reveals
    return spacing * (confirmations * (2 if reveals else 1) + 2 + ANSWER_MARGIN)


def reason_to_refuse(
    channel: Channel, group: Group, confirmations: int, spacing: int
) -> str | None:
    """The reason for which a careful player cancels this proposal, or None."""
    for offer in group.offers:
        try:
            first_game(channel, group.proposer, offer)
            least = least_timeout(offer.game, confirmations, spacing)
        except UnfitProposal as unfit:
            return str(unfit)
        # These words are sent, and stored transcripts have them without groups of digits.
        blocks = counted(offer.timeout, "block").replace(",", "")
        if offer.timeout < least:
            return f"a timeout of {blocks} is too short; at least {least}{by_spacing(spacing)}"
        if offer.timeout > MOST_TIMEOUT:
            return f"a timeout of {blocks} is too long; at most {MOST_TIMEOUT:,}"
    return None


def by_spacing(spacing: int) -> str:
    """The reason for a longer time than usual, in brackets; nothing at the usual spacing.

    >>> by_spacing(4), by_spacing(1)
    (' (spacing 4)', '')
    """
    return f" (spacing {spacing})" if spacing > 1 else ""


def _build(channel: Channel, proposer: Side, game_id: int, wish: Wish) -> tuple[Offer, LiveGame]:
    """The offer of a wish, and its game at the first coin. Raises `UnfitProposal`."""
    alice = proposer if wish.i_am_alice else proposer.other
    try:
        game = registry.get(wish.game)
        named, deck = _deck_of(channel, game, alice, wish.deck)
        terms = replace(game.terms(wish.parameters), deck=deck)
        initial = game.initial(terms)
    except (UnknownGame, BadTerms, DeckFault) as error:
        raise UnfitProposal(str(error)) from None
    step = Next(initial.validator, initial.state, initial.max_move_size)
    coin = GameCoin(
        mover_key=bytes(channel.keys[alice].referee),
        waiter_key=bytes(channel.keys[alice.other].referee),
        timeout=wish.timeout,
        amount=terms.amount,
        mod_hash=referee().hash,
        nonce=game_id,
        move=b"",
        max_move_size=initial.max_move_size,
        infohash_b=commitment(step, hashes_of(game)),
        mover_share=initial.mover_share,
        infohash_a=FIRST,
    )
    if coin.puzzle_hash() in channel.rewards:
        raise UnfitProposal(f"the first coin of game {game_id} would be at a reward address")
    offer = Offer(
        game_id=game_id,
        game=wish.game,
        parameters=dict(wish.parameters),
        timeout=wish.timeout,
        proposer_is_alice=wish.i_am_alice,
        amount=terms.amount,
        stakes=terms.stakes if alice is Side.INITIATOR else terms.stakes[::-1],
        commitment=coin.infohash_b,
        max_move_size=initial.max_move_size,
        mover_share=initial.mover_share,
        deck=named,
    )
    return offer, LiveGame(game_id, terms, alice, coin, initial.position, None)


def _deck_of(
    channel: Channel, game: Game, alice: Side, number: int | None
) -> tuple[NamedDeck | None, SharedDeck | None]:
    """The deck of this number as an offer names it, and as the game has it.

    Raises `UnfitProposal` or `DeckFault`.
    """
    positions = game.deck_positions
    if not positions:
        if number is not None:
            raise UnfitProposal(f"{game.name} is played without a deck")
        return None, None
    if number is None:
        raise UnfitProposal(f"{game.name} is played with a prepared deck, and none is named")
    deck = channel.decks.get(number)
    if deck is None:
        raise UnfitProposal(f"PD-9: deck {number} is not ready")
    initiator = Seat.ALICE if alice is Side.INITIATOR else Seat.BOB
    return NamedDeck(number, deck.root(positions)), shared_deck(deck, positions, initiator)
