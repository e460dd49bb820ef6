"""A node's answer to a push, as the event that a peer needs to hear of."""

from __future__ import annotations

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.constants import BLOCK_COST, COST_PER_BYTE
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.observations import PendingBundle
from channelsim.channel.peer.interface import Dropped, Pinned, Refused

MOST_PENDING = 100
"""Pending bundles in the way of ours that a peer is told of: first those with most of its spends,
then those with the highest fees."""

MOST_PENDING_BYTES = BLOCK_COST // COST_PER_BYTE
"""The most bytes of their puzzles and solutions in all: a peer writes them into its journal."""


def fate(
    bundle: Bundle, result: PushResult, pending: tuple[PendingBundle, ...]
) -> tuple[PushResult, Pinned | Dropped | Refused | None]:
    """The result of a push, given what is pending, and the event for the peer that pushed.

    The answers `PENDING_CONFLICT` and `KNOWN` leave open what became of a bundle: `pending` says.
    """
    match result.answer:
        case Answer.PENDING_CONFLICT | Answer.KNOWN:
            others = tuple(one for one in pending if not _same(one.bundle, bundle))
            if len(others) < len(pending):
                result = PushResult(Answer.ACCEPTED)
            if others:
                # Beside ours too: of several nodes, one may have a bundle in the place of ours.
                return result, Pinned(bundle, _first(bundle, others))
            return result, Dropped(bundle) if result.answer is Answer.KNOWN else None
        case Answer.REFUSED:
            return result, Refused(bundle, result.error)
        case _:
            return result, None


def _first(bundle: Bundle, others: tuple[PendingBundle, ...]) -> tuple[PendingBundle, ...]:
    """The bundles that a peer is told of, within the bounds of their number and bytes."""
    spends, chosen, room = set(bundle.spends), [], MOST_PENDING_BYTES
    for other in sorted(others, key=lambda other: -len(spends & set(other.bundle.spends))):
        size = sum(len(spend.puzzle) + len(spend.solution) for spend in other.bundle.spends)
        if size <= room:
            chosen.append(other)
            room -= size
    return tuple(chosen[:MOST_PENDING])


def _same(one: Bundle, other: Bundle) -> bool:
    """True if both have the same spends: the rest follows from them."""
    return set(one.spends) == set(other.spends)
