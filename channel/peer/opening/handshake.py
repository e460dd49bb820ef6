"""The opening of a channel, messages A to F: a state machine for both ends.

Source: the state channel, "Opening". The initiator says A, C and E, the receiver B, D and F.
State 0 is completed only by the initiator, state 1 (the same balances) only by the receiver:
a state that both hold would let one of them preempt himself.

The channel coin is locked by the sum of two keys, and the standard puzzle has a hidden path:
whoever knows P and a puzzle h with sum = P + sha256(P, h) * G spends the coin by h, without a
signature. A receiver that sees the other key before it names its own can choose it so, and prove
that it has it. So A holds only the hash of the initiator's channel key; the key follows in C.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from hashlib import sha256

from channel.chain.coins import Bundle, Coin
from channel.crypto import bls
from channel.crypto.keys import PublicKeys, SecretKeys
from channel.errors import InvariantError, Violation
from channel.peer.opening.funding import check_completed, check_part
from channel.peer.opening.introduction import Agreement, check_introduction, read_keys
from channel.protocol.half_signed import Signed, check_halves, sign_halves
from channel.protocol.messages import (
    FirstHalves,
    Funded,
    Funding,
    Hello,
    Introduction,
    Launch,
    Message,
    Welcome,
)
from channel.protocol.proposals import ANSWER_MARGIN
from channel.protocol.state import Channel, ChannelState, Side
from channel.protocol.wallet import Wallet

FUNDING_BLOCKS = 20
"""How many blocks the initiator gives the funding bundle to get in."""

MOST_FUNDING_BLOCKS = 4608
"""The latest deadline that the receiver accepts, a day: so long it may have to wait."""


class OpeningStep(Enum):
    """What an opening waits for."""

    HELLO = "the other side's hello"
    LAUNCH = "the launcher and the deadline"
    FIRST_HALVES = "the halves for state 0"
    FUNDING = "the halves for state 1 and the initiator's funding"
    FUNDED = "the completed bundle"
    DONE = "nothing more"


@dataclass(frozen=True, slots=True)
class Opened:
    """A channel that can come to be: its states, and the bundle that funds it.

    `newest` is the state that we can complete (F); `sent` is state 1 for the initiator,
    whose halves are out (S), and None for the receiver. `bundle` is None while the initiator
    waits for the completed one: from message E on the receiver can publish it alone.
    """

    channel: Channel
    newest: Signed
    sent: ChannelState | None
    bundle: Bundle | None
    deadline: int


class Opening:
    """One side of an opening. `receive` takes a message and gives the answers to send.

    A `Violation` ends it for good: the keys are used no more. `channel` is what it would
    open, once that is known; `states` are those that halves were made for or received.
    """

    def __init__(
        self,
        side: Side,
        secret_keys: SecretKeys,
        reward_address: bytes,
        wallet: Wallet,
        agreement: Agreement,
        agg_sig_data: bytes,
    ) -> None:
        self.side = side
        self.step = OpeningStep.HELLO
        self.opened: Opened | None = None
        self.channel: Channel | None = None
        self.states: tuple[tuple[ChannelState, Signed | None], ...] = ()
        self._secret = secret_keys
        self._public = secret_keys.public()
        self._reward = reward_address
        self._wallet = wallet
        self._agreement = agreement
        self._agg_sig_data = agg_sig_data
        self._payout_signature = secret_keys.payout_signature(reward_address)
        self._hello: Hello | None = None
        self._theirs: tuple[PublicKeys, Introduction] | None = None
        self._newest: Signed | None = None
        self._part: Bundle | None = None
        self._deadline = 0

    def hello(self) -> Hello:
        """Message A."""
        key_hash = sha256(bytes(self._public.channel)).digest()
        return Hello(*self._introduction(), channel_key_hash=key_hash)

    def welcome(self) -> Welcome:
        """Message B."""
        key, proof = bytes(self._public.channel), self._secret.channel_proof()
        return Welcome(*self._introduction(), channel_key=key, channel_proof=proof)

    def _introduction(
        self,
    ) -> tuple[bytes, bytes, bytes, bytes, bytes, tuple[int, int], int, int, int]:
        return (
            bytes(self._public.unroll),
            bytes(self._public.referee),
            self._reward,
            self._payout_signature,
            self._secret.unroll_proof(),
            self._agreement.contributions,
            self._agreement.unroll_timeout,
            self._agreement.times.response,
            self._agreement.times.move,
        )

    def receive(self, message: Message, peak: int) -> list[Message]:
        """Take the other side's message at this height of the chain. Raises `Violation`."""
        match self.step, message:
            case OpeningStep.HELLO, Hello() if self.side is Side.RECEIVER:
                return self._on_hello(message)
            case OpeningStep.HELLO, Welcome() if self.side is Side.INITIATOR:
                return self._on_welcome(message, peak)
            case OpeningStep.LAUNCH, Launch():
                return self._on_launch(message, peak)
            case OpeningStep.FIRST_HALVES, FirstHalves():
                return self._on_first_halves(message)
            case OpeningStep.FUNDING, Funding():
                return self._on_funding(message)
            case OpeningStep.FUNDED, Funded():
                return self._on_funded(message)
            case _:
                name = type(message).__name__.lower()
                raise Violation("CH-MSG-3", f"a {name} while waiting for {self.step.value}")

    # --- both sides ------------------------------------------------------------------------

    def _build(self, launcher_parent: Coin) -> Channel:
        if self._theirs is None:
            raise InvariantError("no keys yet")
        keys, introduction = self._theirs
        reward, payout_signature = introduction.reward_address, introduction.payout_signature
        ours_first = self.side is Side.INITIATOR
        return Channel.of(
            keys=(self._public, keys) if ours_first else (keys, self._public),
            rewards=(self._reward, reward) if ours_first else (reward, self._reward),
            payout_signatures=(
                (self._payout_signature, payout_signature)
                if ours_first
                else (payout_signature, self._payout_signature)
            ),
            contributions=self._agreement.contributions,
            unroll_timeout=self._agreement.unroll_timeout,
            agg_sig_data=self._agg_sig_data,
            launcher_parent=launcher_parent,
        )

    def _opening_state(self, number: int) -> ChannelState:
        return ChannelState(number, self._agreement.contributions)

    def _opens(self, sent: ChannelState | None, bundle: Bundle | None) -> None:
        if self.channel is None or self._newest is None:
            raise InvariantError("an opening completed before its states")
        self.opened = Opened(self.channel, self._newest, sent, bundle, self._deadline)
        self.step = OpeningStep.FUNDED if bundle is None else OpeningStep.DONE

    # --- the receiver ----------------------------------------------------------------------

    def _on_hello(self, hello: Hello) -> list[Message]:
        check_introduction(hello, self._public, self._reward, self._agreement)
        self._hello = hello
        self.step = OpeningStep.LAUNCH
        return [self.welcome()]

    def _on_launch(self, launch: Launch, peak: int) -> list[Message]:
        if self._hello is None:
            raise InvariantError("no hello yet")
        if sha256(launch.channel_key).digest() != self._hello.channel_key_hash:
            raise Violation("CH-OPEN-11", "another channel key than the hello has the hash of")
        keys = read_keys(self._hello, launch.channel_key, launch.channel_proof, self._public)
        least = peak + ANSWER_MARGIN
        if not least <= launch.deadline <= peak + MOST_FUNDING_BLOCKS:
            raise Violation("CH-OPEN-7", f"deadline {launch.deadline} at height {peak}")
        if launch.parent.id == self._wallet.coin.id:
            raise Violation("CH-OPEN-9", "the launcher would come from our own coin")
        self._theirs = keys, self._hello
        self._deadline = launch.deadline
        self.channel = self._build(launch.parent)
        state = self._opening_state(0)
        halves = sign_halves(self.channel, self._secret, state)
        self.states = ((state, None),)
        self.step = OpeningStep.FUNDING
        return [FirstHalves(*halves)]

    def _on_funding(self, funding: Funding) -> list[Message]:
        channel = self.channel
        if channel is None:
            raise InvariantError("no launcher yet")
        halves = (funding.channel_half, funding.unroll_half)
        state = self._opening_state(1)
        newest = check_halves(channel, self.side.other, state, halves, "CH-OPEN-8")
        check_part(channel, funding.part, self._deadline)
        bundle = funding.part
        contribution = channel.contributions[Side.RECEIVER]
        if contribution:
            own = self._wallet.fund(channel, contribution, self._deadline, launch=False)
            bundle = Bundle((*bundle.spends, *own.spends), bls.add(bundle.signature, own.signature))
        self._newest = newest
        self.states = (*self.states, (state, newest))
        self._opens(None, bundle)
        return [Funded(bundle)]

    # --- the initiator ---------------------------------------------------------------------

    def _on_welcome(self, welcome: Welcome, peak: int) -> list[Message]:
        check_introduction(welcome, self._public, self._reward, self._agreement)
        keys = read_keys(welcome, welcome.channel_key, welcome.channel_proof, self._public)
        self._theirs = keys, welcome
        self._deadline = peak + FUNDING_BLOCKS
        self.channel = self._build(self._wallet.coin)
        self.step = OpeningStep.FIRST_HALVES
        channel_key, proof = bytes(self._public.channel), self._secret.channel_proof()
        return [Launch(self._wallet.coin, self._deadline, channel_key, proof)]

    def _on_first_halves(self, message: FirstHalves) -> list[Message]:
        channel = self.channel
        if channel is None:
            raise InvariantError("no channel yet")
        halves = (message.channel_half, message.unroll_half)
        state = self._opening_state(0)
        self._newest = check_halves(channel, self.side.other, state, halves, "CH-OPEN-8")
        contribution = channel.contributions[Side.INITIATOR]
        self._part = self._wallet.fund(channel, contribution, self._deadline, launch=True)
        sent = self._opening_state(1)
        ours = sign_halves(channel, self._secret, sent)
        self.states = ((state, self._newest), (sent, None))
        self._opens(sent, None)
        return [Funding(*ours, self._part)]

    def _on_funded(self, message: Funded) -> list[Message]:
        if self.channel is None or self._part is None:
            raise InvariantError("no funding part yet")
        check_completed(self.channel, self._part, message.bundle, self._deadline)
        self._opens(self._opening_state(1), message.bundle)
        return []
