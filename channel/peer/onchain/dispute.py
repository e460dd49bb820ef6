"""Going on chain, and the player's decisions there."""

from __future__ import annotations

from channel.chain.coins import Bundle
from channel.chain.observations import Block
from channel.crypto import bls
from channel.errors import UsageError
from channel.peer.endpoint import Endpoint
from channel.peer.interface import Effect, Push
from channel.peer.onchain.dispute_state import Dispute
from channel.peer.onchain.fees import Fees, left_of
from channel.peer.onchain.scan import decide, look
from channel.peer.onchain.signed_games import SignedGames
from channel.peer.play.play_state import PlayState
from channel.peer.shutdown import CleanShutdown
from channel.peer.slashable import SlashableMove
from games.contract import Action, Player
from games.errors import IllegalAction


def begin(
    endpoint: Endpoint,
    play: PlayState,
    *,
    deadline: int,
    funding: Bundle | None,
    peak: int,
    faults: dict[int, SlashableMove],
    ending: CleanShutdown | None,
    fees: Fees | None,
) -> Dispute:
    """The dispute of a channel whose messages count no more."""
    watched = [endpoint.channel.coin]
    if fees is not None:
        watched.append(fees.wallet.coin)
    return Dispute(
        endpoint=endpoint,
        newest=play.newest,
        records=SignedGames.of(endpoint, play.history),
        faults=faults,
        players=play.players,
        deadline=deadline,
        funding=funding,
        began=peak,
        ending=ending,
        fees=fees,
        watched=frozenset(watched),
        picture=Block(peak),
    )


def act(dispute: Dispute, game_id: int, action: Action) -> tuple[Dispute, list[Effect]]:
    """The player's decision in a game on chain. Raises `UsageError`; then nothing changed."""
    tracked = dispute.waiting.get(game_id)
    if tracked is None:
        raise UsageError(f"game {game_id} waits for no decision")
    try:
        dispute, effects = decide(dispute, tracked, action)
    except IllegalAction as error:
        raise UsageError(f"game {game_id}: {error}") from None
    after, more = look(dispute, dispute.picture)
    return after, effects + more


def extend(dispute: Dispute, bundle: Bundle, pending: tuple[Bundle, ...]) -> list[Effect]:
    """Pay for somebody's bundle that contains our spends, with a fee coin of our own.

    That is how a spend of ours is unpinned that lies in the mempool with another one, at a low
    fee: a replacement has to contain all of what it replaces. Where it has our fee coin already,
    the change of that pays what is missing: the thief's coin forbids to spend it anew.
    """
    offer = dispute.offer
    if offer is not None and len(offer.parts) > 1 and bundle == offer.bundle:
        parts = offer.parts
    elif dispute.purse is None or dispute.purse in {spend.coin for spend in bundle.spends}:
        # What pays already, and is still refused, is not helped by paying once more.
        return []
    else:
        parts = (bundle,)
    joined = _joined(dispute, parts, tuple(dict.fromkeys(pending)))
    return [Push("unpin", joined)] if joined is not None else []


def _joined(
    dispute: Dispute, parts: tuple[Bundle, ...], pending: tuple[Bundle, ...]
) -> Bundle | None:
    """What is pending, what of ours is in none of it, and a fee for all.

    What contradicts one of our spends is left alone, with all that it contradicts. None where
    nothing of ours is pending or made impossible, or enough is paid for it.
    """
    fees, coin = dispute.fees, dispute.purse
    if fees is None or coin is None:
        return None
    wanted = {spend.coin: spend.solution for part in parts for spend in part.spends}
    others = [
        other
        for other in pending
        if all(wanted.get(one.coin, one.solution) == one.solution for one in other.spends)
    ]
    there = {spend.coin for other in pending for spend in other.spends}
    rest = [part for part in parts if not there & {spend.coin for spend in part.spends}]
    has_ours = any(spend.coin in wanted for other in others for spend in other.spends)
    if not has_ours and len(rest) in (0, len(parts)):
        return None
    signature = bls.add(*(one.signature for one in (*others, *rest)))
    union = Bundle(tuple(spend for one in (*others, *rest) for spend in one.spends), signature)
    left = left_of(coin, union)
    if left is None:
        return None
    purse, paid = left
    offered = dispute.offer.fee if dispute.offer else 0
    # With more in it than there was, it has to pay more, too.
    more = min(max(max(offered, 1) - paid, int(bool(rest))), purse.amount)
    if more <= 0:
        return None
    return fees.paid((union,), purse, more, dispute.endpoint.channel.agg_sig_data)


def seat(dispute: Dispute, game_id: int) -> Player | None:
    """Our seat in a game that waits for our decision on chain."""
    tracked = dispute.waiting.get(game_id)
    return tracked.player if tracked else None
