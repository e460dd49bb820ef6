"""Driving a table whose channel is on chain: blocks, decisions, reorganisations, dead peers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from channelsim.channel.peer.chain_news import (
    ChannelSettled,
    Fact,
    Forfeited,
    GameEnded,
    GameVoid,
)
from channelsim.channel.peer.interface import GameSettled, GoOnChain
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.half_signed import publish
from channelsim.channel.protocol.messages import Batch, Move, decode
from channelsim.channel.simulation.run import valid_news
from tests.channel.on_chain import exists, reward
from tests.channel.table import ANN, BEN, Cheat, Decide, End, Table, call, sit

LIMIT = 200
"""More blocks than all timeouts in a dispute of one hand."""

SEED = "on chain"


def live(table: Table, *decide: Decide, dead: tuple[int, ...] = ()) -> None:
    """Deliver all mail and take all decisions, except of dead peers."""
    while True:
        table.drop_mail_to(*dead)
        for index in dead:
            table.ends[index].turns.clear()
            table.ends[index].offers.clear()
        if not table.step(*(decide or (call, call))):
            return


def farm(table: Table, dead: tuple[int, ...] = ()) -> None:
    """Farm a block, and report it to the peers that are not dead."""
    table.chain.farm()
    hear(table, dead)


def hear(table: Table, dead: tuple[int, ...] = ()) -> None:
    """Report the current tip to the peers that are not dead."""
    for index in range(len(table.ends)):
        if index not in dead:
            table.driver.report_peak_to(index)


def settle(
    table: Table,
    *decide: Decide,
    dead: tuple[int, ...] = (),
    limit: int = LIMIT,
    before: Callable[[int], None] | None = None,
) -> Table:
    """Farm and decide until every living peer is done; call `before` ahead of each block."""
    ends = [end for index, end in enumerate(table.ends) if index not in dead]
    for number in range(limit):
        live(table, *decide, dead=dead)
        if all(end.peer.phase is Phase.CLOSED for end in ends):
            return table
        if before is not None:
            before(number)
        farm(table, dead)
    raise AssertionError([(end.peer.phase, end.news[-3:]) for end in ends])


def rewards(table: Table) -> tuple[int, int]:
    """The money at both reward addresses."""
    return reward(table, ANN), reward(table, BEN)


def facts(end: End, kind: type[Fact]) -> list[Fact]:
    """The facts of this kind that were not undone."""
    return [news for news in valid_news(end.news) if isinstance(news, kind)]


def settled(end: End) -> ChannelSettled:
    """The final settlement, which there is once."""
    (news,) = facts(end, ChannelSettled)
    assert isinstance(news, ChannelSettled)
    return news


def sound(table: Table, *, dead: tuple[int, ...] = (), total: int | None = None) -> None:
    """Check that all reported coins exist, all money is accounted for, and each game ended once."""
    amount = table.channel.coin.amount if total is None else total
    for index, end in enumerate(table.ends):
        if index in dead:
            continue
        news = settled(end)
        assert news.ours + news.theirs == amount
        assert reward(table, index) == news.ours
        forfeited = [fact for fact in facts(end, Forfeited) if isinstance(fact, Forfeited)]
        unclaimed = [fact.theirs for fact in forfeited if exists(table, fact.coin)]
        assert reward(table, 1 - index) == news.theirs - sum(unclaimed)
        ended_once(end)
        # Nothing that was pushed was refused for what it is.
        assert [(name, result) for name, _, result in end.pushed if not result.benign] == []


def ended_once(end: End) -> None:
    ended = [
        news.game_id
        for news in valid_news(end.news)
        if isinstance(news, GameEnded | GameVoid)
        or (isinstance(news, GameSettled) and not _corrected(end, news.game_id))
    ]
    assert len(set(ended)) == len(ended), ended


def _corrected(end: End, game_id: int) -> bool:
    return any(
        isinstance(news, GameVoid) or (isinstance(news, GameEnded) and news.corrects)
        for news in valid_news(end.news)
        if isinstance(news, GameEnded | GameVoid) and news.game_id == game_id
    )


def at_message(count: int, *decide: Decide, seed: str = SEED) -> Table:
    """A table with one game proposed, up to this many messages sent."""
    table = sit(seed).open().propose(ANN)
    while len(table.sent) < count and table.step(*decide):
        pass
    return table


def leave(table: Table, index: int) -> None:
    table.command(index, GoOnChain())


def publish_old(table: Table, index: int, number: int) -> None:
    """Publish a stale state that this side received, without its peer's knowledge."""
    peer: Peer = table.ends[index].peer
    (signed,) = [
        link.signed for link in peer.play.history if link.signed and link.state.number == number
    ]
    bundle = publish(table.channel, Cheat(table, index).keys, signed)
    assert table.chain.push(bundle).benign


def received(table: Table, index: int) -> list[int]:
    """The states that this side can complete, oldest first."""
    past = table.ends[index].peer.play.history
    return sorted(link.state.number for link in past if link.signed)


def with_config(table: Table, index: int, **changes: object) -> None:
    """The same peer with other settings."""
    peer = table.ends[index].peer
    peer.config = replace(peer.config, **changes)  # type: ignore[arg-type]


def at_move(count: int, *decide: Decide, seed: str = SEED) -> Table:
    """A table with a batch with a move in its mail, the first after this many messages."""
    table = at_message(count, *decide, seed=seed)
    while not (table.mail and _moves(table.mail[0][1])):
        assert table.step(*decide)
    return table


def _moves(blob: bytes) -> bool:
    message = decode(blob)
    return isinstance(message, Batch) and any(isinstance(act, Move) for act in message.actions)
