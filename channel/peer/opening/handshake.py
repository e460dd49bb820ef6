"""The opening of a channel, messages A to F, as seen by either side.

Source: spec/channel.md, "Opening". The initiator sends A, C and E, the receiver B, D and F.
Only the initiator can complete state 0, and only the receiver state 1, with the same balances:
a side that could complete two states could preempt its own.

The channel coin is locked by the sum of two keys, and the standard puzzle has a hidden path: with
P and a puzzle h such that sum = P + sha256(P, h) * G, anyone can spend the coin by h, without a
signature. A receiver that sees the initiator's key before it names its own can choose its key
that way, and still prove possession of it. So A holds only the hash of the initiator's channel
key; the key follows in C.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from hashlib import sha256
from typing import TypeAlias

from channelsim.channel.chain.coins import Bundle, Coin, joined
from channelsim.channel.crypto.keys import PublicKeys, SecretKeys
from channelsim.channel.errors import InvariantError, Violation
from channelsim.channel.peer.agreement import least_funding_blocks
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.opening.funding import check_completed, check_part
from channelsim.channel.peer.opening.introduction import check_introduction, read_keys
from channelsim.channel.protocol.half_signed import SignedState, check_halves, sign_halves
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
from channelsim.channel.protocol.proposals import by_spacing
from channelsim.channel.protocol.state import Channel, ChannelState, Side

FUNDING_BLOCKS = 20
"""Blocks that the initiator gives the funding bundle to get in, multiplied by its spacing."""

MOST_FUNDING_BLOCKS = 4608
"""The latest deadline that the receiver accepts: about a day, in blocks."""


class OpeningStep(Enum):
    """The message that an opening waits for."""

    HELLO = "the other side's hello"
    LAUNCH = "the launcher and the deadline"
    FIRST_HALVES = "the halves for state 0"
    FUNDING = "the halves for state 1 and the initiator's funding"
    FUNDED = "the completed bundle"
    DONE = "nothing more"


@dataclass(frozen=True, slots=True)
class Opened:
    """A channel that is signed and can be funded.

    `newest` is the state that we can complete (F); `sent` is state 1 for the initiator, whose
    halves are out (S), and None for the receiver. `bundle` funds the channel; it is None while
    the initiator waits for message F: from message E on the receiver can publish it alone.
    """

    channel: Channel
    newest: SignedState
    sent: ChannelState | None
    bundle: Bundle | None
    deadline: int

    @property
    def wallet_coins(self) -> tuple[Coin, ...]:
        """The coins that fund the channel, as far as we know them: both once `bundle` is there."""
        spends = self.bundle.spends if self.bundle else ()
        coins = dict.fromkeys((self.channel.launcher_parent, *(spend.coin for spend in spends)))
        return tuple(coin for coin in coins if coin != self.channel.launcher)


@dataclass(frozen=True, slots=True)
class Opening:
    """One side's progress through the opening.

    `own_introduction` is our hello or welcome, once it is sent, and `introduction` the
    counterparty's, once it is accepted; `part` is the initiator's own part of
    the funding. `states` are those that halves were made for or received, oldest first.
    """

    secret_keys: SecretKeys = field(repr=False)
    step: OpeningStep = OpeningStep.HELLO
    own_introduction: Introduction | None = None
    introduction: Introduction | None = None
    channel: Channel | None = None
    deadline: int = 0
    part: Bundle | None = None
    states: tuple[tuple[ChannelState, SignedState | None], ...] = ()
    opened: Opened | None = None


Answered: TypeAlias = tuple[Opening, list[Message]]
"""The opening after a message, and the messages that answer it."""


def begin(config: Config, opening: Opening) -> Answered:
    """Begin to open: the initiator sends message A."""
    if config.side is Side.RECEIVER:
        return opening, []
    message = hello(config, opening)
    return replace(opening, own_introduction=message), [message]


def hello(config: Config, opening: Opening) -> Hello:
    """Make message A."""
    channel_key = bytes(opening.secret_keys.public().channel)
    common = _introduction(config, opening.secret_keys)
    return Hello(*common, channel_key_hash=sha256(channel_key).digest())


def welcome(config: Config, opening: Opening) -> Welcome:
    """Make message B."""
    keys = opening.secret_keys
    key, proof = bytes(keys.public().channel), keys.channel_proof()
    return Welcome(*_introduction(config, keys), channel_key=key, channel_proof=proof)


def receive(config: Config, opening: Opening, message: Message, peak: int) -> Answered:
    """Check the next message of the counterparty, at this height of the chain, and answer it.

    Raises `Violation`, which ends the opening for good: its keys are not used again.
    """
    match opening.step, message:
        case OpeningStep.HELLO, Hello() if config.side is Side.RECEIVER:
            return _on_hello(config, opening, message)
        case OpeningStep.HELLO, Welcome() if config.side is Side.INITIATOR:
            return _on_welcome(config, opening, message, peak)
        case OpeningStep.LAUNCH, Launch():
            return _on_launch(config, opening, message, peak)
        case OpeningStep.FIRST_HALVES, FirstHalves():
            return _on_first_halves(config, opening, message)
        case OpeningStep.FUNDING, Funding():
            return _on_funding(config, opening, message)
        case OpeningStep.FUNDED, Funded():
            return _on_funded(opening, message)
        case _:
            name = type(message).__name__.lower()
            raise Violation("CH-MSG-3", f"a {name} while waiting for {opening.step.value}")


# --- both sides --------------------------------------------------------------------------------


def _introduction(
    config: Config, keys: SecretKeys
) -> tuple[bytes, bytes, bytes, bytes, bytes, tuple[int, int], int, int, int]:
    public, agreement = keys.public(), config.agreement
    return (
        bytes(public.unroll),
        bytes(public.referee),
        config.reward_address,
        keys.payout_signature(config.reward_address),
        keys.unroll_proof(),
        agreement.contributions,
        agreement.unroll_timeout,
        agreement.times.response,
        agreement.times.move,
    )


def _build_channel(
    config: Config,
    opening: Opening,
    keys: PublicKeys,
    theirs: Introduction,
    launcher_parent: Coin,
) -> Channel:
    """Build the channel of both introductions; `keys` are the counterparty's."""
    ours = opening.own_introduction
    if ours is None:
        raise InvariantError("no introduction of our own yet")
    pairs = (opening.secret_keys.public(), ours), (keys, theirs)
    initiator, receiver = pairs if config.side is Side.INITIATOR else pairs[::-1]
    return Channel.of(
        keys=(initiator[0], receiver[0]),
        rewards=(initiator[1].reward_address, receiver[1].reward_address),
        payout_signatures=(initiator[1].payout_signature, receiver[1].payout_signature),
        contributions=config.agreement.contributions,
        unroll_timeout=config.agreement.unroll_timeout,
        agg_sig_data=config.agg_sig_data,
        launcher_parent=launcher_parent,
    )


