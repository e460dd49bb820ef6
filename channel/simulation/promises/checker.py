"""Check after a run that no promise to the honest player was broken.

Only the messages, the chain, the rules of the games, and the news to the player are used. Source:
spec/channel.md, "Promises".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.peer.chain_news import IllegalOnChain
from channelsim.channel.peer.interface import Acted
from channelsim.channel.protocol.wallet import address_of
from channelsim.channel.simulation.model.conversation import Conversation, conversation
from channelsim.channel.simulation.model.ledger import LedgerGame, LedgerState
from channelsim.channel.simulation.promises.crash_safety import unstored
from channelsim.channel.simulation.promises.due_spends import (
    omissions,
    other_moves,
    still_pinned,
    unwatched,
    wrong_fees,
)
from channelsim.channel.simulation.promises.news import undone_closes, unended_proposals, untrue
from channelsim.channel.simulation.promises.secrecy import secrecy
from channelsim.channel.simulation.run import Run
from channelsim.channel.simulation.weather import MOST_CUT_OFF, MOST_FULL, MOST_HIDDEN
from channelsim.clsp.integers import atom_to_int
from channelsim.clsp.values import Value, deserialize
from channelsim.games.amounts import counted


@dataclass(frozen=True, slots=True)
class BrokenPromise:
    """A broken promise, and how it was broken."""

    promise: str
    how: str


def check(run: Run) -> list[BrokenPromise]:
    """The promises that this run broke."""
    talk = conversation(run)
    return [
        *money(run),
        *(BrokenPromise("law", how) for how in talk.broken),
        # After a broken law there is no state that both agree on.
        *(safety(run, talk) if not talk.broken else ()),
        *(BrokenPromise("safety", how) for how in other_moves(run, talk)),
        *(BrokenPromise("duty", how) for how in dict.fromkeys(omissions(run, talk))),
        *(BrokenPromise("duty", how) for how in dict.fromkeys(unwatched(run, talk))),
        *(BrokenPromise("duty", how) for how in wrong_fees(run, talk)),
        *(BrokenPromise("duty", how) for how in dict.fromkeys(still_pinned(run, talk))),
        *liveness(run),
        *(BrokenPromise("secrecy", how) for how in secrecy(run)),
        *(BrokenPromise("crash safety", how) for how in unstored(run, talk)),
        *news(run, talk),
    ]


# --- money is conserved ----------------------------------------------------------------------


def money(run: Run) -> Iterator[BrokenPromise]:
    """Check that every coin of the channel makes coins of the same amount."""
    coin = channel_coin(run)
    waiting = [coin] if coin is not None else []
    while waiting:
        parent = waiting.pop()
        seen = run.chain.coin(parent.id)
        if seen is None or seen.spent is None:
            continue
        made = [child.coin for child in run.chain.children(parent.id)]
        if sum(child.amount for child in made) != parent.amount:
            yield BrokenPromise("money", f"{parent.amount} became {[one.amount for one in made]}")
        waiting += [child for child in made if child.puzzle_hash not in _rewards(run)]


def channel_coin(run: Run) -> Coin | None:
    """The channel coin, if it is on chain."""
    table = run.parties[run.scenario.honest].peer.state.endpoint
    seen = run.chain.coin(table.channel.coin.id) if table else None
    return seen.coin if seen is not None else None


def _rewards(run: Run) -> tuple[bytes, bytes]:
    first, second = (end.peer.config.reward_address for end in run.parties)
    return first, second


# --- safety ----------------------------------------------------------------------------------


def safety(run: Run, talk: Conversation) -> Iterator[BrokenPromise]:
    """Check that the honest side got what the state that counts gives it."""
    side = run.scenario.honest
    coin = channel_coin(run)
    if coin is None:
        end = run.parties[side]
        held = sum(
            seen.coin.amount for seen in run.chain.coins_at(address_of(end.peer.config.wallet.key))
        )
        if held < end.peer.config.wallet.coin.amount:
            yield BrokenPromise(
                "safety", f"the opening failed, and the wallet holds {counted(held, 'mojo')}"
            )
        return
    known, received, sent = talk.accounts, talk.received, talk.sent
    seen = run.chain.coin(coin.id)
    if seen is None or seen.spent is None:
        yield BrokenPromise("safety", "the channel coin is not spent")
        return
    children = [child.coin for child in run.chain.children(coin.id)]
    got = _got(run)
    if all(child.puzzle_hash in _rewards(run) for child in children):
        newest = known[max(received, sent)]
        if got < newest.balances[side] or newest.games:
            yield BrokenPromise(
                "safety", f"the shutdown paid {got}, due were {newest.balances[side]}"
            )
        return
    (unroll,) = children
    number, made = _outcome(run, unroll)
    if number is None:
        yield BrokenPromise("safety", "the unroll coin is not spent")
        return
    # A batch with illegal moves that can all be slashed is the newest state, to be published.
    counting = {received} | ({sent} if sent > received else set())
    if talk.slashable is not None:
        counting = {talk.slashable}
    if number not in counting:
        yield BrokenPromise("safety", f"state {number} counts; received {received}, sent {sent}")
        return
    state = known[number]
    due = state.balances[side]
    for game_id, standing, game_coin in _games(state, made, _rewards(run)):
        if game_coin is None:
            yield BrokenPromise("safety", f"a game coin of {standing.amount} is not there")
            continue
        yield from _game(run, game_id, standing, game_coin)
        due += _paid(run, game_coin, side)
    if got < due:
        yield BrokenPromise("safety", f"{counted(got, 'mojo')}, due were {due} from state {number}")


def _got(run: Run) -> int:
    """The mojos at the honest side's reward address."""
    address = run.parties[run.scenario.honest].peer.config.reward_address
    return sum(seen.coin.amount for seen in run.chain.coins_at(address))


