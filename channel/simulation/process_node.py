"""An embedded node in a process of its own, with its log on disk, that is killed by SIGKILL."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import nullcontext, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from channelsim.channel.chain.chain_log import stored_chain
from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.interface import PushResult
from channelsim.channel.chain.observations import CoinSeen, PendingBundle
from channelsim.channel.chain.simulator import PUBLIC_LIKE, NodeSettings
from channelsim.channel.errors import InvariantError
from channelsim.channel.simulation.child_process import ChildProcess
from channelsim.channel.system.interrupt import SIGNALS
from channelsim.games.chance import Chance


class ProcessNode:
    """A `FarmableChain` whose process is killed during some changes, and comes back from its log.

    `dies` decides at each change whether to kill it, `chance` when: at once, or up to a little
    later than a change usually takes. A change that was lost with it is made again; the log has
    each whole or not at all. With `serves`, the node's RPC is at `url` until it is killed.
    """

    def __init__(
        self,
        path: Path,
        seed: int,
        dies: Callable[[], bool],
        chance: Chance,
        *,
        settings: NodeSettings = PUBLIC_LIKE,
        serves: bool = False,
    ) -> None:
        self.kills = 0
        self.url = ""
        self._dies = dies
        self._chance = chance
        self._usual = 0.005
        self._process = ChildProcess("the node's process", _serve, path, seed, settings, serves)
        self._begin()

    def close(self) -> None:
        """End the process."""
        self._process.kill()

    # --- a chain whose blocks the caller makes ---

    def peak(self) -> int:
        """The height of the tip."""
        return int(self._ask("peak"))

    def agg_sig_data(self) -> bytes:
        """The suffix of AGG_SIG_ME messages on this network."""
        return bytes(self._ask("agg_sig_data"))

    def coin(self, coin_id: bytes) -> CoinSeen | None:
        """The coin with this id, if the chain has it."""
        seen: CoinSeen | None = self._ask("coin", coin_id)
        return seen

    def coins_at(self, puzzle_hash: bytes) -> list[CoinSeen]:
        """The unspent coins at this address."""
        return list(self._ask("coins_at", puzzle_hash))

    def children(self, coin_id: bytes) -> list[CoinSeen]:
        """The coins that this coin's spend created, by id, without solutions."""
        return list(self._ask("children", coin_id))

    def pending(self, coin_id: bytes) -> list[PendingBundle]:
        """The bundles in the mempool that spend this coin."""
        return list(self._ask("pending", coin_id))

    def fee_rate(self) -> int:
        """Mojos per cost that the node asks of a spend that is confirmed within about a minute."""
        return int(self._ask("fee_rate"))

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
        coin: Coin = self._ask("give", puzzle_hash, amount)
        return coin

    # --- the process ---

    def _to_height(self, height: int, name: str, *given: object, **options: object) -> None:
        before = self.peak()
        while (peak := self.peak()) != height:
            if peak != before:
                raise InvariantError(f"the node came back at height {peak}, not {before}")
            self._change(name, *given, **options)

    def _change(self, name: str, *given: object, **options: object) -> Any:
        """Let the process make a change, or kill it meanwhile: then the result is `KILLED`."""
        begun = monotonic()
        self._process.send((name, given, options))
        if self._dies():
            sleep(self._usual * self._chance.below(1500) / 1000)
            self._process.kill()
            self.kills += 1
            self._begin()
            return KILLED
        found = self._process.receive()
        self._usual = 0.9 * self._usual + 0.1 * (monotonic() - begun)
        return found

    def _ask(self, name: str, *given: object) -> Any:
        self._process.send((name, given, {}))
        return self._process.receive()

    def _begin(self) -> None:
        self._process.begin()
        ready, self.url = self._process.receive()
        if ready != READY:
            raise InvariantError("the node's process is out of step")


READY, KILLED = "ready", "killed"


def _serve(path: Path, seed: int, settings: NodeSettings, serves: bool, parent: Connection) -> None:
    """The process of a node: it answers each call with its result."""
    for one in SIGNALS:
        signal.signal(one, signal.SIG_IGN)  # the parent handles them, and kills us
    # A parent that ends takes its pipe with it.
    with (
        suppress(EOFError, ConnectionError),
        stored_chain(path, seed, settings) as chain,
        chain.served() if serves else nullcontext("") as url,
    ):
        parent.send((READY, url))
        while True:
            name, given, options = parent.recv()
            parent.send(getattr(chain, name)(*given, **options))
