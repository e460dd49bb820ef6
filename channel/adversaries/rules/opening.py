"""Violations of the rules of messages, of the opening, and of last numbers."""

from __future__ import annotations

from msgspec.structs import replace

from channelsim.channel.adversaries.rules import wallet_spends
from channelsim.channel.adversaries.rules.breaker import (
    RuleBreaker,
    Variants,
    breaks,
    breaks_kind,
    changed,
)
from channelsim.channel.peer.agreement import least_funding_blocks
from channelsim.channel.peer.machine import Phase
from channelsim.channel.peer.opening.handshake import MOST_FUNDING_BLOCKS
from channelsim.channel.protocol.half_signed import sign_halves
from channelsim.channel.protocol.messages import (
    MAX_MESSAGE,
    Advisory,
    FirstHalves,
    Funded,
    Funding,
    Hello,
    Introduction,
    Launch,
    Message,
    Request,
    Resume,
    Welcome,
    encode,
)
from channelsim.channel.protocol.state import ChannelState


@breaks("CH-MSG-1")
def _too_long(breaker: RuleBreaker, message: Message) -> Variants:
    return [[encode(message) + bytes(MAX_MESSAGE)]]


@breaks("CH-MSG-2")
def _no_message(breaker: RuleBreaker, message: Message) -> Variants:
    return [[b""], [b"\xc1"], [encode(message)[:-1]], [encode(message) + b"\x00"]]


@breaks("CH-MSG-3")
def _out_of_step(breaker: RuleBreaker, message: Message) -> Variants:
    launch = Launch(breaker.peer.config.wallet.coin, 1, bytes(48), bytes(96))
    if isinstance(message, Hello | Launch | Welcome | FirstHalves | Funding):
        return [[Request()], [Advisory(0, b"")], [FirstHalves(bytes(96), bytes(96)), message]]
    if isinstance(message, Funded):
        return [[message, launch], [Request()]]
    return [[launch], [FirstHalves(bytes(96), bytes(96))]]


@breaks("CH-OPEN-1")
def _same_keys(breaker: RuleBreaker, message: Message) -> Variants:
    theirs = breaker.peer.state.opening.introduction
    match message:
        case Hello():
            infinity = bytes([0xC0]) + bytes(47)
            return changed(message, {"unroll_key": infinity}, {"referee_key": bytes(48)})
        case Welcome() if theirs is not None:
            # The other side's key, with the other side's proof.
            copied = {"unroll_key": theirs.unroll_key, "unroll_proof": theirs.unroll_proof}
            twice = {"channel_key": message.unroll_key, "channel_proof": message.unroll_proof}
            none = {"channel_key": b"\xff" * 48}
            return changed(message, copied, twice, none)
        case _:
            return []


@breaks("CH-OPEN-2")
def _no_proof(breaker: RuleBreaker, message: Message) -> Variants:
    other = breaker.other_keys()
    match message:
        case Hello():
            return changed(message, {"unroll_proof": other.unroll_proof()})
        case Welcome():
            proofs = {"channel_proof": message.unroll_proof}, {"unroll_proof": bytes(96)}
            return changed(message, *proofs, {"unroll_proof": message.channel_proof})
        case Launch():
            return changed(message, {"channel_proof": other.channel_proof()})
        case _:
            return []


@breaks_kind("CH-OPEN-3", Introduction)
def _unsigned_address(breaker: RuleBreaker, message: Introduction) -> Variants:
    signed = breaker.keys.payout_signature(breaker.plan.chance.bytes(32))
    other = breaker.other_keys().payout_signature(message.reward_address)
    return changed(message, {"payout_signature": signed}, {"payout_signature": other})


@breaks_kind("CH-OPEN-4", Welcome)
def _same_address(breaker: RuleBreaker, message: Welcome) -> Variants:
    hello = breaker.peer.state.opening.introduction
    if hello is None:
        return []
    address = hello.reward_address
    signature = breaker.keys.payout_signature(address)
    return changed(message, {"reward_address": address, "payout_signature": signature})


