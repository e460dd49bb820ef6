"""Proposals: both sides build the first coin of a game and compare every field.

Source: spec/channel.md, "Proposals".
"""

from __future__ import annotations

from dataclasses import dataclass

from channelsim.channel.errors import Violation
from channelsim.channel.protocol.messages import Offer
from channelsim.channel.protocol.state import Channel, Group, LiveGame, Side
from channelsim.games import registry
from channelsim.games.amounts import counted
from channelsim.games.contract import Next, Parameters
from channelsim.games.errors import BadTerms, UnknownGame
from channelsim.games.judge import commitment, hashes_of
from channelsim.games.referee import FIRST, GameCoin, referee

ANSWER_MARGIN = 3
"""Blocks left to answer within a timeout, after those that reorganisations can take."""

MOST_TIMEOUT = 32256
"""The longest game timeout that a player accepts: a week, in blocks."""


class UnfitProposal(Exception):
    """This side cannot or will not play a proposal, and cancels it with this reason."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A game that a player wants to propose; `i_am_alice`: the proposer moves first."""

    game: str
    parameters: Parameters
    timeout: int
    i_am_alice: bool


def offer_of(channel: Channel, proposer: Side, game_id: int, wish: Wish) -> Offer:
    """State a wish with the initial record it leads to. Raises `UnfitProposal`."""
    return _build(channel, proposer, game_id, wish)[0]


def first_game(channel: Channel, proposer: Side, offer: Offer) -> LiveGame:
    """Build the game of an offer, at its first coin.

    Raises `UnfitProposal` for a game that cannot be played here, and `Violation` when the offer
    states another initial record than its game and parameters give.
    """
    wish = Wish(offer.game, offer.parameters, offer.timeout, offer.proposer_is_alice)
    ours, game = _build(channel, proposer, offer.game_id, wish)
    for name in Offer.__struct_fields__:
        value = getattr(ours, name)
        if getattr(offer, name) != value:
            raise Violation("CH-PROPOSE-4", f"game {offer.game_id}: {name} is not {value!r}")
    return game


def least_timeout(game: str, confirmations: int) -> int:
    """The shortest game timeout, in blocks, that a careful player accepts."""
    reveals = registry.get(game).reveals
    return confirmations * (2 if reveals else 1) + 2 + ANSWER_MARGIN


def reason_to_refuse(channel: Channel, group: Group, confirmations: int) -> str | None:
    """The reason for which a careful player cancels this proposal, or None."""
    for offer in group.offers:
        try:
            first_game(channel, group.proposer, offer)
            least = least_timeout(offer.game, confirmations)
        except UnfitProposal as unfit:
            return str(unfit)
        blocks = counted(offer.timeout, "block")
        if offer.timeout < least:
            return f"a timeout of {blocks} is too short; at least {least}"
        if offer.timeout > MOST_TIMEOUT:
            return f"a timeout of {blocks} is too long; at most {MOST_TIMEOUT}"
    return None


def _build(channel: Channel, proposer: Side, game_id: int, wish: Wish) -> tuple[Offer, LiveGame]:
    """The offer of a wish, and its game at the first coin. Raises `UnfitProposal`."""
    try:
        game = registry.get(wish.game)
        terms = game.terms(wish.parameters)
    except (UnknownGame, BadTerms) as error:
        raise UnfitProposal(str(error)) from None
    alice = proposer if wish.i_am_alice else proposer.other
    initial = game.initial(terms)
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
    )
    return offer, LiveGame(game_id, terms, alice, coin, initial.position, None)
