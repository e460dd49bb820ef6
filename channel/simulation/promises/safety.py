"""Check the money: coins keep their amounts, and the honest side gets its due, in time.

Source: spec/channel.md, "Promises".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.ledger import MOST_GAP
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.peer.chain_news import IllegalOnChain
from channelsim.channel.peer.interface import Acted
from channelsim.channel.protocol.wallet import address_of
from channelsim.channel.simulation.crowd import CROWDED
from channelsim.channel.simulation.model.ledger import LedgerGame, LedgerState, declared_move
from channelsim.channel.simulation.model.talk import Conversation
from channelsim.channel.simulation.run import Run
from channelsim.clsp.values import Value, atom_to_int, deserialize
from channelsim.games.amounts import counted


def losses(run: Run) -> Iterator[str]:
    """Find coins of the channel whose spends made coins of another amount."""
    coin = channel_coin(run)
    waiting = [coin] if coin is not None else []
    while waiting:
        parent = waiting.pop()
        seen = run.chain.coin(parent.id)
        if seen is None or seen.spent is None:
            continue
        coins = [child.coin for child in run.chain.children(parent.id)]
        if sum(coin.amount for coin in coins) != parent.amount:
            shared = " and ".join(f"{coin.amount:,}" for coin in coins) or "nothing"
            yield f"{counted(parent.amount, 'mojo')} became {shared}"
        waiting += [coin for coin in coins if coin.puzzle_hash not in _rewards(run)]


def unsafe(run: Run, talk: Conversation) -> Iterator[str]:
    """Find what the honest side did not get of the state that counts."""
    coin = channel_coin(run)
    if coin is None:
        yield from _wallet(run)
        return
    seen = run.chain.coin(coin.id)
    if seen is None or seen.spent is None:
        yield "the channel coin is not spent"
        return
    unroll = unroll_coin(run)
    yield from _shutdown(run, talk) if unroll is None else _unrolled(run, talk, unroll)


def short_of_close(run: Run, talk: Conversation, known: int) -> Iterator[str]:
    """Find what a side did not get of the state that was paid out, though it could have.

    It runs on an old copy that ends at state `known`; a game that went on since is lost.
    """
    side, paid = run.scenario.honest, paid_out(run, talk)
    if paid is None:
        return
    due = paid.state.balances[side]
    for game_id, standing, coin in paid.games:
        accounts = (talk.accounts[count] for count in talk.accounts if count <= known)
        older = [account.games[game_id] for account in accounts if game_id in account.games]
        if coin is not None and any(game.coin == standing.coin for game in older):
            yield from _game(run, game_id, standing, coin)
            due += _paid(run, coin, side)
    got = money_paid(run)
    if got < due:
        yield f"{counted(got, 'mojo')}, due were {due:,} from state {paid.state.number}"


def unreported(run: Run, talk: Conversation) -> Iterator[str]:
    """Find illegal moves on chain that the honest player was not told of."""
    side, paid = run.scenario.honest, paid_out(run, talk)
    news = run.parties[side].news
    reported = {report.coin for report in news if isinstance(report, IllegalOnChain)}
    for _, first, coin in paid.games if paid is not None else ():
        for game, at, _ in followed(run, first, coin) if coin is not None else ():
            if game.illegal and game.mover == side and at not in reported:
                yield "an illegal move on chain was not reported"


def channel_coin(run: Run) -> Coin | None:
    """The channel coin; None if it is not on chain."""
    table = run.party.peer.state.endpoint
    seen = run.chain.coin(table.channel.coin.id) if table else None
    return seen.coin if seen is not None else None


def money_paid(run: Run) -> int:
    """The mojos at the honest side's reward address."""
    return run.paid(run.scenario.honest)


def _wallet(run: Run) -> Iterator[str]:
    """Check that a failed opening cost nothing."""
    wallet = run.party.peer.config.wallet
    money = sum(seen.coin.amount for seen in run.chain.coins_at(address_of(wallet.key)))
    if money < wallet.coin.amount:
        yield f"the opening failed, and the wallet holds {counted(money, 'mojo')}"


def _shutdown(run: Run, talk: Conversation) -> Iterator[str]:
    """Check that the clean shutdown paid the newest state."""
    newest = talk.accounts[max(talk.received, talk.sent)]
    due, got = newest.balances[run.scenario.honest], money_paid(run)
    if got < due or newest.games:
        yield f"the shutdown paid {got:,}, due were {due:,}"


def _unrolled(run: Run, talk: Conversation, unroll: Coin) -> Iterator[str]:
    """Check that the state that counts is a newest one, and paid the honest side all of it."""
    side, received, sent = run.scenario.honest, talk.received, talk.sent
    number, _ = _outcome(run, unroll)
    paid = paid_out(run, talk)
    if number is None:
        yield "the unroll coin is not spent"
        return
    # A batch with illegal moves that can all be slashed is the newest state, to be published.
    counting = {received} | ({sent} if sent > received else set())
    if talk.slashable is not None:
        counting = {talk.slashable}
    if paid is None or number not in counting:
        yield f"state {number} counts; received {received}, sent {sent}"
        return
    due = paid.state.balances[side]
    for game_id, standing, game_coin in paid.games:
        if game_coin is None:
            yield f"a game coin of {counted(standing.amount, 'mojo')} is not there"
            continue
        yield from _game(run, game_id, standing, game_coin)
        due += _paid(run, game_coin, side)
    got = money_paid(run)
    if got < due:
        yield f"{counted(got, 'mojo')}, due were {due:,} from state {number}"


def _rewards(run: Run) -> tuple[bytes, bytes]:
    first, second = (end.peer.config.reward_address for end in run.parties)
    return first, second