def _outcome(run: Run, unroll: Coin) -> tuple[int | None, list[Coin]]:
    """The number of the state that was paid out, by its spend, and its coins in order."""
    seen = run.chain.coin(unroll.id)
    if seen is None or seen.spent is None or seen.solution is None:
        return None, []
    number, made = None, []
    for condition in _items(deserialize(seen.solution)):
        match condition:
            case (b"\x01", (bytes(remark), b"")):
                number = atom_to_int(remark)
            case (b"\x33", (bytes(puzzle_hash), (bytes(amount), b""))):
                made.append(Coin(unroll.id, puzzle_hash, atom_to_int(amount)))
            case _:
                continue
    return number, made


def _items(value: Value) -> Iterator[Value]:
    while isinstance(value, tuple):
        item, value = value
        yield item


def _games(
    state: LedgerState, made: list[Coin], rewards: tuple[bytes, bytes]
) -> Iterator[tuple[int, LedgerGame, Coin | None]]:
    """Each live game with its id and coin: the conditions make them in the order of the ids."""
    coins = [coin for coin in made if coin.puzzle_hash not in rewards]
    for place, (game_id, standing) in enumerate(sorted(state.games.items())):
        coin = coins[place] if place < len(coins) else None
        wanted = standing.coin.puzzle_hash(), standing.amount
        fits = coin is not None and (coin.puzzle_hash, coin.amount) == wanted
        yield game_id, standing, coin if fits else None