def _agreed_channel(opening: Opening) -> Channel:
    if opening.channel is None:
        raise InvariantError(f"no channel while waiting for {opening.step.value}")
    return opening.channel


# --- the receiver ------------------------------------------------------------------------------


def _on_hello(config: Config, opening: Opening, message: Hello) -> Answered:
    public = opening.secret_keys.public()
    check_introduction(message, public, config.reward_address, config.agreement)
    answer = welcome(config, opening)
    after = replace(opening, step=OpeningStep.LAUNCH, own_introduction=answer, introduction=message)
    return after, [answer]


def _on_launch(config: Config, opening: Opening, launch: Launch, peak: int) -> Answered:
    introduction = opening.introduction
    if not isinstance(introduction, Hello):
        raise InvariantError("no hello yet")
    if sha256(launch.channel_key).digest() != introduction.channel_key_hash:
        raise Violation("CH-OPEN-11", "the channel key does not match the hash in the hello")
    ours = opening.secret_keys
    keys = read_keys(introduction, launch.channel_key, launch.channel_proof, ours.public())
    spacing = config.agreement.spacing
    least, most = peak + least_funding_blocks(spacing), peak + MOST_FUNDING_BLOCKS
    if not least <= launch.deadline <= most:
        raise Violation(
            "CH-OPEN-7",
            f"deadline {launch.deadline} at height {peak}, from {least} to {most}"
            f"{by_spacing(spacing)}",
        )
    if launch.parent.id == config.wallet.coin.id:
        raise Violation("CH-OPEN-9", "the launcher would come from our own coin")
    channel = _build_channel(config, opening, keys, introduction, launch.parent)
    state = ChannelState(0, config.agreement.contributions)
    after = replace(
        opening,
        step=OpeningStep.FUNDING,
        channel=channel,
        deadline=launch.deadline,
        states=((state, None),),
    )
    return after, [FirstHalves(*sign_halves(channel, ours, state))]