@breaks_kind("CH-OPEN-5", Introduction)
def _other_contributions(breaker: RuleBreaker, message: Introduction) -> Variants:
    first, second = message.contributions
    return changed(
        message, {"contributions": (first - 1, second)}, {"contributions": (0, first + second)}
    )


@breaks_kind("CH-OPEN-6", Introduction)
def _other_timeout(breaker: RuleBreaker, message: Introduction) -> Variants:
    return changed(message, {"unroll_timeout": 1}, {"unroll_timeout": 100_000})


@breaks_kind("CH-OPEN-12", Introduction)
def _other_times(breaker: RuleBreaker, message: Introduction) -> Variants:
    return changed(message, {"response_time": 1}, {"move_time": 100_000})


@breaks_kind("CH-OPEN-7", Launch)
def _no_time(breaker: RuleBreaker, message: Launch) -> Variants:
    peak = breaker.plan.chain.peak()
    near = peak + least_funding_blocks(breaker.peer.config.agreement.spacing) - 1
    far = peak + MOST_FUNDING_BLOCKS + 1
    return changed(message, {"deadline": peak - 1}, {"deadline": near}, {"deadline": far})


@breaks("CH-OPEN-8")
def _other_first_halves(breaker: RuleBreaker, message: Message) -> Variants:
    if not isinstance(message, FirstHalves | Funding):
        return []
    state = ChannelState(2, breaker.peer.config.agreement.contributions)
    channel_half, unroll_half = sign_halves(breaker.opening_channel(), breaker.keys, state)
    return changed(message, {"channel_half": channel_half}, {"unroll_half": unroll_half})


@breaks_kind("CH-OPEN-9", Funding)
def _other_part(breaker: RuleBreaker, message: Funding) -> Variants:
    opening, wallet = breaker.peer.state.opening, breaker.peer.config.wallet
    channel = breaker.opening_channel()
    parts = wallet_spends.initiators(channel, wallet, opening.deadline, message.part)
    return [[replace(message, part=part)] for part in parts]


@breaks_kind("CH-OPEN-10", Funded)
def _other_bundle(breaker: RuleBreaker, message: Funded) -> Variants:
    if breaker.part is None:
        return []
    opening, wallet = breaker.peer.state.opening, breaker.peer.config.wallet
    channel = breaker.opening_channel()
    bundles = wallet_spends.receivers(
        channel, wallet, opening.deadline, breaker.part, message.bundle
    )
    return [[Funded(bundle)] for bundle in bundles]


@breaks_kind("CH-OPEN-11", Launch)
def _other_channel_key(breaker: RuleBreaker, message: Launch) -> Variants:
    other = breaker.other_keys()
    key, proof = bytes(other.channel.get_g1()), other.channel_proof()
    return changed(message, {"channel_key": key, "channel_proof": proof})


class _Reconnecting(RuleBreaker):
    """Makes new connections until it can break its rule."""

    def reconnects(self) -> bool:
        """True in play: earlier the other side may not expect any numbers."""
        return self.due and self.phase is Phase.PLAYING and not self.done


@breaks_kind("CH-RESUME-1", Resume, _Reconnecting)
def _numbers_that_cannot_be(breaker: RuleBreaker, message: Resume) -> Variants:
    received, sent = message.received, message.sent
    return changed(
        message,
        {"sent": received},
        {"sent": received + 3},
        {"received": sent, "sent": received},
        {"received": received + 1, "sent": received + 2},
    )


@breaks_kind("CH-RESUME-2", Resume, _Reconnecting)
def _without_proof(breaker: RuleBreaker, message: Resume) -> Variants:
    received, own = message.received, sign_halves(breaker.channel, breaker.keys, breaker.state)
    return changed(
        message,
        {"received": received + 2, "sent": received + 3},
        {"received": received + 100, "sent": received + 101},
        {"conditions": bytes(32)},
        {"channel_half": own[0], "unroll_half": own[1]},
        {"channel_half": message.unroll_half},
        {"unroll_half": message.channel_half},
    )
