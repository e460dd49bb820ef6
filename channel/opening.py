"""The opening of a channel, messages A to F: a state machine for both ends.

Source: the state channel, "Opening". The initiator says A, C and E, the receiver B, D and F.
State 0 is completed only by the initiator, state 1 (the same balances) only by the receiver:
a state that both hold would let one of them preempt himself.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from channel import bls
from channel.coins import Bundle, Coin
from channel.errors import InvariantError, Violation
from channel.funding import check_completed, check_part
from channel.keys import PublicKeys, SecretKeys
from channel.messages import (
    FirstHalves,
    Funded,
    Funding,
    Hello,
    Launch,
    Message,
)
from channel.proposal import ANSWER_MARGIN
from channel.signed import Signed, check_halves, sign_halves
from channel.state import Channel, ChannelState, Side
from channel.wallet import Wallet
from games.referee import payout_message

FUNDING_BLOCKS = 20
"""How many blocks the initiator gives the funding bundle to get in."""

MOST_FUNDING_BLOCKS = 4608
"""The latest deadline that the receiver accepts, a day: so long it may have to wait."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """What both players agreed on before they talk: who pays what, and the unroll timeout.

    `contributions` in mojos, the initiator's first; `confirmations` is our own setting.
    """

    contributions: tuple[int, int]
    unroll_timeout: int
    confirmations: int

    def least_unroll_timeout(self) -> int:
        """The shortest unroll timeout that a careful player accepts, in blocks."""
        return self.confirmations + 2 + ANSWER_MARGIN


class Step(Enum):
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
        self.step = Step.HELLO
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
        self._theirs: tuple[PublicKeys, bytes, bytes] | None = None
        self._newest: Signed | None = None
        self._part: Bundle | None = None
        self._deadline = 0

    def hello(self) -> Hello:
        """Message A, or B."""
        channel_key, unroll_key, referee_key = self._public.all()
        return Hello(
            channel_key=channel_key,
            unroll_key=unroll_key,
            referee_key=referee_key,
            reward_address=self._reward,
            payout_signature=self._payout_signature,
            channel_proof=self._secret.channel_proof(),
            unroll_proof=self._secret.unroll_proof(),
            contributions=self._agreement.contributions,
            unroll_timeout=self._agreement.unroll_timeout,
        )

    def receive(self, message: Message, peak: int) -> list[Message]:
        """Take the other side's message at this height of the chain. Raises `Violation`."""
        match self.step, message:
            case Step.HELLO, Hello():
                return self._on_hello(message, peak)
            case Step.LAUNCH, Launch():
                return self._on_launch(message, peak)
            case Step.FIRST_HALVES, FirstHalves():
                return self._on_first_halves(message)
            case Step.FUNDING, Funding():
                return self._on_funding(message)
            case Step.FUNDED, Funded():
                return self._on_funded(message)
            case _:
                name = type(message).__name__.lower()
                raise Violation("CH-MSG-3", f"a {name} while waiting for {self.step.value}")

    # --- both sides ------------------------------------------------------------------------

    def _on_hello(self, hello: Hello, peak: int) -> list[Message]:
        keys = PublicKeys.read(hello.channel_key, hello.unroll_key, hello.referee_key)
        if set(keys.all()) & set(self._public.all()) or len(set(keys.all())) != 3:
            raise Violation("CH-OPEN-1", "two keys are the same")
        for name, key, proof in (
            ("channel", keys.channel, hello.channel_proof),
            ("unroll", keys.unroll, hello.unroll_proof),
        ):
            if not bls.verify(key, bytes(key), proof):
                raise Violation("CH-OPEN-2", f"the {name} key's proof is not its signature")
        message = payout_message(hello.reward_address)
        if not bls.verify(keys.referee, message, hello.payout_signature):
            raise Violation("CH-OPEN-3", "the payout signature is not the referee key's")
        if hello.reward_address == self._reward:
            raise Violation("CH-OPEN-4", "the reward address is ours")
        agreed = self._agreement
        if hello.contributions != agreed.contributions or sum(hello.contributions) == 0:
            raise Violation(
                "CH-OPEN-5", f"contributions {hello.contributions}, agreed {agreed.contributions}"
            )
        if hello.unroll_timeout != agreed.unroll_timeout:
            raise Violation(
                "CH-OPEN-6", f"{hello.unroll_timeout} blocks, agreed {agreed.unroll_timeout}"
            )
        if hello.unroll_timeout < agreed.least_unroll_timeout():
            raise Violation(
                "CH-OPEN-6",
                f"{hello.unroll_timeout} blocks; at least {agreed.least_unroll_timeout()}",
            )
        self._theirs = (keys, hello.reward_address, hello.payout_signature)
        if self.side is Side.RECEIVER:
            self.step = Step.LAUNCH
            return [self.hello()]
        self._deadline = peak + FUNDING_BLOCKS
        self.channel = self._build(self._wallet.coin)
        self.step = Step.FIRST_HALVES
        return [Launch(self._wallet.coin, self._deadline)]

    def _build(self, launcher_parent: Coin) -> Channel:
        if self._theirs is None:
            raise InvariantError("no hello yet")
        keys, reward, payout_signature = self._theirs
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
        self.step = Step.FUNDED if bundle is None else Step.DONE

    # --- the receiver ----------------------------------------------------------------------

    def _on_launch(self, launch: Launch, peak: int) -> list[Message]:
        least = peak + ANSWER_MARGIN
        if not least <= launch.deadline <= peak + MOST_FUNDING_BLOCKS:
            raise Violation("CH-OPEN-7", f"deadline {launch.deadline} at height {peak}")
        if launch.parent.id == self._wallet.coin.id:
            raise Violation("CH-OPEN-9", "the launcher would come from our own coin")
        self._deadline = launch.deadline
        self.channel = self._build(launch.parent)
        state = self._opening_state(0)
        halves = sign_halves(self.channel, self._secret, state)
        self.states = ((state, None),)
        self.step = Step.FUNDING
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
