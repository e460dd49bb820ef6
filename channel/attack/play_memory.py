"""The memory of a side in play: its requests, messages to repeat, used ids, and bytes of states.

Source: spec/channel.md, "The potato" and "A new connection".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import islice

from channelsim.channel.peer.interface import Effect, Event, Received, Send
from channelsim.channel.peer.limits import LIVE_GAME, STATE
from channelsim.channel.peer.peer_state import PeerState
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol.messages import (
    Batch,
    Message,
    Request,
    Shutdown,
    ShutdownDone,
    decode,
    encode,
)
from channelsim.channel.simulation.run import message_in
from channelsim.games.amounts import counted

MOST_NEW = 3
"""More than the new states of an event: of a batch that comes, and of its answer."""


def remembers(before: PlayState, after: PlayState, sent: Sequence[Message]) -> Iterator[str]:
    """A side knows that it has asked for the potato until it comes."""
    asks = any(isinstance(message, Request) for message in sent)
    came = after.newest.state.number > before.newest.state.number
    if (asks or (before.we_asked and not came)) and not after.we_asked:
        yield "asks for the potato, and does not know it"


def keeps(
    event: Event, before: PeerState, after: PeerState, effects: Sequence[Effect]
) -> Iterator[str]:
    """A side keeps what it may have to repeat, and knows what the other side may repeat."""
    sent = [effect.message for effect in effects if isinstance(effect, Send)]
    repeatable = [
        blob for blob in sent if isinstance(decode(blob), Batch | Shutdown | ShutdownDone)
    ]
    if repeatable and after.last_sent != repeatable[-1]:
        yield "does not keep the message that it may have to repeat"
    if isinstance(event, Received) and isinstance(message_in(event), Batch):
        digest, is_held = sha256(event.message).digest(), after.early != before.early
        taken = after.last_received != before.last_received
        if taken and not is_held and {after.last_received, after.last_batch} != {digest}:
            yield "does not know the batch that it has taken when it comes again"


def counts_ids(before: PlayState, after: PlayState) -> Iterator[str]:
    """No id of a game is used again."""
    open_groups = {group.id for group in before.state.groups}
    for group in after.state.groups:
        ids = [offer.game_id for offer in group.offers]
        side = group.proposer
        if max(ids) >= after.state.next_ids[side]:
            yield f"goes on with the ids from {after.state.next_ids[side]}, and {max(ids)} is used"
        if group.id not in open_groups and min(ids) < before.state.next_ids[side]:
            yield f"takes game {min(ids)}, and ids from {before.state.next_ids[side]} are left"


def counts_bytes(
    before: PlayState, after: PlayState, messages: Sequence[Message | None]
) -> Iterator[str]:
    """The batches of both sides count for a limit of bytes, each with the state after it."""
    games = {link.state.number: len(link.state.games) for link in islice(after.history, MOST_NEW)}
    sizes = {
        message.number: 2 * len(encode(message)) + STATE + LIVE_GAME * games[message.number]
        for message in messages
        if isinstance(message, Batch) and message.number > before.state.number
        if message.number in games
    }
    least, counts = sum(sizes.values()), after.stored_bytes - before.stored_bytes
    if counts < least:
        numbers = ", ".join(map(str, sorted(sizes)))
        least_bytes = counted(least, "byte")
        yield f"counts {counted(counts, 'byte')} for the states {numbers}, at least {least_bytes}"
