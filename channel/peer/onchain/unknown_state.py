"""What a state pays that we signed and do not know: we run on an old copy of our store.

Its spends show the balances, and a coin for each game. A game that has not gone on since the copy
was made is known by its coin, and is played on; the others are lost.
Source: spec/channel.md, "An old copy of the store".
"""

from __future__ import annotations

import msgspec

from channelsim.channel.chain.coins import Coin
from channelsim.channel.peer.chain_news import UnknownGame
from channelsim.channel.peer.onchain.signed_games import SignedGames
from channelsim.channel.protocol.spend_parsing import created_coins, read_unroll
from channelsim.channel.protocol.state import ChannelState


class UnknownState(msgspec.Struct, frozen=True):
    """A state as its spend shows it, with the games in it that we know.

    `lost` are the coins of the other games. `preempted`: it was paid by a preemption.
    """

    state: ChannelState
    lost: tuple[Coin, ...] = ()
    preempted: bool = False

    def reported(self, height: int) -> tuple[UnknownGame, ...]:
        """The news of the games that we do not know, paid out at this height."""
        return tuple(UnknownGame(coin, height) for coin in self.lost)


def created_by(coin: Coin, solution: bytes) -> tuple[Coin, ...]:
    """The coins that this spend of the channel coin created, as far as it can be read."""
    return tuple(Coin(coin.id, *one) for one in created_coins(solution))


def shut_down(games: SignedGames, made: tuple[Coin, ...], number: int) -> UnknownState | None:
    """A shutdown that we do not know, at a state of this number; None for any other spend."""
    if not made or any(one.puzzle_hash not in games.endpoint.channel.rewards for one in made):
        return None
    return _paying(games, number, made, preempted=False)


def paid_out(games: SignedGames, unroll: Coin, solution: bytes) -> UnknownState | None:
    """The state that an unroll coin paid; None for a spend that cannot be read."""
    paid = read_unroll(solution)
    if paid is None:
        return None
    made = tuple(Coin(unroll.id, *one) for one in paid.coins)
    return _paying(games, paid.number, made, preempted=paid.preempted)


def _paying(
    games: SignedGames, number: int, made: tuple[Coin, ...], *, preempted: bool
) -> UnknownState:
    rewards = games.endpoint.channel.rewards
    first, second = (
        sum(one.amount for one in made if one.puzzle_hash == address) for address in rewards
    )
    others = [one for one in made if one.puzzle_hash not in rewards]
    found = [games.with_coin(one) for one in others]
    live = tuple(game for game in found if game is not None)
    lost = tuple(coin for coin, game in zip(others, found, strict=True) if game is None)
    return UnknownState(ChannelState(number, (first, second), live), lost, preempted)
