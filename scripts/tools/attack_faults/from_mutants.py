"""Faults that single changes of an operator, a condition or a statement brought to light.

Sessions with such a change went another way, and nothing noticed it: each row stands for a check
that was missing. Some are real mistakes that campaigns have found, put back.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from channelsim.channel.attack import process
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.validation import cost_of
from channelsim.channel.network.connection import Connection
from channelsim.channel.peer import machine
from channelsim.channel.peer.chain_news import Forfeited
from channelsim.channel.peer.decks import pool
from channelsim.channel.peer.fees import fee_state, paying
from channelsim.channel.peer.fees.fee_state import Offer
from channelsim.channel.peer.fees.fee_wallet import SPLIT
from channelsim.channel.peer.fees.payment import split
from channelsim.channel.peer.interface import Push
from channelsim.channel.peer.onchain import scan_games
from channelsim.channel.peer.onchain.signed_games import SignedGames
from channelsim.channel.peer.peer_state import Phase
from channelsim.channel.peer.phases import fees, opening
from channelsim.channel.peer.play import sending
from channelsim.channel.protocol.messages import Move
from channelsim.channel.session import peer_driver, side_player
from channelsim.channel.session.peer_driver import PeerDriver
from channelsim.channel.session.peer_runner import PeerRunner
from scripts.tools.attack_faults.planting import Fault, changing, compared, function


def _without_pushes(transition: Any) -> Any:
    state, effects = transition
    return state, [effect for effect in effects if not isinstance(effect, Push)]


def _cheap(right: Any, wallet: Any, state: Any, ready: int) -> Any:
    offer = right(wallet, state, ready)
    return offer and replace(offer, push=replace(offer.push, stake=2))


def _of_any_size(right: Any, wallet: Any, state: Any, ready: int) -> Any:
    free, coins = wallet.free(state), wallet.coins.unspent
    size = min(wallet.usual_fee, sum(coin.amount for coin in coins) // (ready + 2))
    missing = ready - sum(2 * coin.amount >= size for coin in coins)
    if missing <= 0 or not free or size < LEAST_RAISE:
        return None
    coin = free[-1]
    size = min(size, coin.amount // (missing + 2))
    amounts = [size + number for number in range(missing)]
    if coin.amount - sum(amounts) - LEAST_RAISE <= amounts[-1]:
        return None
    bundle = split(wallet.key, coin, amounts, 0, wallet.agg_sig_data)
    stake = wallet.total if wallet.limits.per_spend is None else coin.amount
    push = Push(SPLIT, bundle, stake)
    return Offer(push, wallet.peak, coin, cost_of(bundle))


def _without_those_away(right: Any, config: Any, state: Any, effects: Any, *, scan: bool) -> Any:
    there = {seen.coin.id for seen in state.block.coins}
    past = tuple(one for one in state.fees.past if one.key in there)
    state = fees.with_fee_state(state, replace(state.fees, past=past))
    return right(config, state, effects, scan=scan)


async def _shorter(right: Any, connection: Any, longest: Any, seconds: float) -> Any:
    return await right(connection, lambda: longest() - 1, seconds)


def _any_rate(right: Any, driver: Any, rate: int) -> None:
    driver.forget_fee_rate()
    right(driver, rate)


async def _unlimited(right: Any, runner: Any, over: Any) -> None:
    runner._fee_limits = None  # noqa: SLF001
    await right(runner, over)


FROM_MUTANTS = (
    Fault(
        "warns-of-each-fee",
        "fees",
        "a player hears of each spend that its fee is too low",
        changing(paying, "_is_stuck", lambda stuck: True),
    ),
    Fault(
        "splits-for-nothing",
        "fees",
        "the split of a fee coin pays one mojo at most",
        compared(paying, "_new_split", _cheap),
    ),
    Fault(
        "splits-into-crumbs",
        "fees",
        "a fee coin is split into pieces that are too small to pay, with each block another one",
        compared(paying, "_new_split", _of_any_size),
    ),
    Fault(
        "raises-to-the-maximum",
        "fees",
        "a fee that rises is the highest at once",
        compared(fee_state, "risen", lambda right, start, most, blocks, within: most),
    ),
    Fault(
        "forgets-offers-for-coins-away",
        "fees",
        "what fee coins were offered for is forgotten while a reorganisation has taken that away",
        compared(machine, "pay_for", _without_those_away),
    ),
    Fault(
        "keeps-what-is-given-up",
        "decks",
        "a deck that the other side gives up is kept",
        compared(pool, "given_up", lambda right, decks, message: (decks, [])),
    ),
    Fault(
        "hides-moves-on-chain",
        "chain",
        "a player does not hear of the other side's moves on chain",
        changing(scan_games, "_judged_moves", lambda moves: ()),
    ),
    Fault(
        "takes-known-spends-for-unknown",
        "chain",
        "the spend of an unroll coin is taken for one to an unknown state",
        compared(SignedGames, "outcome", lambda right, *given: None),
    ),
    Fault(
        "forfeits-in-silence",
        "chain",
        "a player does not hear that a game coin pays it nothing",
        changing(
            scan_games,
            "_payout_facts",
            lambda facts: tuple(fact for fact in facts if not isinstance(fact, Forfeited)),
        ),
    ),
    Fault(
        "funds-with-the-next-block",
        "engine",
        "the completed funding waits for a block until it is pushed",
        changing(opening, "_advance", _without_pushes),
    ),
    Fault(
        "settles-in-silence",
        "engine",
        "a player does not hear of its own settlements",
        compared(
            sending,
            "_news",
            lambda right, endpoint, before, started, acts, *more: right(
                endpoint,
                before,
                started,
                [act for act in acts if isinstance(act.wire, Move)],
                *more,
            ),
        ),
    ),
    Fault(
        "takes-no-full-frame",
        "link",
        "a frame of the greatest length ends the connection",
        function(Connection, "_read", _shorter),
    ),
    Fault(
        "reports-each-rate",
        "runner",
        "a peer hears of the same fee rate again and again",
        function(PeerDriver, "report_fee_rate", _any_rate),
    ),
    Fault(
        "sees-no-pin",
        "runner",
        "a peer does not hear what is in the way of its push",
        compared(
            peer_driver, "fate", lambda right, bundle, result, pending: right(bundle, result, ())
        ),
    ),
    Fault(
        "forgets-the-maxima",
        "runner",
        "the maxima of fees that a player sets with a new process are forgotten",
        function(PeerRunner, "_drive", _unlimited),
    ),
    Fault(
        "carries-nothing",
        "runner",
        "what a hand has left to the next one is lost",
        changing(side_player, "carried", lambda left: 0),
    ),
    Fault(
        "ends-before-the-funding",
        "commands",
        "`close` and `recover` end while the opening can still be funded",
        compared(
            process,
            "nothing_left",
            lambda right, peer: peer.is_over or peer.phase is Phase.OPENING,
        ),
    ),
)
"""Faults of this kind."""
