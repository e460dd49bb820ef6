"""Bytes of a peer's state during play, from which a restart goes on.

A snapshot has what changes after the opening; a restart takes the rest from the peer that the
opening's own events lead to. A seat in a game is plug-in code, so it is rebuilt from what it was
given: its terms and secret bytes, the positions of its game, the memory of its own moves, and the
early reveals of the other side. There are no snapshots during a dispute: its events are handled
again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.deadlines import Awaited
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.fees.fee_state import FeeState
from channelsim.channel.peer.interface import Command
from channelsim.channel.peer.peer_state import PeerState, Phase, endpoint_of, play_of
from channelsim.channel.peer.play.play_state import PlayState, Refusal
from channelsim.channel.peer.shutdown import CleanShutdown
from channelsim.channel.protocol.messages import Offer
from channelsim.channel.protocol.state import Group, LiveGame, Side
from channelsim.channel.protocol.state_history import StateHistory
from channelsim.channel.store.decks import decode_decks, encode_decks
from channelsim.channel.store.event_codec import decode_event, encode_event
from channelsim.channel.store.history_codec import decode_history, path
from channelsim.games.contract import Player
from channelsim.games.players import player_after

PHASES = (Phase.PLAYING, Phase.CLOSING, Phase.COMPLETED)
"""The phases in which a snapshot can be taken."""


class Reveal(NamedTuple):
    """An early reveal that the seat in this game took, when the newest state had this number."""

    game_id: int
    number: int
    data: bytes


class _Snapshot(msgspec.Struct, frozen=True):
    phase: str
    block: Block
    watched: tuple[Coin, ...]
    reveals: tuple[tuple[int, int, bytes], ...]
    groups: tuple[tuple[int, tuple[tuple[int, tuple[Offer, ...]], ...]], ...]
    potato: bool
    decks: tuple[bytes, ...]
    highest_deck: int
    queue: tuple[bytes, ...]
    we_asked: bool
    they_asked: bool
    ask_later: bool
    closing: bool
    shutting_down: bool
    shutdown: Bundle | None
    last_received: bytes
    last_batch: bytes
    marks: tuple[tuple[Awaited, int], ...]
    proposals_ended: bool
    last_sent: bytes = b""
    resuming: bool = False
    refusal: Refusal | None = None
    stored_bytes: int = 0
    fees: FeeState = FeeState()


class Restored(NamedTuple):
    """A state read from a snapshot, the coins that it watches, and its seats' early reveals."""

    state: PeerState
    watched: list[Coin]
    reveals: list[Reveal]


PLAY_AS_IS = (
    *("potato", "we_asked", "they_asked", "ask_later", "closing", "refusal"),
    "stored_bytes",
)
"""The fields of `PlayState` that a snapshot has as they are."""

PEER_AS_IS = (
    *("block", "last_received", "last_batch", "proposals_ended", "last_sent", "resuming"),
    "fees",
)
"""The fields of `PeerState` that a snapshot has as they are."""

PLAY = {*PLAY_AS_IS, "state", "newest", "history", "decks", "players", "queue"}
"""The fields of `PlayState` that a snapshot holds."""

PEER = {
    *(*PEER_AS_IS, "opening", "phase", "endpoint", "play", "shutdown", "marks"),
    "was_deep",
}
"""The fields of `PeerState` that a snapshot and the opening hold. The others have to be empty."""


def _fields(source: object, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(source, name) for name in names}


def can_be_saved(state: PeerState) -> bool:
    """True if a snapshot can hold this state; if not, its events are handled again."""
    if state.phase not in PHASES or state.play is None:
        return False
    return not any(
        getattr(one, name)
        for one, held in ((state, PEER), (state.play, PLAY))
        for name in one.__struct_fields__
        if name not in held
    )


