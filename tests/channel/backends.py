"""Two backends of `channel.chain` that must behave alike: a node in process, and over its RPC."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.full_node import Patience, RpcChain
from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.chain.simulator import SimulatedChain

BACKENDS = ("in process", "over RPC")


class Served(RpcChain):
    """A node over its RPC server; blocks and money come from the node itself, in process."""

    def __init__(self, node: SimulatedChain, url: str) -> None:
        super().__init__(url, patience=Patience(seconds=60))
        self._node = node

    def farm(self, blocks: int = 1) -> None:
        self._node.farm(blocks)

    def reorganise(self, back: int, new: int, *, keep: bool, bundle: Bundle | None = None) -> None:
        self._node.reorganise(back, new, keep=keep, bundle=bundle)

    def give(self, puzzle_hash: bytes, amount: int) -> Coin:
        return self._node.give(puzzle_hash, amount)


@contextmanager
def backend(name: str, seed: int = 1) -> Iterator[FarmableChain]:
    """Make a chain of this kind."""
    node = SimulatedChain(seed)
    if name == "in process":
        yield node
        return
    with node.served() as url, Served(node, url) as chain:
        yield chain