def _on_funding(config: Config, opening: Opening, funding: Funding) -> Answered:
    channel, deadline = _agreed_channel(opening), opening.deadline
    halves = (funding.channel_half, funding.unroll_half)
    state = ChannelState(1, config.agreement.contributions)
    newest = check_halves(channel, Side.INITIATOR, state, halves, "CH-OPEN-8")
    check_part(channel, funding.part, deadline)
    bundle = funding.part
    contribution = channel.contributions[Side.RECEIVER]
    if contribution:
        own = config.wallet.fund(channel, contribution, deadline, launch=False)
        bundle = joined(bundle, own)
    after = replace(
        opening,
        step=OpeningStep.DONE,
        states=(*opening.states, (state, newest)),
        opened=Opened(channel, newest, None, bundle, deadline),
    )
    return after, [Funded(bundle)]


# --- the initiator -----------------------------------------------------------------------------


def _on_welcome(config: Config, opening: Opening, message: Welcome, peak: int) -> Answered:
    ours = opening.secret_keys
    public = ours.public()
    check_introduction(message, public, config.reward_address, config.agreement)
    keys = read_keys(message, message.channel_key, message.channel_proof, public)
    coin, deadline = config.wallet.coin, peak + config.agreement.spacing * FUNDING_BLOCKS
    after = replace(
        opening,
        step=OpeningStep.FIRST_HALVES,
        introduction=message,
        channel=_build_channel(config, opening, keys, message, coin),
        deadline=deadline,
    )
    return after, [Launch(coin, deadline, bytes(public.channel), ours.channel_proof())]


def _on_first_halves(config: Config, opening: Opening, message: FirstHalves) -> Answered:
    channel, deadline = _agreed_channel(opening), opening.deadline
    halves = (message.channel_half, message.unroll_half)
    state = ChannelState(0, config.agreement.contributions)
    newest = check_halves(channel, Side.RECEIVER, state, halves, "CH-OPEN-8")
    contribution = channel.contributions[Side.INITIATOR]
    part = config.wallet.fund(channel, contribution, deadline, launch=True)
    sent = ChannelState(1, config.agreement.contributions)
    after = replace(
        opening,
        step=OpeningStep.FUNDED,
        part=part,
        states=((state, newest), (sent, None)),
        opened=Opened(channel, newest, sent, None, deadline),
    )
    return after, [Funding(*sign_halves(channel, opening.secret_keys, sent), part)]


def _on_funded(opening: Opening, message: Funded) -> Answered:
    if opening.part is None or opening.opened is None:
        raise InvariantError("no funding part yet")
    check_completed(_agreed_channel(opening), opening.part, message.bundle, opening.deadline)
    opened = replace(opening.opened, bundle=message.bundle)
    return replace(opening, step=OpeningStep.DONE, opened=opened), []