def encode_snapshot(state: PeerState, watched: Sequence[Coin], reveals: Sequence[Reveal]) -> bytes:
    """Encode a state that `can_be_saved`; `encode_newer` encodes its history."""
    play, shutdown = play_of(state), state.shutdown
    newest = [link.state for link, _ in zip(play.history, range(2), strict=False)]
    snapshot = _Snapshot(
        phase=state.phase.name,
        watched=tuple(watched),
        reveals=tuple(reveals),
        groups=tuple(
            (one.number, tuple((group.proposer, group.offers) for group in one.groups))
            for one in newest
        ),
        decks=encode_decks(state),
        highest_deck=play.decks.highest,
        queue=tuple(encode_event(command, state.block) for command in play.queue),
        shutting_down=shutdown is not None,
        shutdown=shutdown.bundle if shutdown else None,
        marks=tuple(state.marks.items()),
        **_fields(play, PLAY_AS_IS),
        **_fields(state, PEER_AS_IS),
    )
    return msgspec.msgpack.encode(snapshot)


def decode_snapshot(opened: PeerState, data: bytes, states: Sequence[bytes]) -> Restored:
    """Read a snapshot on top of the peer's state after its opening.

    Raises `msgspec.DecodeError`, KeyError or ValueError for bytes that `encode_snapshot` did not
    make.
    """
    found = msgspec.msgpack.decode(data, type=_Snapshot)
    decks, endpoint = decode_decks(
        play_of(opened).decks, endpoint_of(opened), found.highest_deck, found.decks
    )
    history = _with_proposals(decode_history(states), dict(found.groups))
    newest = next((link.signed for link in history if link.signed is not None), None)
    if newest is None:
        raise msgspec.DecodeError("no state of the other side is stored")
    reveals = [Reveal(*one) for one in found.reveals]
    play = PlayState(
        state=history.state,
        newest=newest,
        history=history,
        decks=decks,
        players={game.id: _seat(endpoint, history, game, reveals) for game in history.state.games},
        queue=tuple(_command(one, found.block) for one in found.queue),
        **_fields(found, PLAY_AS_IS),
    )
    shutdown = None
    if found.shutting_down:
        shutdown = replace(CleanShutdown.of(endpoint, history.state), bundle=found.shutdown)
    state = replace(
        opened,
        phase=Phase[found.phase],
        endpoint=endpoint,
        play=play,
        shutdown=shutdown,
        early=(),
        marks=dict(found.marks),
        **_fields(found, PEER_AS_IS),
    )
    return Restored(state, list(found.watched), reveals)


def _with_proposals(
    history: StateHistory,
    proposals: dict[int, tuple[tuple[int, tuple[Offer, ...]], ...]],
) -> StateHistory:
    """Give the newest two states their proposals back."""
    older = history.older
    if older is not None:
        older = _proposing(older, proposals)
        history = StateHistory(history.state, history.signed, older)
    return _proposing(history, proposals)


def _proposing(
    link: StateHistory, proposals: dict[int, tuple[tuple[int, tuple[Offer, ...]], ...]]
) -> StateHistory:
    groups = tuple(
        Group(Side(proposer), offers) for proposer, offers in proposals[link.state.number]
    )
    if not groups:
        return link
    state = replace(link.state, groups=groups)
    signed = replace(link.signed, state=state) if link.signed else None
    return StateHistory(state, signed, link.older)


def _seat(
    endpoint: Endpoint, history: StateHistory, game: LiveGame, reveals: Sequence[Reveal]
) -> Player:
    """Our seat in a live game: it is given again, in order, all that it was given."""
    player = endpoint.new_player(game)
    for _, given in sorted(_given(history, game.id, reveals), key=lambda pair: pair[0]):
        if isinstance(given, bytes):
            player = player.advised(given)
        else:
            player = player_after(player, given.position, given.memory)
    return player


def _given(
    history: StateHistory, game_id: int, reveals: Sequence[Reveal]
) -> Iterator[tuple[int, LiveGame | bytes]]:
    # The sort keeps this order within a state: a reveal follows the move that made the state.
    yield from path(history, game_id)
    yield from ((one.number, one.data) for one in reveals if one.game_id == game_id)


def _command(data: bytes, block: Block) -> Command:
    command = decode_event(data, block)
    if not isinstance(command, Command):
        raise msgspec.DecodeError(f"a {type(command).__name__} is not a command")
    return command
