"""Judge each message of the opening, A to F, independently of the engine.

Source: spec/channel.md, "Keys and signatures" and "Opening".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar

from chia_rs import G1Element

from channelsim.channel.chain.coins import (
    Bundle,
    Coin,
    Spend,
    launcher_announcement,
    launcher_puzzle,
    launcher_solution,
)
from channelsim.channel.errors import InvariantError
from channelsim.channel.protocol.messages import (
    FirstHalves,
    Funded,
    Funding,
    Hello,
    Introduction,
    Launch,
    Message,
    Welcome,
)
from channelsim.channel.simulation.model.channel_terms import ChannelTerms, signed
from channelsim.channel.simulation.model.ledger import LedgerState
from channelsim.clsp.programs import Program
from channelsim.clsp.run import ProgramValid, run_serialized
from channelsim.clsp.values import (
    BadValue,
    NotAList,
    Value,
    atom_to_int,
    deserialize,
    from_list,
    int_to_atom,
    is_minimal,
    serialize,
)
from channelsim.games.referee import payout_message

STEPS = (
    (Hello, 0),
    (Welcome, 1),
    (Launch, 0),
    (FirstHalves, 1),
    (Funding, 0),
    (Funded, 1),
)
"""The messages of an opening in order, each with the side that sends it."""

MOST_COST = 200_000_000
"""The CLVM cost that running a wallet's spend may have."""

MARGIN = 3
"""Blocks that the funding has at least, multiplied by the spacing."""

OWN_BLOCKS = 20
"""Blocks that an honest initiator gives the funding, multiplied by its spacing."""

A_DAY = 4608
"""Blocks in a day: the latest deadline of a funding."""


M = TypeVar("M", bound=Message)


@dataclass(frozen=True, slots=True)
class OpeningTerms:
    """The terms that both players agreed on before the opening, and the coins of their wallets.

    `times` are the response and the move time, in blocks. `honest` is the side that does nothing
    wrong.
    """

    contributions: tuple[int, int]
    unroll_timeout: int
    times: tuple[int, int]
    confirmations: int
    spacing: int
    agg_sig_data: bytes
    wallets: tuple[Coin, Coin]
    honest: int


