"""Check that the honest side pushed every spend with the block in which it was due.

With each block that is reported to it, it preempts a stale state, slashes an illegal move, and
claims what has timed out, until that is confirmed.
Source: spec/channel.md, "Going on chain".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import Block, CoinSeen
from channelsim.channel.peer.chain_news import ChannelSettled
from channelsim.channel.peer.interface import Push
from channelsim.channel.simulation.model.ledger import LedgerGame, LedgerState, declared_move
from channelsim.channel.simulation.model.talk import Conversation
from channelsim.channel.simulation.promises.fee_offers import awaits_fee_coins
from channelsim.channel.simulation.promises.secrecy import move_of
from channelsim.channel.simulation.run import JournalEntry, Run
from channelsim.clsp.values import atom_to_int, deserialize, from_list
from channelsim.games.amounts import counted
from channelsim.games.referee import GameCoin, RefereeRefusal


def omissions(run: Run, talk: Conversation) -> Iterator[str]:
    """Find spends that were not pushed in time."""
    agreed = talk.handshake.agreed
    if agreed is None:
        return
    games: dict[bytes, LedgerGame] = {}
    followed: set[tuple[bytes, bytes | None]] = set()  # every block reports all spends again
    fees = run.parties[talk.side].peer.config.fees
    for turn in run.parties[talk.side].journal:
        if not isinstance(turn.event, Block) or _settled(turn):
            continue
        pushed = {
            spend.coin.id
            for effect in turn.effects
            if isinstance(effect, Push)
            for spend in effect.bundle.spends
        }
        parents = {seen.coin.id: seen.coin.parent for seen in turn.event.coins}
        hidden = {
            seen.coin.id
            for seen in turn.event.coins
            if seen.spent is not None and seen.solution is None
        }
        for seen in turn.event.coins:
            state = talk.unrolls.get(seen.coin.puzzle_hash)
            state = state if seen.coin.parent == agreed.coin.id else None
            standing = games.get(seen.coin.id)
            spend = seen.coin.id, seen.solution
            if state is not None and spend not in followed:
                _unrolled(talk, games, seen, state)
                followed.add(spend)
            if standing is not None and spend not in followed:
                _moved(talk, games, seen, standing)
                followed.add(spend)
            if seen.spent is not None or seen.coin.id in pushed:
                continue
            age = turn.event.peak - seen.born
            if state is not None:
                due = _unroll_due(talk, state, age, agreed.unroll_timeout)
            elif standing is not None and not hidden & {*_ancestors(seen.coin.id, parents)}:
                due = _game_due(talk.side, standing, age)
            else:
                due = ""
            if due and not awaits_fee_coins(fees, turn.effects):
                yield f"it does not {due}, which is {counted(age, 'block')} old"


def _ancestors(coin_id: bytes, parents: Mapping[bytes, bytes]) -> Iterator[bytes]:
    """The coins from which a coin came, as far as a block names them.

    A node that hides how one of them was spent may have told it before: the block alone counts.
    """
    while coin_id in parents:
        coin_id = parents[coin_id]
        yield coin_id


def unwatched(run: Run, talk: Conversation) -> Iterator[str]:
    """Check that it watches the coin that the channel coin was spent to.

    It has to know that coin even where its node does not give the solution of the spend.
    """
    terms = talk.handshake.agreed
    if terms is None or run.reorgs:
        return
    children = {child.coin for child in run.chain.children(terms.coin.id)}
    journal = [turn for turn in run.parties[talk.side].journal if isinstance(turn.event, Block)]
    for turn, after in pairwise(journal):
        if not isinstance(turn.event, Block) or turn.height == after.height:
            continue  # the same block is reported again, with the coins that are watched since
        coins = {seen.coin: seen for seen in turn.event.coins}
        channel_coin = coins.get(terms.coin)
        if channel_coin is not None and channel_coin.spent is not None and not children & {*coins}:
            yield "it does not watch the coin that the channel coin was spent to"


def _settled(turn: JournalEntry) -> bool:
    return any(isinstance(news, ChannelSettled) for news in turn.news)


def _unroll_due(talk: Conversation, state: LedgerState, age: int, timeout: int) -> str:
    """The spend that is due for an unspent unroll coin of this age, in blocks."""
    newest = talk.slashable if talk.slashable is not None else talk.received
    if state.number < newest and state.number % 2 != talk.side:
        return f"preempt state {state.number}"
    return f"time out state {state.number}" if age >= timeout else ""


def _game_due(side: int, game: LedgerGame, age: int) -> str:
    """The spend that is due for an unspent game coin of this age, in blocks."""
    if game.illegal and game.mover == side:
        return "slash an illegal move"
    due = age >= game.coin.timeout and game.share(side)
    return f"claim {counted(game.share(side), 'mojo')} in a game" if due else ""


def _unrolled(
    talk: Conversation, games: dict[bytes, LedgerGame], seen: CoinSeen, published: LedgerState
) -> None:
    """Note the game coins that an unroll coin was spent to."""
    if seen.spent is None or seen.solution is None:
        return
    number = published.number
    for condition in from_list(deserialize(seen.solution)):
        match condition:
            case (b"\x01", (bytes(remark), b"")):
                number = atom_to_int(remark)
            case _:
                pass
    state = talk.accounts.get(number)
    for game in state.games.values() if state is not None else ():
        games[_coin(seen.coin.id, game.coin).id] = game


def _moved(
    talk: Conversation, games: dict[bytes, LedgerGame], seen: CoinSeen, game: LedgerGame
) -> None:
    """Note the game coin that another one was moved to."""
    if seen.spent is None:
        return
    spend = seen.coin.id, seen.solution
    if spend not in talk.moves:
        talk.moves[spend] = _after(seen, game)
    games.update(talk.moves[spend])


def _after(seen: CoinSeen, game: LedgerGame) -> dict[bytes, LedgerGame]:
    """The game coin that a spent one was moved to, by its id; none if it was not moved."""
    declared = declared_move(seen.solution)
    if declared is None or not declared[0]:
        return {}
    try:
        after = game.moved(*declared)
    except RefereeRefusal:
        return {}
    return {_coin(seen.coin.id, after.coin).id: after}


def _coin(parent: bytes, game: GameCoin) -> Coin:
    return Coin(parent, game.puzzle_hash(), game.amount)


def other_moves(run: Run, talk: Conversation) -> Iterator[str]:
    """Find moves on chain that differ from the one sent, or follow a settlement."""
    sent: dict[GameCoin, GameCoin | None] = {}
    for number, state in talk.accounts.items():
        after = talk.accounts.get(number + 1)
        if after is None or (number + 1) % 2 == talk.side:
            continue  # made by the other side
        for game_id, game in state.games.items():
            known = after.games.get(game_id)
            if game.mover == talk.side and (known is None or known.coin != game.coin):
                sent[game.coin] = known.coin if known is not None else None
    moves = {coin.puzzle_hash(): after for coin, after in sent.items()}
    for name, bundle, _ in run.parties[talk.side].pushed:
        for spend in bundle.spends:
            move = move_of(spend.solution)
            if not move or spend.coin.puzzle_hash not in moves:
                continue
            sent_as = moves[spend.coin.puzzle_hash]
            if sent_as is None:
                yield f"a {name} in a game that it had settled"
            elif move != sent_as.move:
                yield f"a {name} is another one than it had sent"
