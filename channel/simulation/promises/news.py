"""Check the news: how the games and the channel ended, and for how much."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.chain_news import (
    ChannelClosed,
    ChannelSettled,
    GameEnded,
    GameVoid,
    LeftForChain,
    Undone,
    UnilateralClose,
)
from channelsim.channel.peer.interface import (
    BrokenOff,
    Cancelled,
    GameSettled,
    GameStarted,
    News,
    OwnFault,
    Tell,
)
from channelsim.channel.simulation.model.conversation import Conversation
from channelsim.channel.simulation.promises.safety import money_paid
from channelsim.channel.simulation.run import JournalEntry, Run
from channelsim.games.amounts import counted

FINAL = ChannelClosed | ChannelSettled | GameEnded
"""News that is final: it is reported only at the confirmation depth."""

LEAVES = BrokenOff | OwnFault | LeftForChain | UnilateralClose
"""News that off-chain play ends, and the channel is on chain."""


def wrong_news(run: Run, talk: Conversation) -> Iterator[str]:
    """Find false and missing news, and spends that the node refused."""
    end, side = run.parties[run.scenario.honest], run.scenario.honest
    yield from untrue(end.news, money_paid(run), run.scenario.balance, undone_closes(end.journal))
    if run.finished[side] is not None:
        yield from unended_proposals(end.news, talk)
    refused = {name for name, _, answer in end.pushed if answer is Answer.REFUSED}
    if refused and run.scenario.weather == "calm":
        yield f"the node refused {sorted(refused)}"


def failures(run: Run) -> Iterator[str]:
    """Find honest sides that failed to handle an event, and gave the channel up for that."""
    for side, party in enumerate(run.parties):
        if run.scenario.adversary and side == run.scenario.side:
            continue
        for one in party.news:
            if isinstance(one, OwnFault):
                yield f"the {party.name} failed to handle an event: {one.reason}"


def valid_news(news: Iterable[News]) -> list[News]:
    """The news that was not undone, in order."""
    found: list[News] = []
    for one in news:
        if isinstance(one, Undone):
            found.remove(one.fact)
        else:
            found.append(one)
    return found


def unended_proposals(news: Sequence[News], talk: Conversation) -> Iterator[str]:
    """Find proposals that the news does not end exactly once, by a start or a cancellation."""
    valid = valid_news(news)
    ends = Counter(one.group.id for one in valid if isinstance(one, Cancelled))
    ends.update(one.game.id for one in valid if isinstance(one, GameStarted))
    made = {group_id for state in talk.accounts.values() for group_id in state.open}
    wrong = sorted(group_id for group_id in made if ends[group_id] != 1)
    if wrong:
        yield f"proposals {wrong} did not end in the news, or more than once"


def undone_closes(journal: Iterable[JournalEntry]) -> list[ChannelClosed]:
    """The final shutdowns that were undone when the chain no longer had their coins.

    Only a reorganisation deeper than `confirmations` does that.
    """
    return [
        effect.news.fact
        for turn in journal
        for effect in turn.effects
        if isinstance(turn.event, Block)
        and isinstance(effect, Tell)
        and isinstance(effect.news, Undone)
        and isinstance(effect.news.fact, ChannelClosed)
        and not {seen.coin for seen in turn.event.coins} & {*effect.news.fact.rewards}
    ]


def untrue(
    news: Sequence[News], got: int, put_in: int, undone: Sequence[ChannelClosed] = ()
) -> Iterator[str]:
    """Find false news, given the mojos that the player put in and got out.

    `undone` are the shutdowns that a deep reorganisation undid.
    """
    for one in news:
        if isinstance(one, Undone) and isinstance(one.fact, FINAL) and one.fact not in undone:
            yield f"final news was undone: {type(one.fact).__name__}"
    valid = valid_news(news)
    yield from _games(valid)
    if any(isinstance(one, ChannelClosed) for one in valid):
        staked = [
            one.game.terms.stakes[one.player.seat] for one in valid if isinstance(one, GameStarted)
        ]
        won = [one.ours for one in valid if isinstance(one, GameSettled)]
        if len(staked) == len(won) and put_in - sum(staked) + sum(won) != got:
            took = counted(sum(staked), "mojo")
            yield f"its games took {took} and paid {sum(won)}: {put_in} became {got}"
    for settled in valid:
        if isinstance(settled, ChannelSettled) and settled.ours != got:
            yield f"settled at {counted(settled.ours, 'mojo')}, and there are {got}"
    if sum(isinstance(one, LEAVES) for one in valid) > 1:
        yield "went on chain more than once"


def _games(valid: Sequence[News]) -> Iterator[str]:
    """Check that each game that began ended once, and no other."""
    ends: dict[int, int] = defaultdict(int)
    begun: set[int] = set()
    for one in valid:
        match one:
            case GameStarted(game, _):
                begun.add(game.id)
            case GameSettled(game_id) | GameVoid(game_id):
                ends[game_id] += 1
            case GameEnded(game_id, corrects=False):
                ends[game_id] += 1
            case _:
                pass
    if any(count > 1 for count in ends.values()):
        yield f"games ended more than once: {dict(ends)}"
    over = any(isinstance(one, ChannelClosed | ChannelSettled) for one in valid)
    if over and begun != set(ends):
        yield f"games {sorted(begun)} began, and {sorted(ends)} ended"
