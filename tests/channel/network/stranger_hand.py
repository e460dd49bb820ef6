"""The stranger plays a hand of Space Poker, folds after the ante, and signs the shutdown.

Written from the pages on the channel, the referee and Space Poker alone, as `stranger.py` is.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from chia_rs import AugSchemeMPL, G2Element, Program

from tests.channel.network.stranger import (
    AMOUNT,
    CREATE_COIN,
    SEEDS,
    Channel,
    Message,
    Wire,
    curried,
    tree_hash,
)

UNIT, STAKE, GAME_TIMEOUT, GAME_ID = 100, 1000, 15, 0
"""The ante and the stake of each in mojos, blocks, and the id of our first game."""


def infohash(validator: bytes, state: Any) -> bytes:
    return sha256(tree_hash(Program.from_bytes(validator)) + tree_hash(state)).digest()


@dataclass
class Hand:
    """A hand in which we are Alice, who proposes it and commits first.

    `programs` are the compiled referee and validators, by name.
    """

    channel: Channel
    programs: dict[str, bytes]
    image: bytes

    def coin(
        self, movers: str, move: bytes, size: int, next_hash: bytes, share: int, judge: bytes
    ) -> list[Any]:
        """The CREATE_COIN of a game coin; `movers` says whose turn it is."""
        ours = bytes(AugSchemeMPL.key_gen(bytes([SEEDS[2]]) * 32).get_g1())
        theirs = self.channel.theirs["referee_key"]
        keys = [ours, theirs] if movers == "ours" else [theirs, ours]
        referee = self.programs["referee"]
        mod = tree_hash(Program.from_bytes(referee))
        fixed = [*keys, GAME_TIMEOUT, 2 * STAKE, mod, GAME_ID]
        fixed += [move, size, next_hash, share, judge]
        return [CREATE_COIN, curried(referee, tree_hash(fixed)), 2 * STAKE]

    async def play(self, wire: Wire) -> tuple[int, int]:
        """Play the hand, from the request for the potato to our fold; the balances after it."""
        channel, before, live = self.channel, (AMOUNT, AMOUNT), (AMOUNT - STAKE, AMOUNT - STAKE)
        await wire.send({"say": "request"})
        await self._receive(wire, 2, channel.state(2, before, []), [])
        first = infohash(self.programs["commitA"], UNIT)
        offer = {
            "game_id": GAME_ID,
            "game": "spacepoker",
            "parameters": {"amount": 2 * STAKE, "bet_unit": UNIT},
            "timeout": GAME_TIMEOUT,
            "proposer_is_alice": True,
            "amount": 2 * STAKE,
            "stakes": [STAKE, STAKE],
            "commitment": first,
            "max_move_size": 32,
            "mover_share": 0,
        }
        await self._send(
            wire, 3, channel.state(3, before, []), {"do": "propose", "offers": [offer]}
        )
        coin = self.coin("ours", b"", 32, first, 0, b"\x78")
        await self._receive(
            wire, 4, channel.state(4, live, [coin]), [{"do": "accept", "group_id": GAME_ID}]
        )
        second = infohash(self.programs["commitB"], [UNIT, self.image])
        coin = self.coin("theirs", self.image, 32, second, STAKE, first)
        await self._send(
            wire, 5, channel.state(5, live, [coin]), self._move(self.image, STAKE, 32, second)
        )
        their_image = await self._their_commitment(wire, live, second)
        assert their_image != self.image
        after = (AMOUNT - UNIT, AMOUNT + UNIT)
        await self._send(wire, 7, channel.state(7, after, []), {"do": "settle", "game_id": GAME_ID})
        return after

    async def shut_down(self, wire: Wire, balances: tuple[int, int]) -> None:
        """Complete the shutdown that the other side asks for."""
        channel, total = self.channel, self.channel.sums[0]
        half = (await wire.receive("shutdown"))["half"]
        signed = channel.spend(channel.payouts(balances))
        channel.check_half("channel", half, total, signed)
        ours = AugSchemeMPL.sign(channel.key, signed, total)
        signature = bytes(ours + G2Element.from_bytes(half))
        await wire.send({"say": "shutdown-done", "signature": signature})

    async def _their_commitment(self, wire: Wire, live: tuple[int, int], judge: bytes) -> bytes:
        """Take Bob's commitment, with which each puts in the ante; returns his image."""
        batch = await wire.receive("batch")
        (action,) = batch["actions"]
        image: bytes = action["move"]
        mid_round = tree_hash(Program.from_bytes(self.programs["mid_round"]))
        state = [UNIT, UNIT, self.image, image, 4, mid_round]
        third = infohash(self.programs["begin_round"], state)
        assert len(image) == 32
        assert action == self._move(image, STAKE - UNIT, 42, third)
        coin = self.coin("ours", image, 42, third, STAKE - UNIT, judge)
        self.channel.check(batch, self.channel.state(6, live, [coin]))
        return image

    def _move(self, move: bytes, share: int, size: int, commitment: bytes) -> Message:
        return {
            "do": "move",
            "game_id": GAME_ID,
            "move": move,
            "share": share,
            "max_move_size": size,
            "commitment": commitment,
        }

    async def _send(
        self, wire: Wire, number: int, state: tuple[bytes, bytes], action: Message
    ) -> None:
        halves = self.channel.halves(state)
        await wire.send({"say": "batch", "number": number, "actions": [action], **halves})

    async def _receive(
        self, wire: Wire, number: int, state: tuple[bytes, bytes], actions: list[Message]
    ) -> None:
        batch = await wire.receive("batch")
        assert (batch["number"], batch["actions"]) == (number, actions)
        self.channel.check(batch, state)
