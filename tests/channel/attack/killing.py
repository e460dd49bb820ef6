"""Sessions of an attack with what both sides said and were paid."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from channelsim.channel.attack.actions import Attack
from channelsim.channel.attack.session import Session
from channelsim.channel.attack.world import World, fast_folder
from channelsim.channel.peer.interface import News
from channelsim.channel.protocol.messages import Batch, decode


@dataclass(frozen=True, slots=True)
class Played:
    """A session, the different batches of each side, what it was paid, and the news."""

    session: Session
    batches: list[list[bytes]]
    paid: list[int]
    news: list[list[News]]


def played(attack: Attack) -> Played:
    """Run a script."""
    with tempfile.TemporaryDirectory(prefix="channelsim-", dir=fast_folder()) as folder:
        world = World(attack, Path(folder))
        session, _ = world.run()
    batches = [
        [*dict.fromkeys(blob for blob in party.sent if isinstance(decode(blob), Batch))]
        for party in world.parties
    ]
    addresses = [party.peer.config.reward_address for party in world.parties]
    paid = [
        sum(seen.coin.amount for seen in world.chain.coins_at(address)) for address in addresses
    ]
    return Played(session, batches, paid, [party.news for party in world.parties])