class Handshake:
    """An opening, judged message by message.

    `agreed` has the terms that it fixes, from message C on.
    """

    def __init__(self, terms: OpeningTerms) -> None:
        self._terms = terms
        self._said: list[Message] = []
        self.agreed: ChannelTerms | None = None

    @property
    def over(self) -> bool:
        """True if all six messages were sent."""
        return len(self._said) == len(STEPS)

    @property
    def signed(self) -> bool:
        """True if both states of the opening are signed."""
        return len(self._said) >= len(STEPS) - 1

    @property
    def awaits_funding(self) -> bool:
        """True if the initiator's halves and its funding are the next message."""
        return len(self._said) == len(STEPS) - 2

    @property
    def awaits_completion(self) -> bool:
        """True if only the completed bundle is missing."""
        return not self.over and len(self._said) == len(STEPS) - 1

    def take(self, message: Message, sender: int, peak: int) -> frozenset[str]:
        """Take a message at this height, unless it breaks rules: return those."""
        if self.over or (type(message), sender) != STEPS[len(self._said)]:
            return frozenset({"CH-MSG-3"})
        rules = frozenset(self._broken(message, peak))
        if not rules:
            self._said.append(message)
            if isinstance(message, Launch):
                self.agreed = self._agreed(message)
        return rules

    def _broken(self, message: Message, peak: int) -> Iterator[str]:
        match message:
            case Hello():
                yield from self._introduced(message, ())
            case Welcome(channel_key=key, channel_proof=proof):
                hello = self._sent(Hello)
                yield from self._introduced(message, (hello.unroll_key, hello.referee_key))
                others = (message.unroll_key, message.referee_key, *_keys(hello))
                yield from _proved(key, proof, others)
                if message.reward_address == hello.reward_address:
                    yield "CH-OPEN-4"
            case Launch():
                yield from self._launched(message, peak)
            case FirstHalves(channel_half, unroll_half):
                yield from self._halves(0, 1, (channel_half, unroll_half))
            case Funding(channel_half, unroll_half, part):
                yield from self._halves(1, 0, (channel_half, unroll_half))
                if not self._funds(part.spends, part.signature, (0,)):
                    yield "CH-OPEN-9"
            case Funded(bundle):
                if not self._completes(bundle):
                    yield "CH-OPEN-10"
            case _:
                yield "CH-MSG-3"

    # --- A, B and C ---

    def _introduced(self, introduction: Introduction, others: tuple[bytes, ...]) -> Iterator[str]:
        keys = introduction.unroll_key, introduction.referee_key
        if not all(map(_is_key, keys)) or {*keys} & {*others} or keys[0] == keys[1]:
            yield "CH-OPEN-1"
            return
        if not signed(
            (introduction.unroll_key,), (introduction.unroll_key,), introduction.unroll_proof
        ):
            yield "CH-OPEN-2"
        if not signed(
            (introduction.referee_key,),
            (payout_message(introduction.reward_address),),
            introduction.payout_signature,
        ):
            yield "CH-OPEN-3"
        if introduction.contributions != self._terms.contributions or not sum(
            introduction.contributions
        ):
            yield "CH-OPEN-5"
        least = (self._terms.confirmations + 2 + MARGIN) * self._terms.spacing
        if (
            introduction.unroll_timeout != self._terms.unroll_timeout
            or introduction.unroll_timeout < least
        ):
            yield "CH-OPEN-6"
        if (introduction.response_time, introduction.move_time) != self._terms.times:
            yield "CH-OPEN-12"

    def _launched(self, launch: Launch, peak: int) -> Iterator[str]:
        hello, welcome = self._sent(Hello), self._sent(Welcome)
        if sha256(launch.channel_key).digest() != hello.channel_key_hash:
            yield "CH-OPEN-11"
        others = (*_keys(hello), welcome.channel_key, *_keys(welcome))
        yield from _proved(launch.channel_key, launch.channel_proof, others)
        blocks = MARGIN if self._terms.honest else OWN_BLOCKS
        least = peak + blocks * self._terms.spacing
        if not least <= launch.deadline <= peak + A_DAY:
            yield "CH-OPEN-7"
        if launch.parent == self._terms.wallets[1]:
            yield "CH-OPEN-9"

    def _agreed(self, launch: Launch) -> ChannelTerms:
        return ChannelTerms.of(
            self._sent(Hello), self._sent(Welcome), launch, self._terms.agg_sig_data
        )

    def _sent(self, kind: type[M]) -> M:
        """The message of this kind. Raises `InvariantError` if it was not sent yet."""
        for message in self._said:
            if isinstance(message, kind):
                return message
        raise InvariantError(f"the opening has no {kind.__name__.lower()} yet")

    def terms(self) -> ChannelTerms:
        """The terms of the channel. Raises `InvariantError` before message C."""
        if self.agreed is None:
            raise InvariantError("the opening has not fixed the channel yet")
        return self.agreed

    # --- D, E and F ---

    def _halves(self, number: int, sender: int, halves: tuple[bytes, bytes]) -> Iterator[str]:
        if self.terms().unsigned(LedgerState(number, self._terms.contributions), sender, halves):
            yield "CH-OPEN-8"

    def _completes(self, bundle: Bundle) -> bool:
        """True if a bundle is the initiator's spends, the receiver's, and all signatures."""
        ours = self._sent(Funding).part.spends
        pays = (0, 1) if self._terms.contributions[1] else (0,)
        return bundle.spends[: len(ours)] == ours and self._funds(
            bundle.spends, bundle.signature, pays
        )

    def _funds(self, spends: tuple[Spend, ...], signature: bytes, sides: tuple[int, ...]) -> bool:
        """True if these spends launch the channel, pay each side's part, and are signed."""
        agreed, launch = self.terms(), self._sent(Launch)
        if len(spends) != 1 + len(sides) or len({spend.coin for spend in spends}) != len(spends):
            return False
        solution = launcher_solution(agreed.coin.puzzle_hash, agreed.coin.amount)
        launcher = Spend(agreed.launcher, launcher_puzzle().serialized, serialize(solution))
        wallets = (spends[0], *spends[2:])
        if spends[1] != launcher or wallets[0].coin != launch.parent:
            return False
        announced = launcher_announcement(agreed.launcher.id, solution)
        asserted = [(b"\x3d", announced), (b"\x57", int_to_atom(launch.deadline))]
        keys: list[bytes] = []
        messages: list[bytes] = []
        for side, wallet in zip(sides, wallets, strict=True):
            conditions = _conditions(wallet)
            created = [atoms[1:3] for atoms in conditions if atoms[:1] == (b"\x33",)]
            asked = [atoms for atoms in conditions if atoms[:1] == (b"\x32",)]
            rest = [atoms for atoms in conditions if atoms[:1] not in ((b"\x33",), (b"\x32",))]
            if (
                sorted(rest) != sorted(asserted)
                or not asked
                or any(len(atoms) != 3 for atoms in asked)
            ):
                return False
            if any(len(atoms) != 2 or not _is_amount(atoms[1]) for atoms in created):
                return False
            if side == 0 and (launcher_puzzle().hash, b"") not in created:
                return False
            paid = wallet.coin.amount - sum(atom_to_int(amount) for _, amount in created)
            if len({*created}) != len(created) or paid < self._terms.contributions[side]:
                return False
            keys += [key for _, key, _ in asked]
            messages += [
                message + wallet.coin.id + self._terms.agg_sig_data for _, _, message in asked
            ]
        return all(map(_is_key, keys)) and signed(tuple(keys), tuple(messages), signature)


def _keys(introduction: Introduction) -> tuple[bytes, bytes]:
    return introduction.unroll_key, introduction.referee_key


def _proved(key: bytes, proof: bytes, others: tuple[bytes, ...]) -> Iterator[str]:
    """The rules that a channel key with this proof breaks."""
    if not _is_key(key) or key in others:
        yield "CH-OPEN-1"
    elif not signed((key,), (key,), proof):
        yield "CH-OPEN-2"


def _is_key(blob: bytes) -> bool:
    try:
        return G1Element.from_bytes(blob) != G1Element()
    except ValueError:
        return False


def _is_amount(atom: bytes) -> bool:
    return is_minimal(atom) and atom_to_int(atom) >= 0


def _conditions(spend: Spend) -> list[tuple[bytes, ...]]:
    """The conditions of a wallet's spend, each up to its first pair.

    There are none where the spend gives no list of conditions.
    """
    try:
        if Program(spend.puzzle).hash != spend.coin.puzzle_hash:
            return []
        deserialize(spend.solution)
        outcome = run_serialized(spend.puzzle, spend.solution, MOST_COST)
        if not isinstance(outcome, ProgramValid):
            return []
        return [tuple(_atoms(condition)) for condition in from_list(outcome.value)]
    except (BadValue, NotAList):
        return []


def _atoms(condition: Value) -> Iterator[bytes]:
    for item in from_list(condition):
        if not isinstance(item, bytes):
            return
        yield item
