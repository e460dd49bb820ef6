"""Disputes that share one chain: a block is made when all of them have reacted to the last one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Condition, Thread
from typing import TypeVar

from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.forwarding import ForwardingChain
from channelsim.channel.chain.interface import FarmableChain
from tests.real_node.chain import RealChain

T = TypeVar("T")


class SharedBlocks(Exception):
    """One of those that share a chain wants to replace its blocks: it has to be alone."""


class SharedChain(ForwardingChain):
    """A chain for one of several threads; its blocks come when all threads have asked for one."""

    def __init__(self, chain: RealChain, blocks: Blocks) -> None:
        super().__init__(chain)
        self._real = chain
        self._blocks = blocks

    def give(self, puzzle_hash: bytes, amount: int) -> Coin:
        coin = self._real.pay(puzzle_hash, amount)
        self.farm()
        return coin

    def farm(self, blocks: int = 1) -> None:
        for _ in range(blocks):
            self._blocks.next()

    def reorganise(self, back: int, new: int, *, keep: bool, bundle: Bundle | None = None) -> None:
        raise SharedBlocks


class Blocks:
    """The blocks that `users` threads wait for together."""

    def __init__(self, farm: Callable[[], None], users: int) -> None:
        self._farm = farm
        self._users = users
        self._waiting = 0
        self._number = 0
        self._changed = Condition()

    def next(self) -> None:
        """Wait for the next block."""
        with self._changed:
            number = self._number
            self._waiting += 1
            self._make_if_due()
            while self._number == number:
                self._changed.wait()

    def leave(self) -> None:
        """Need no more blocks."""
        with self._changed:
            self._users -= 1
            self._make_if_due()

    def _make_if_due(self) -> None:
        if self._waiting and self._waiting == self._users:
            self._waiting = 0
            self._number += 1
            self._changed.notify_all()
            self._farm()


def all_on(chain: RealChain, works: Sequence[Callable[[FarmableChain], T]]) -> list[T]:
    """Do works that share a chain, in a thread each; their results in order.

    Raises the first failure, once all have ended.
    """
    blocks = Blocks(chain.farm, len(works))
    results: list[T | BaseException] = [InterruptedError()] * len(works)

    def do(index: int, work: Callable[[FarmableChain], T]) -> None:
        try:
            results[index] = work(SharedChain(chain, blocks))
        except BaseException as error:
            results[index] = error
        finally:
            blocks.leave()

    threads = [Thread(target=do, args=one, daemon=True) for one in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done: list[T] = []
    for result in results:
        if isinstance(result, BaseException):
            raise result
        done.append(result)
    return done
