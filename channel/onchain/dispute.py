"""Going on chain, and the player's decisions there."""

from __future__ import annotations

from channel.book import Book, Table
from channel.coins import Bundle
from channel.errors import UsageError
from channel.events import Block, Effect, Push
from channel.onchain.fees import Fees, left_of
from channel.onchain.look import decide, look
from channel.onchain.memory import Dispute
from channel.onchain.records import Records
from channel.onchain.spots import Fault
from channel.shutdown import Ending
from games.contract import Action, Player
from games.errors import IllegalAction


def begin(
    table: Table,
    book: Book,
    *,
    deadline: int,
    funding: Bundle | None,
    peak: int,
    faults: dict[int, Fault],
    ending: Ending | None,
    fees: Fees | None,
) -> Dispute:
    """The dispute of a channel whose messages count no more."""
    watched = [table.channel.coin]
    if fees is not None:
        watched.append(fees.wallet.coin)
    return Dispute(
        table=table,
        newest=book.newest,
        records=Records.of(table, book.past),
        faults=faults,
        players=book.players,
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
    spot = dispute.waiting.get(game_id)
    if spot is None:
        raise UsageError(f"game {game_id} waits for no decision")
    try:
        dispute, effects = decide(dispute, spot, action)
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
    fees, coin = dispute.fees, dispute.purse
    if fees is None or coin is None or coin in {spend.coin for spend in bundle.spends}:
        # What pays already, and is still refused, is not helped by paying once more.
        return []
    ours = {(spend.coin, spend.solution) for spend in bundle.spends}
    waited = dispute.picture.peak - dispute.began
    fee = max(fees.after(waited), 1)
    effects: list[Effect] = []
    for other in pending:
        left = left_of(coin, other)
        if left is None or not ours <= {(spend.coin, spend.solution) for spend in other.spends}:
            continue
        purse, paid = left
        more = min(fee - paid, purse.amount)
        if more > 0:
            bundle = fees.paid((other,), purse, more, dispute.table.channel.agg_sig_data)
            effects.append(Push("unpin", bundle))
    return effects


def seat(dispute: Dispute, game_id: int) -> Player | None:
    """Our seat in a game that waits for our decision on chain."""
    spot = dispute.waiting.get(game_id)
    return spot.player if spot else None