def _game(run: Run, game_id: int, standing: LedgerGame, coin: Coin) -> Iterator[BrokenPromise]:
    """Follow a game's coins: each move, who made it, and the payout."""
    side = run.scenario.honest
    while True:
        seen = run.chain.coin(coin.id)
        ours = standing.mover == side
        if standing.illegal and ours and not _told_illegal(run, coin):
            yield BrokenPromise("news", "an illegal move on chain was not reported")
        if seen is None or seen.spent is None:
            if standing.share(side) or (standing.illegal and ours):
                yield BrokenPromise(
                    "safety", f"{counted(standing.share(side), 'mojo')} in a game were not claimed"
                )
            return
        match deserialize(seen.solution or b""):
            case (_, (_, b"")):
                if standing.illegal and ours:
                    yield BrokenPromise("safety", "an illegal move was paid out, not slashed")
                if ours and not standing.over and not _stopped(run, game_id):
                    yield BrokenPromise("safety", "the honest side did not move in time")
                return
            case (_, ((_, _), _)):
                if not ours:
                    yield BrokenPromise("safety", "an honest move was slashed")
                return
            case (bytes(move), (bytes(commitment), (bytes(share), (bytes(size), b"")))):
                standing = standing.moved(move, commitment, atom_to_int(share), atom_to_int(size))
                if ours and standing.illegal:
                    yield BrokenPromise("safety", "the honest side made an illegal move")
            case _:
                yield BrokenPromise("safety", "a game coin was spent in an unknown way")
                return
        (child,) = run.chain.children(coin.id)
        coin = child.coin


def _told_illegal(run: Run, coin: Coin) -> bool:
    """Whether it was reported to the honest player that an illegal move made this coin."""
    news = run.parties[run.scenario.honest].news
    return any(isinstance(one, IllegalOnChain) and one.coin == coin for one in news)


def _stopped(run: Run, game_id: int) -> bool:
    """Whether the honest player folded in this game, and may let it time out."""
    news = run.parties[run.scenario.honest].news
    return any(
        isinstance(one, Acted) and one.game_id == game_id and one.before == one.after
        for one in news
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


# --- liveness --------------------------------------------------------------------------------


def liveness(run: Run) -> Iterator[BrokenPromise]:
    """Check that all is settled within the timeouts of the moves, and what the weather adds."""
    scenario, side = run.scenario, run.scenario.honest
    done = run.finished[side]
    if done is None:
        yield BrokenPromise("liveness", f"not settled after {counted(run.blocks, 'block')}")
        return
    coin = channel_coin(run)
    seen = run.chain.coin(coin.id) if coin else None
    if seen is None or seen.spent is None:
        return
    moves = max((_moves(run, child) for child in run.chain.children(seen.coin.id)), default=0)
    bound = scenario.unroll_timeout + (moves + 1) * scenario.game_timeout
    # Each reorganisation takes back this many blocks at most; other weather delays each spend.
    weather = run.reorgs * (2 * scenario.confirmations + 2)
    weather += 4 * (moves + 3) if scenario.weather == "slow" else 0
    weather += MOST_FULL * (moves + 3) if scenario.weather == "full" else 0
    weather += MOST_CUT_OFF * (moves + 3) if scenario.weather == "cut-off" else 0
    weather += MOST_HIDDEN * (moves + 3) if scenario.weather == "blind" else 0
    most = seen.spent + bound + 2 * scenario.confirmations + 2 + weather
    if done > most:
        yield BrokenPromise("liveness", f"settled at {done}, promised by {most}")


def _moves(run: Run, child: CoinSeen) -> int:
    """The longest chain of coins below this one."""
    below = [_moves(run, one) for one in run.chain.children(child.coin.id)]
    return 1 + max(below) if below else 0


# --- news -----------------------------------------------------------------


def news(run: Run, talk: Conversation) -> Iterator[BrokenPromise]:
    """Check that the news is true, and that nothing was pushed that is permanently invalid."""
    end = run.parties[run.scenario.honest]
    lies = untrue(end.news, _got(run), run.scenario.balance, undone_closes(end.journal))
    yield from (BrokenPromise("news", how) for how in lies)
    if run.finished[run.scenario.honest] is not None:
        yield from (BrokenPromise("news", how) for how in unended_proposals(end.news, talk))
    refused = {name for name, _, answer in end.pushed if answer is Answer.REFUSED}
    if refused and run.scenario.weather == "calm":
        yield BrokenPromise("news", f"the node refused {sorted(refused)}")
