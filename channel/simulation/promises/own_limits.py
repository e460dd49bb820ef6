"""Check that the honest side keeps to its own limits of states and bytes.

Near one of them it proposes and accepts nothing, and it sends no batch past it.
Source: spec/channel.md, "The potato".
"""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.peer.interface import Send, Store
from channelsim.channel.peer.limits import LIVE_GAME, STATE
from channelsim.channel.protocol.messages import Accept, Batch, Propose, decode
from channelsim.channel.simulation.model.conversation import Conversation
from channelsim.channel.simulation.run import Run

FIRST = 2
"""The number of the first batch; the opening is not counted."""


def past_limits(run: Run, talk: Conversation) -> Iterator[str]:
    """Find the first batch past a limit, and the first games that it begins near one."""
    limits = run.parties[talk.side].peer.config.limits
    kept: dict[int, int] = {}
    wrong: dict[str, str] = {}
    for turn in run.parties[talk.side].journal:
        for effect in turn.effects:
            match effect:
                case Store(name, data) if name.startswith(("sent/", "received/")):
                    number = int(name.partition("/")[2])
                    if number >= FIRST:
                        account = talk.accounts.get(number)
                        games = len(account.games) if account is not None else 0
                        kept[number] = 2 * len(data) + STATE + LIVE_GAME * games
                case Send(blob) if isinstance(message := decode(blob), Batch):
                    size = sum(size for number, size in kept.items() if number <= message.number)
                    before = size - kept.get(message.number, 0)
                    past = limits.past(message.number, size)
                    near = limits.near(message.number - 1, before)
                    begins = any(isinstance(one, Accept | Propose) for one in message.actions)
                    if past:
                        wrong.setdefault("past", f"it sends a state past its limit of {past}")
                    if near and begins:
                        wrong.setdefault("near", f"it begins games near its limit of {near}")
                case _:
                    pass
    yield from wrong.values()
