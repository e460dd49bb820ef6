"""Messages that are not those of their step of the opening."""

from __future__ import annotations

from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.protocol.messages import (
    Advisory,
    Batch,
    FirstHalves,
    Funded,
    Funding,
    Hello,
    Launch,
    Message,
    Request,
    Shutdown,
    ShutdownDone,
    Welcome,
)
from tests.channel.peer.hostile import Cases, Hostile
from tests.channel.peer.moments import STEPS, at

CASES = Cases()

_KEY = bytes(48)
_BUNDLE = Bundle((), NO_SIGNATURE)
_INTRODUCTION = (_KEY, _KEY, bytes(32), NO_SIGNATURE, NO_SIGNATURE, (1, 1), 15, 10, 40)

ANY_MESSAGE: tuple[Message, ...] = (
    Hello(*_INTRODUCTION, bytes(32)),
    Welcome(*_INTRODUCTION, _KEY, NO_SIGNATURE),
    Launch(Coin(bytes(32), bytes(32), 1), 100, _KEY, NO_SIGNATURE),
    FirstHalves(NO_SIGNATURE, NO_SIGNATURE),
    Funding(NO_SIGNATURE, NO_SIGNATURE, _BUNDLE),
    Funded(_BUNDLE),
    Request(),
    Batch(2, (), NO_SIGNATURE, NO_SIGNATURE),
    Advisory(0, b""),
    Shutdown(NO_SIGNATURE),
    ShutdownDone(NO_SIGNATURE),
)
"""A message of each kind."""


def _instead(kind: type[Message], victim: int, message: Message | bytes) -> Hostile:
    return at(kind, victim).table, victim, message


for _letter, (_step, _to) in zip("ABCDEF", STEPS, strict=True):
    for _message in ANY_MESSAGE:
        # The funding may be in the chain before F is here: what is said in play then is held.
        _held = _step is Funded and isinstance(_message, Batch | Request | Advisory | Shutdown)
        if not isinstance(_message, _step) and not _held:
            _name = f"{_letter}-a-{type(_message).__name__}-instead"
            CASES.put("CH-MSG-3", _name, _instead, _step, _to, _message)
