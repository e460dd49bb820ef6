"""The coins of a channel as a graph: from the wallets over the channel coin to the payouts."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.report.html.session_data import LANES, PageCoin

MOST_COINS = 500
"""Coins that a graph shows; a channel of a hundred games has fewer."""


@dataclass(frozen=True, slots=True)
class CoinLabel:
    """What a coin is: its kind ("unroll", "game", "payout", …), a label, and its time lock."""

    kind: str
    label: str
    lock: str = ""


UNKNOWN = CoinLabel("other", "another coin")


BOX_WIDTH, BOX_HEIGHT = 176, 66
STEP_X, STEP_Y = 197, 84
MARGIN = 8
"""The size of a coin in the graph, the distance of two of them, and that from its borders."""

COLUMNS = 5
"""Columns beside each other, which fit into 1,024 pixels; further ones are below them."""

BETWEEN = 10
"""The distance of an edge that leads to the columns below from the boxes that it passes."""


class _Graph:
    """Places coins in columns, each no higher than its parent, so that edges do not cross."""

    def __init__(self, labels: Mapping[bytes, CoinLabel]) -> None:
        self.ids: list[str] = []
        self._coins: list[tuple[CoinSeen, tuple[int, ...]]] = []
        self._labels = labels
        self._places: list[tuple[int, int]] = []
        self._rows: dict[int, int] = {}

    def add(self, seen: CoinSeen, parents: tuple[int, ...] = ()) -> int:
        """Add a coin to the right of its parents; returns its index."""
        places = [self._places[parent] for parent in parents]
        column = 1 + max((column for column, _ in places), default=-1)
        first = column % COLUMNS == 0  # of the columns that are below others
        least = places[0][1] if places and not first else 0
        row = max(self._rows.get(column, 0), least)
        self._rows[column] = row + 1
        self._coins.append((seen, parents))
        self._places.append((column, row))
        self.ids.append(seen.coin.id.hex())
        return len(self.ids) - 1

    def laid_out(self) -> tuple[PageCoin, ...]:
        """The coins with their places, in pixels, and the edges from their parents."""
        tops = [MARGIN]
        for first in range(0, max(self._rows, default=0) + 1, COLUMNS):
            rows = max(self._rows[n] for n in self._rows if n // COLUMNS == first // COLUMNS)
            tops.append(tops[-1] + rows * STEP_Y + 2 * BETWEEN)
        coins: list[PageCoin] = []
        for (seen, parents), (column, row) in zip(self._coins, self._places, strict=True):
            x, y = MARGIN + column % COLUMNS * STEP_X, tops[column // COLUMNS] + row * STEP_Y
            label = self._labels.get(seen.coin.id, UNKNOWN)
            coins.append(
                PageCoin(
                    coin_id=seen.coin.id.hex(),
                    kind=label.kind,
                    label=label.label,
                    amount=seen.coin.amount,
                    born=seen.born,
                    spent=seen.spent,
                    lock=label.lock,
                    parents=parents,
                    x=x,
                    y=y,
                    edges=tuple(_edge(coins[parent], x, y, tops) for parent in parents),
                )
            )
        return tuple(coins)


def _edge(parent: PageCoin, x: int, y: int, tops: Sequence[int]) -> str:
    """A path from the right side of a coin's box to the left side of the box at this place.

    To a box in the columns below, which begin at these `tops`, it runs above them.
    """
    start, level, end = parent.x + BOX_WIDTH, parent.y + BOX_HEIGHT // 2, y + BOX_HEIGHT // 2
    if x > parent.x:
        middle = (start + x) // 2
        return f"M{start} {level}C{middle} {level} {middle} {end} {x} {end}"
    above = max(top for top in tops if top <= y) - BETWEEN
    return f"M{start} {level}h{BETWEEN}V{above}H{x - MARGIN // 2}V{end}H{x}"


def coin_graph(
    chain: FarmableChain,
    channel: Coin,
    funding: Sequence[Coin],
    labels: Mapping[bytes, CoinLabel],
    rewards: Sequence[bytes],
) -> tuple[PageCoin, ...]:
    """The coins that fund a channel, its coin, and all that came of it, each after its parents.

    `funding` are the coins that the funding spends. `labels` are by coin id; a coin at one of the
    addresses `rewards` (the initiator's first) is a payout. Empty for a channel that was never
    funded.
    """
    root = chain.coin(channel.id)
    if root is None:
        return ()
    known = {**labels, channel.id: CoinLabel("channel", "channel coin", "both must sign")}
    launcher = chain.coin(channel.parent)
    for coin in funding:
        side = int(launcher is not None and coin.id != launcher.coin.parent)
        known[coin.id] = CoinLabel("wallet", f"{LANES[side]}'s wallet")
    known[channel.parent] = CoinLabel("launcher", "launcher")
    graph = _Graph(known)
    wallets = [coin for coin in funding if coin.id != channel.parent]
    roots = [graph.add(seen) for seen in map(chain.coin, (coin.id for coin in wallets)) if seen]
    if launcher is not None:
        made_by = [n for n in roots if graph.ids[n] == launcher.coin.parent.hex()]
        others = [n for n in roots if n not in made_by]
        roots = [graph.add(launcher, tuple(made_by)), *others]
    waiting = deque([(root, tuple(roots))])
    while waiting and len(graph.ids) < MOST_COINS:
        seen, parents = waiting.popleft()
        address = seen.coin.puzzle_hash
        if address in rewards:
            known[seen.coin.id] = CoinLabel("payout", f"{LANES[rewards.index(address)]}'s payout")
        index = graph.add(seen, parents)
        if address not in rewards:
            children = sorted(chain.children(seen.coin.id), key=lambda child: _rank(child, rewards))
            waiting.extend((child, (index,)) for child in children)
    return graph.laid_out()


def _rank(seen: CoinSeen, rewards: Sequence[bytes]) -> tuple[int, bytes]:
    """Payouts first, the initiator's before the receiver's."""
    address = seen.coin.puzzle_hash
    return rewards.index(address) if address in rewards else len(rewards), seen.coin.id
