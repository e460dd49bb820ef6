"""Bytes of a peer's events in the journal.

A block lists every watched coin again, some with long solutions. So an encoded block names the
coins that did not change since the block before it by their place there.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from channelsim.channel.chain.observations import Block, CoinSeen
from channelsim.channel.peer.interface import (
    AcceptGames,
    Act,
    CancelGames,
    Close,
    Connected,
    DecksChanged,
    Dropped,
    Event,
    Fault,
    FeeLimits,
    FeeRate,
    GoOnChain,
    Pinned,
    ProposeGames,
    Received,
    Refused,
)


class Start(msgspec.Struct, frozen=True):
    """The peer began at this height of the chain."""

    peak: int


class _BlockChange(msgspec.Struct, frozen=True, array_like=True):
    peak: int
    coins: tuple[int | CoinSeen, ...]


JournalEvent: TypeAlias = Start | Event

_KINDS: dict[str, type] = {
    "start": Start,
    "received": Received,
    "connected": Connected,
    "block": _BlockChange,
    "pinned by": Pinned,
    "dropped": Dropped,
    "refused": Refused,
    "fee rate": FeeRate,
    "fee limits": FeeLimits,
    "propose": ProposeGames,
    "accept": AcceptGames,
    "cancel": CancelGames,
    "act": Act,
    "decks": DecksChanged,
    "close": Close,
    "on chain": GoOnChain,
    "fault": Fault,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(tuple[str, msgspec.Raw])


def encode_event(event: JournalEvent, before: Block) -> bytes:
    """Encode an event that follows this block.

    >>> from channelsim.games.contract import Action
    >>> data = encode_event(Act(3, Action("call")), Block(7))
    >>> decode_event(data, Block(7))
    Act(game_id=3, action=Action(verb='call', amount=0))
    """
    body: object = event
    if isinstance(event, Block):
        places = {seen.coin: place for place, seen in enumerate(before.coins)}
        coins: list[int | CoinSeen] = []
        for seen in event.coins:
            place = places.get(seen.coin)
            same = place is not None and before.coins[place] == seen
            coins.append(place if place is not None and same else seen)
        body = _BlockChange(event.peak, tuple(coins))
    return _encoder.encode((_NAMES[type(body)], body))


def decode_event(data: bytes, before: Block) -> JournalEvent:
    """Decode an event that follows this block. Raises `msgspec.DecodeError` for other bytes."""
    name, raw = _decoder.decode(data)
    if name not in _KINDS:
        raise msgspec.DecodeError(f"no event is called {name!r}")
    body: Any = msgspec.msgpack.decode(raw, type=_KINDS[name])
    if not isinstance(body, _BlockChange):
        event: JournalEvent = body
        return event
    coins = []
    for coin in body.coins:
        if isinstance(coin, int):
            if not 0 <= coin < len(before.coins):
                raise msgspec.DecodeError(f"there is no coin {coin} in the block before")
            coin = before.coins[coin]
        coins.append(coin)
    return Block(body.peak, tuple(coins))