def unroll_coin(run: Run) -> Coin | None:
    """The coin that the channel coin was spent to; None after a shutdown, or without one."""
    coin = channel_coin(run)
    children = [child.coin for child in run.chain.children(coin.id)] if coin is not None else []
    if all(child.puzzle_hash in _rewards(run) for child in children):
        return None
    (unroll,) = children
    return unroll


@dataclass(frozen=True, slots=True)
class PaidOut:
    """The state that an unroll coin paid, and each live game of it with its id and its coin."""

    state: LedgerState
    games: tuple[tuple[int, LedgerGame, Coin | None], ...]


def paid_out(run: Run, talk: Conversation) -> PaidOut | None:
    """The state that was paid out; None after a shutdown, and for a state that nobody signed."""
    number, coins = _outcome(run, unroll_coin(run))
    state = talk.accounts.get(number) if number is not None else None
    if state is None:
        return None
    coins = [coin for coin in coins if coin.puzzle_hash not in _rewards(run)]
    games = []
    # The conditions make the coins in the order of the ids.
    for place, (game_id, standing) in enumerate(sorted(state.games.items())):
        coin = coins[place] if place < len(coins) else None
        due = standing.coin.puzzle_hash(), standing.amount
        fits = coin is not None and (coin.puzzle_hash, coin.amount) == due
        games.append((game_id, standing, coin if fits else None))
    return PaidOut(state, tuple(games))


def _outcome(run: Run, unroll: Coin | None) -> tuple[int | None, list[Coin]]:
    """The number of the state that was paid out, by its spend, and its coins in order."""
    seen = run.chain.coin(unroll.id) if unroll is not None else None
    if seen is None or seen.spent is None or seen.solution is None:
        return None, []
    number, coins = None, []
    for condition in _items(deserialize(seen.solution)):
        match condition:
            case (b"\x01", (bytes(remark), b"")):
                number = atom_to_int(remark)
            case (b"\x33", (bytes(puzzle_hash), (bytes(amount), b""))):
                coins.append(Coin(seen.coin.id, puzzle_hash, atom_to_int(amount)))
            case _:
                continue
    return number, coins


def _items(value: Value) -> Iterator[Value]:
    while isinstance(value, tuple):
        item, value = value
        yield item


def followed(
    run: Run, game: LedgerGame, coin: Coin
) -> Iterator[tuple[LedgerGame, Coin, CoinSeen | None]]:
    """Follow a game through its moves: each state of it, with its coin as the chain has it."""
    while True:
        seen = run.chain.coin(coin.id)
        yield game, coin, seen
        declared = declared_move(seen.solution) if seen and seen.spent is not None else None
        if declared is None:
            return
        game = game.moved(*declared)
        (child,) = run.chain.children(coin.id)
        coin = child.coin


def _game(run: Run, game_id: int, first: LedgerGame, coin: Coin) -> Iterator[str]:
    """Check each move of a game, who made it, and the payout."""
    side = run.scenario.honest
    for standing, _, seen in followed(run, first, coin):
        ours = standing.mover == side
        if standing.illegal and not ours:
            yield "the honest side made an illegal move"
        if seen is None or seen.spent is None:
            if standing.share(side) or (standing.illegal and ours):
                yield f"{counted(standing.share(side), 'mojo')} in a game were not claimed"
            return
        match deserialize(seen.solution or b""):
            case (_, (_, b"")):
                if standing.illegal and ours:
                    yield "an illegal move was paid out, not slashed"
                if ours and not standing.over and not _stopped(run, game_id):
                    yield "the honest side did not move in time"
            case (_, ((_, _), _)):
                if not ours:
                    yield "an honest move was slashed"
            case (bytes(), (bytes(), (bytes(), (bytes(), b"")))):
                pass
            case _:
                yield "a game coin was spent in an unknown way"


def _stopped(run: Run, game_id: int) -> bool:
    """True if the honest player folded in this game, and may let it time out."""
    news = run.party.news
    return any(
        isinstance(report, Acted) and report.game_id == game_id and report.before == report.after
        for report in news
    )


def _paid(run: Run, coin: Coin, side: int) -> int:
    """The payout of this side from a game coin, in mojos, however many moves later."""
    address = run.parties[side].peer.config.reward_address
    total, waiting = 0, [coin]
    while waiting:
        for child in run.chain.children(waiting.pop().id):
            if child.coin.puzzle_hash == address:
                total += child.coin.amount
            elif child.coin.puzzle_hash not in _rewards(run):
                waiting.append(child.coin)
    return total


def unsettled(run: Run) -> Iterator[str]:
    """Find what is not settled within the timeouts of the moves, and what the weather adds."""
    scenario, side = run.scenario, run.scenario.honest
    done = run.finished[side]
    if done is None:
        yield f"not settled after {counted(run.blocks, 'block')}"
        return
    coin = channel_coin(run)
    seen = run.chain.coin(coin.id) if coin else None
    if seen is None or seen.spent is None:
        return
    moves = max((_moves(run, child) for child in run.chain.children(seen.coin.id)), default=0)
    bound = scenario.unroll_timeout + (moves + 1) * scenario.game_timeout
    # A lock counts to the last block with transactions, and the spend waits for the next one.
    delay = 2 * MOST_GAP if scenario.mixed else 0
    # Each reorganisation takes back this many blocks at most.
    weather = run.reorgs * (2 * scenario.confirmations + 2) + delay * (moves + 3)
    weather += CROWDED if scenario.terms.crowd else 0
    most = seen.spent + bound + 2 * scenario.confirmations + 2 + weather
    if done > most:
        yield f"settled at {done}, promised by {most}"


def _moves(run: Run, child: CoinSeen) -> int:
    """The longest chain of coins below this one."""
    below = [_moves(run, coin) for coin in run.chain.children(child.coin.id)]
    return 1 + max(below) if below else 0
