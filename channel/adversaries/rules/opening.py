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
from channelsim.channel.adversaries.rules.points import NO_KEYS
from channelsim.channel.adversaries.rules.wrong_halves import (
    wrong_channel_halves,
    wrong_unroll_halves,
)
from channelsim.channel.crypto import bls
from channelsim.channel.peer.agreement import least_funding_blocks
from channelsim.channel.peer.machine import Phase
from channelsim.channel.peer.opening.handshake import MOST_FUNDING_BLOCKS
from channelsim.channel.protocol.half_signed import NO_SIGNATURE, sign_halves
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
    ShutdownDone,
    Welcome,
    encode,
)
from channelsim.channel.protocol.state import ChannelState
from channelsim.games.referee import payout_message


@breaks("CH-MSG-1")
def _too_long(breaker: RuleBreaker, message: Message) -> Variants:
    return [[encode(message) + bytes(MAX_MESSAGE)]]


@breaks("CH-MSG-2")
def _no_message(breaker: RuleBreaker, message: Message) -> Variants:
    blob = encode(message)
    blobs = (
        *(blob[:-1], blob + b"\x00", b""),
        *(b"\xc1" * 7, b'{"say":"hello"}', b"\x81\xa3say\xa7req\xffest"),
    )
    return [[wrong] for wrong in blobs]


@breaks("CH-MSG-3")
def _out_of_step(breaker: RuleBreaker, message: Message) -> Variants:
    launch = Launch(breaker.peer.config.wallet.coin, 1, bytes(48), bytes(96))
    halves = FirstHalves(bytes(96), bytes(96))
    match message:
        case FirstHalves():
            return [[Request()], [Advisory(0, b"")], [launch]]
        case Hello() | Launch() | Welcome() | Funding():
            return [[Request()], [Advisory(0, b"")], [halves]]
        case Funded():
            return [[message, launch], [halves]]  # what is said in play then is held
        case ShutdownDone():
            return []  # CH-SHUT-5
        case _:
            return [[launch], [halves]]


@breaks("CH-OPEN-1")
def _same_keys(breaker: RuleBreaker, message: Message) -> Variants:
    theirs = breaker.peer.state.opening.introduction
    match message:
        case Hello():
            return changed(message, *_no_keys("unroll_key", "referee_key"))
        case Welcome() if theirs is not None:
            # The other side's key, with the other side's proof.
            copied = {"unroll_key": theirs.unroll_key, "unroll_proof": theirs.unroll_proof}
            twice = {"channel_key": message.unroll_key, "channel_proof": message.unroll_proof}
            return changed(
                message, copied, twice, *_no_keys("unroll_key", "referee_key", "channel_key")
            )
        case _:
            return []


def _no_keys(*names: str) -> list[dict[str, object]]:
    """Each of these keys as each of the points that are none."""
    return [{name: key} for name in names for key in NO_KEYS]


@breaks("CH-OPEN-2")
def _no_proof(breaker: RuleBreaker, message: Message) -> Variants:
    other = breaker.other_keys()
    match message:
        case Hello():
            proofs = other.unroll_proof(), breaker.keys.channel_proof(), NO_SIGNATURE, bytes(96)
            return changed(message, *({"unroll_proof": proof} for proof in proofs))
        case Welcome():
            proof = {"unroll_proof": bls.sign(breaker.keys.unroll, b"hello")}
            swapped = {"channel_proof": message.unroll_proof}
            return changed(message, proof, swapped, {"unroll_proof": message.channel_proof})
        case Launch():
            proofs = other.channel_proof(), breaker.keys.unroll_proof(), NO_SIGNATURE, bytes(96)
            return changed(message, *({"channel_proof": proof} for proof in proofs))
        case _:
            return []


@breaks_kind("CH-OPEN-3", Introduction)
def _unsigned_address(breaker: RuleBreaker, message: Introduction) -> Variants:
    keys, address = breaker.keys, message.reward_address
    signatures = (
        keys.payout_signature(breaker.plan.chance.bytes(32)),
        breaker.other_keys().payout_signature(address),
        bls.sign(keys.channel, payout_message(address)),
        bls.sign(keys.referee, address),
        NO_SIGNATURE,
    )
    return changed(message, *({"payout_signature": signature} for signature in signatures))


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
    others = ((first - 1, second), (first, second + 1), (0, first + second), (0, 0))
    return changed(message, *({"contributions": other} for other in others))


@breaks_kind("CH-OPEN-6", Introduction)
def _other_timeout(breaker: RuleBreaker, message: Introduction) -> Variants:
    agreed = message.unroll_timeout
    others = (1, agreed - 1, agreed + 1, 100_000)
    return changed(message, *({"unroll_timeout": other} for other in others))


@breaks_kind("CH-OPEN-12", Introduction)
def _other_times(breaker: RuleBreaker, message: Introduction) -> Variants:
    response, move = message.response_time, message.move_time
    times = {"response_time": 1}, {"response_time": response - 1}, {"response_time": response + 1}
    return changed(message, *times, {"move_time": move + 1}, {"move_time": 100_000})


@breaks_kind("CH-OPEN-7", Launch)
def _no_time(breaker: RuleBreaker, message: Launch) -> Variants:
    peak = breaker.plan.chain.peak()
    near = peak + least_funding_blocks(breaker.peer.config.agreement.spacing) - 1
    deadlines = (0, peak - 1, peak, near, peak + MOST_FUNDING_BLOCKS + 1)
    return changed(message, *({"deadline": deadline} for deadline in deadlines))


@breaks("CH-OPEN-8")
def _other_first_halves(breaker: RuleBreaker, message: Message) -> Variants:
    if not isinstance(message, FirstHalves | Funding):
        return []
    number = 0 if isinstance(message, FirstHalves) else 1
    state = ChannelState(number, breaker.peer.config.agreement.contributions)
    signing = breaker.opening_channel(), breaker.keys, state
    return changed(message, *wrong_channel_halves(*signing), *wrong_unroll_halves(*signing))


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
