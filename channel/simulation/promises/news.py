"""Check what the player is told: the news, and at the end the account of the agreed hands.

The news says how the games and the channel ended, and for how much. Every agreed hand was played,
or the account says why not; and the reason is true.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.chain_news import (
    ChannelClosed,
    ChannelSettled,
    Fact,
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
)
from channelsim.channel.protocol.messages import Cancel
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.agreed_hands import MOST_PROPOSALS, account_of
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.model.talk import Conversation
from channelsim.channel.simulation.promises.safety import money_paid
from channelsim.channel.simulation.run import Run, valid_news
from channelsim.channel.simulation.scenario import setup_of
from channelsim.games.amounts import counted

FINAL = ChannelClosed | ChannelSettled | GameEnded
"""News that is final: it is reported only at the confirmation depth."""

LEAVES = BrokenOff | OwnFault | LeftForChain | UnilateralClose
"""News that off-chain play ends, and the channel is on chain."""


def wrong_news(run: Run, talk: Conversation) -> Iterator[str]:
    """Find false and missing news, and spends that the node refused."""
    party, undone = run.party, finals_undone(run)
    yield from untrue(party.news, money_paid(run), run.scenario.balance, undone)
    if run.finished[run.scenario.honest] is not None:
        yield from unended_proposals(party.news, talk)
    refused = {name for name, _, answer in party.pushed if answer is Answer.REFUSED}
    if refused and run.scenario.weather == "calm":
        yield f"the node refused {sorted(refused)}"


def failures(run: Run) -> Iterator[str]:
    """Find honest sides that failed to handle an event, and gave the channel up for that."""
    for side, party in enumerate(run.parties):
        if run.scenario.adversary and side == run.scenario.side:
            continue
        for news in party.news:
            if isinstance(news, OwnFault):
                yield f"the {party.name} failed to handle an event: {news.reason}"


def unended_proposals(news: Sequence[News], talk: Conversation) -> Iterator[str]:
    """Find proposals that the news does not end exactly once, by a start or a cancellation."""
    valid = valid_news(news)
    ends = Counter(report.group.id for report in valid if isinstance(report, Cancelled))
    ends.update(report.game.id for report in valid if isinstance(report, GameStarted))
    proposals = {group_id for state in talk.accounts.values() for group_id in state.open}
    wrong = sorted(group_id for group_id in proposals if ends[group_id] != 1)
    if wrong:
        yield f"proposals {wrong} did not end in the news, or more than once"


def finals_undone(run: Run) -> list[Fact]:
    """The final news that a reorganisation deeper than `confirmations` undid.

    A shutdown is undone when the chain no longer has its coins; the end of a game, or of all of
    them, with other facts of the dispute.
    """
    if run.deepest_reorg <= run.scenario.confirmations:
        return []
    undone: list[Fact] = []
    for turn in run.party.journal:
        if not isinstance(turn.event, Block):
            continue
        facts = [news.fact for news in turn.news if isinstance(news, Undone)]
        coins = {seen.coin for seen in turn.event.coins}
        for fact in facts:
            if isinstance(fact, ChannelClosed):
                if not coins & {*fact.rewards}:
                    undone.append(fact)
            elif not all(isinstance(other, FINAL) for other in facts):
                undone.append(fact)
    return undone


def untrue(
    news: Sequence[News], got: int, put_in: int, undone: Sequence[Fact] = ()
) -> Iterator[str]:
    """Find false news, given the mojos that the player put in and got out.

    `undone` is the final news that a deep reorganisation undid.
    """
    for report in news:
        fact = report.fact if isinstance(report, Undone) else None
        if isinstance(fact, FINAL) and fact not in undone:
            yield f"final news was undone: {type(fact).__name__}"
    valid = valid_news(news)
    yield from _games(valid)
    if any(isinstance(report, ChannelClosed) for report in valid):
        begun = [report for report in valid if isinstance(report, GameStarted)]
        staked = [start.game.terms.stakes[start.player.seat] for start in begun]
        won = [report.ours for report in valid if isinstance(report, GameSettled)]
        if len(staked) == len(won) and put_in - sum(staked) + sum(won) != got:
            took = counted(sum(staked), "mojo")
            yield f"its games took {took} and paid {sum(won):,}: {put_in:,} became {got:,}"
    if {ChannelClosed, ChannelSettled} <= {type(report) for report in valid}:
        yield "its channel was closed by the shutdown, and settled as well"
    for settled in valid:
        if isinstance(settled, ChannelSettled) and settled.ours != got:
            yield f"settled at {counted(settled.ours, 'mojo')}, and there are {got:,}"
    if sum(isinstance(report, LEAVES) for report in valid) > 1:
        yield "went on chain more than once"


def _games(valid: Sequence[News]) -> Iterator[str]:
    """Check that each game that began ended once, and no other."""
    ends: dict[int, int] = defaultdict(int)
    begun: set[int] = set()
    for report in valid:
        match report:
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
    over = any(isinstance(report, ChannelClosed | ChannelSettled) for report in valid)
    if over and begun != set(ends):
        yield f"games {sorted(begun)} began, and {sorted(ends)} ended"


def unaccounted(run: Run, talk: Conversation) -> Iterator[str]:
    """Find hands that were not played for no good reason, and accounts that are wrong."""
    if not run.scenario.is_agreed:
        return
    setup = setup_of(run.scenario)
    begun = len({game for account in talk.accounts.values() for game in account.games})
    if begun > setup.hands:
        yield f"{counted(begun, 'hand')} began, and {setup.hands} were agreed on"
    clean = all(party.peer.state.closed is not None for party in run.parties)
    side = Side(run.scenario.honest)
    state = run.parties[side].peer.state
    account, name = account_of(setup, state, side), NAMES[side]
    if account.played != begun:
        yield f"the {name} counts {counted(account.played, 'hand')}, and {begun} began"
    if (account.played < account.asked) != bool(account.reason):
        yield f"the {name} does not say why {account.played} of {account.asked} were played"
    if clean and account.failed and _lost_decks(run) < MOST_PROPOSALS:
        yield f"the {name}: {account}"
    if account.excused and account.reason and state.play is not None:
        stakes = setup.stakes(begun)
        if all(a >= b for a, b in zip(state.play.state.balances, stakes, strict=True)):
            yield f"the {name} is excused, and both could pay for hand {begun + 1}: {account}"


def _lost_decks(run: Run) -> int:
    """Count the proposals that were cancelled because of a deck, as they were delivered."""
    messages = {delivered.message: delivered for delivered in run.delivered}
    actions = [action for delivered in messages.values() for action in delivered.actions]
    cancels = [action for action in actions if isinstance(action, Cancel)]
    return sum(cancel.reason.startswith("PD-") for cancel in cancels)
