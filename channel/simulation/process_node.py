"""A node in a process of its own, with the log of its chain on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from multiprocessing.connection import Connection
from operator import methodcaller
from pathlib import Path
from typing import Any

from channelsim.channel.chain.chain_log import stored_chain
from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.interface import PushResult
from channelsim.channel.chain.observations import CoinSeen, PendingBundle
from channelsim.channel.chain.simulator import PUBLIC_LIKE, NodeSettings, SimulatedChain
from channelsim.channel.errors import InvariantError
from channelsim.channel.simulation.child_process import ChildProcess
from channelsim.games.chance import Chance

Dies = Callable[[], bool]
"""Decides at a change whether to kill the process of a node."""


def never() -> bool:
    """Decide never to kill it."""
    return False


class ProcessNode:
    """A `FarmableChain` whose process is killed during some changes, and comes back from its log.

    `dies` decides at each change whether to kill it, `chance` when. A change that was lost with it
    is made again; the log has each whole or not at all. With `serves`, the node's RPC is at `url`
    until it is killed.
    """

    def __init__(
        self,
        path: Path,
        seed: int,
        dies: Dies,
        chance: Chance,
        *,
        settings: NodeSettings = PUBLIC_LIKE,
        serves: bool = False,
    ) -> None:
        self.kills = 0
        self._dies = dies
        self._chance = chance
        args = path, seed, settings, serves
        self._process = ChildProcess("the node's process", _open_node, *args, usual=0.005)
        self.url = str(self._process.receive())

    def close(self) -> None:
        """End the process."""
        self._process.kill()

    # --- a chain whose blocks the caller makes ---

    def peak(self) -> int:
        """The height of the tip."""
        return int(self._process.ask("peak"))

    def agg_sig_data(self) -> bytes:
        """The suffix of AGG_SIG_ME messages on this network."""
        return bytes(self._process.ask("agg_sig_data"))

    def coin(self, coin_id: bytes) -> CoinSeen | None:
        """The coin with this id; None if the chain has none."""
        seen: CoinSeen | None = self._process.ask("coin", coin_id)
        return seen

    def coins_at(self, puzzle_hash: bytes) -> list[CoinSeen]:
        """The unspent coins at this address."""
        return list(self._process.ask("coins_at", puzzle_hash))

    def children(self, coin_id: bytes) -> list[CoinSeen]:
        """The coins that this coin's spend created, by id, without solutions."""
        return list(self._process.ask("children", coin_id))

    def pending(self, coin_id: bytes) -> list[PendingBundle]:
        """The bundles in the mempool that spend this coin."""
        return list(self._process.ask("pending", coin_id))

    def fee_rate(self) -> int:
        """Mojos per cost that the node asks of a spend that is confirmed within about a minute."""
        return int(self._process.ask("fee_rate"))

    def push(self, bundle: Bundle) -> PushResult:
        """Offer a bundle to the mempool."""
        result = self._change("push", bundle)
        if not isinstance(result, PushResult):
            # A repeat of a pending bundle is accepted again.
            return self.push(bundle)
        return result

    def farm(self, blocks: int = 1) -> None:
        """Make blocks with the bundles of the mempool."""
        self._to_height(self.peak() + blocks, "farm", blocks)

    def reorganise(self, back: int, new: int, *, keep: bool, bundle: Bundle | None = None) -> None:
        """Replace the last `back` blocks by `new` others."""
        height = self.peak() - back + new
        self._to_height(height, "reorganise", back, new, keep=keep, bundle=bundle)

    def give(self, puzzle_hash: bytes, amount: int) -> Coin:
        """A block reward at this address."""
        coin: Coin = self._process.ask("give", puzzle_hash, amount)
        return coin

    # --- changes that are lost with the process ---

    def _to_height(self, height: int, name: str, *args: object, **options: object) -> None:
        before = self.peak()
        while (peak := self.peak()) != height:
            if peak != before:
                raise InvariantError(f"the node came back at height {peak}, not {before}")
            self._change(name, *args, **options)

    def _change(self, name: str, *args: object, **options: object) -> Any:
        """Let the process make a change, or kill it meanwhile: then the result is None."""
        self._process.send(methodcaller(name, *args, **options))
        if not self._dies():
            return self._process.receive()
        self.kills += 1
        self._process.strike(self._chance)
        self._process.begin()
        self.url = str(self._process.receive())
        return None


@contextmanager
def _open_node(
    path: Path, seed: int, settings: NodeSettings, serves: bool, parent: Connection
) -> Iterator[SimulatedChain]:
    """The chain in its log; the parent gets the URL at which it is served."""
    with (
        stored_chain(path, seed, settings) as chain,
        chain.served() if serves else nullcontext("") as url,
    ):
        parent.send(url)
        yield chain
