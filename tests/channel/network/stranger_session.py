"""The stranger plays hands of Space Poker, through connections that break, and shuts down.

Written from the pages on the channel, the referee and the network alone, as `stranger.py` is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
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
from tests.channel.network.stranger_poker import (
    STAKE,
    UNIT,
    Position,
    Rules,
    chain_of,
    chosen_move,
)

GAME_TIMEOUT = 15
"""Blocks."""


@dataclass
class Session:
    """An initiator in play. It proposes the first hand, and every second one after it.

    `connect` makes a new connection. `cuts` are the numbers of batches of ours in the middle of
    which the connection breaks, and `losses` those whose answer is lost with it. `done` are the
    validators of the moves that both made. Pairs are our value first.
    """

    channel: Channel
    programs: Mapping[str, bytes]
    wire: Wire
    connect: Callable[[], Awaitable[Wire]]
    hands: int
    cuts: frozenset[int] = frozenset()
    losses: frozenset[int] = frozenset()
    done: list[str] = field(default_factory=list)
    number: int = 1
    balances: tuple[int, int] = (AMOUNT, AMOUNT)
    hand: int = 0
    offer: Message | None = None
    live: Position | None = None
    holds: bool = False
    asked: bool = False
    requested: bool = False
    sent: Message = field(default_factory=dict)
    received: Message = field(default_factory=dict)
    conditions: bytes = b""

    async def play(self) -> tuple[int, int]:
        """Play all hands, and complete the shutdown; returns the balances."""
        while True:
            await self._act()
            if self.holds and self._actions():
                continue  # a lost answer has come meanwhile
            message = await self.wire.receive()
            match message["say"]:
                case "request":
                    self.asked = self.holds
                case "batch":
                    self._take(message)
                case "advisory":
                    self._check_advisory(message)
                case "shutdown":
                    await self._shut_down(message["half"])
                    return self.balances
                case other:
                    raise AssertionError(other)

    # --- what we do ---

    async def _act(self) -> None:
        """Send a batch if we hold the potato and have a reason to; ask for it if we need it."""
        actions = self._actions() if self.holds else []
        if actions or self.asked:
            await self._send_batch(actions)
        if not self.holds and self._proposes and not self.requested:
            self.requested = True
            await self.wire.send({"say": "request"})

    @property
    def _proposes(self) -> bool:
        """True if the next thing to happen is a proposal of ours."""
        ours = self.hand % 2 == 0 and self.hand < self.hands
        return ours and self.live is None and self.offer is None

    async def _send_batch(self, actions: list[Message]) -> None:
        for action in actions:
            self._apply(action, ours=True)
        self.number += 1
        self.sent = {
            "say": "batch",
            "number": self.number,
            "actions": actions,
            **self.channel.halves(self._state()),
        }
        self.holds = self.asked = False
        if self.number in self.cuts:
            await self.wire.send_half(self.sent)
            await self._reconnect()
        else:
            await self.wire.send(self.sent)
        if self.number in self.losses:
            lost = await self._answer()
            await self._reconnect()
            assert await self._answer() == lost
            self._take(lost)

    async def _answer(self) -> Message:
        """Their next batch, however many early reveals come before it."""
        while (message := await self.wire.receive())["say"] != "batch":
            assert message["say"] == "advisory"
        return message

    def _actions(self) -> list[Message]:
        """What we do with the potato, in the order of the text."""
        if self.live is not None:
            return [self._turn(self.live)] if self.live.ours else []
        if self.offer is not None:
            return [{"do": "accept", "group_id": self.hand}] if self.hand % 2 else []
        return [{"do": "propose", "offers": [self._offered()]}] if self._proposes else []

    def _turn(self, live: Position) -> Message:
        """Our move, or a settlement: of a game that is over, or of the last hand, which we fold."""
        folds = self.hand == self.hands - 1 and live.validator not in ("commitA", "commitB")
        if live.validator is None or folds:
            return {"do": "settle", "game_id": self.hand}
        return self._move(live, chosen_move(live, self._chain))

    async def _reconnect(self) -> None:
        """Connect anew, and exchange the last numbers."""
        self.wire.writer.transport.abort()
        self.wire = await self.connect()
        ours = {name: self.received[name] for name in ("channel_half", "unroll_half")}
        numbers = {"received": self.received["number"], "sent": self.sent["number"]}
        last = {"conditions": self.conditions, "decks": [], "highest_deck": 0}
        await self.wire.send({"say": "resume", **numbers, **last, **ours})
        theirs = await self.wire.receive()
        assert theirs["say"] == "resume"
        if theirs["received"] < self.sent["number"]:
            await self.wire.send(self.sent)

    async def _shut_down(self, half: bytes) -> None:
        """Complete the shutdown that the other side asks for."""
        channel, total = self.channel, self.channel.sums[0]
        assert (self.hand, self.holds) == (self.hands, False)
        signed = channel.spend(channel.payouts(self.balances))
        channel.check_half("channel", half, total, signed)
        ours = AugSchemeMPL.sign(channel.key, signed, total)
        signature = bytes(ours + G2Element.from_bytes(half))
        await self.wire.send({"say": "shutdown-done", "signature": signature})

    # --- what the other side does ---

    def _take(self, batch: Message) -> None:
        assert not self.holds
        assert batch["number"] == self.number + 1
        for action in batch["actions"]:
            self._apply(action, ours=False)
        self.number += 1
        messages = self._state()
        self.channel.check(batch, messages)
        self.received, self.conditions = batch, messages[1]
        self.holds, self.requested = True, False

    def _check_advisory(self, message: Message) -> None:
        """An early reveal has to be below an image of theirs."""
        if self.live is not None and message["game_id"] == self.hand:
            assert sha256(message["data"]).digest() in self.live.state

    # --- both ---

    def _apply(self, action: Message, *, ours: bool) -> None:
        """Change the state as this action of one side does; it has to be right."""
        match action["do"]:
            case "propose":
                assert action["offers"] == [self._offered()]
                assert (self.hand % 2 == 0) == ours
                (self.offer,) = action["offers"]
            case "accept":
                assert action["group_id"] == self.hand
                assert (self.hand % 2 == 1) == ours
                self.offer = None
                self.live = Rules(self.programs).first(ours=self.hand % 2 == 0)
                self.balances = (self.balances[0] - STAKE, self.balances[1] - STAKE)
            case "move":
                assert self.live is not None
                assert self.live.validator is not None
                assert self.live.ours == ours
                assert action == self._move(self.live, action["move"])
                raises = self.live.validator == "mid_round" and len(action["move"]) > 32
                self.done.append("raise" if raises else self.live.validator)
                self.live = Rules(self.programs).after(self.live, action["move"])
            case "settle":
                assert self.live is not None
                assert (self.live.ours, self.hand) == (ours, action["game_id"])
                shares = (self.live.share, 2 * STAKE - self.live.share)
                own, theirs = shares if ours else shares[::-1]
                self.balances = (self.balances[0] + own, self.balances[1] + theirs)
                self.live = None
                self.hand += 1
            case other:
                raise AssertionError(other)

    def _move(self, before: Position, move: bytes) -> Message:
        rules = Rules(self.programs)
        after = rules.after(before, move)
        return {
            "do": "move",
            "game_id": self.hand,
            "move": move,
            "share": after.share,
            "max_move_size": after.size,
            "commitment": rules.infohash(after),
        }

    def _offered(self) -> Message:
        """The offer of the next hand, in which the proposer is Alice."""
        rules = Rules(self.programs)
        first = rules.first(ours=True)
        return {
            "game_id": self.hand,
            "game": "spacepoker",
            "parameters": {"amount": 2 * STAKE, "bet_unit": UNIT},
            "timeout": GAME_TIMEOUT,
            "proposer_is_alice": True,
            "amount": 2 * STAKE,
            "stakes": [STAKE, STAKE],
            "commitment": rules.infohash(first),
            "max_move_size": first.size,
            "mover_share": first.share,
        }

    @property
    def _chain(self) -> tuple[bytes, ...]:
        """Our values in this hand."""
        return chain_of(sha256(b"hand %d" % self.hand).digest()[:16])

    def _state(self) -> tuple[bytes, bytes]:
        """What both halves of the newest state sign."""
        games = [self._coin(self.live)] if self.live is not None else []
        return self.channel.state(self.number, self.balances, games)

    def _coin(self, live: Position) -> list[Any]:
        """The CREATE_COIN of a game coin."""
        ours = bytes(AugSchemeMPL.key_gen(bytes([SEEDS[2]]) * 32).get_g1())
        theirs = self.channel.theirs["referee_key"]
        keys = [ours, theirs] if live.ours else [theirs, ours]
        referee = self.programs["referee"]
        mod = tree_hash(Program.from_bytes(referee))
        fixed = [*keys, GAME_TIMEOUT, 2 * STAKE, mod, self.hand]
        infohash = Rules(self.programs).infohash(live)
        fixed += [live.move, live.size, infohash, live.share, live.judge]
        return [CREATE_COIN, curried(referee, tree_hash(fixed)), 2 * STAKE]
