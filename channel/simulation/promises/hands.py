"""Check that a session of agreed hands accounts for each of them at its end.

Every hand was played, or the account says why not; and the reason is true.
"""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.protocol.messages import Batch, Cancel, decode
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.agreed_hands import MOST_PROPOSALS, account_of
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.agreed_players import setup_of
from channelsim.channel.simulation.model.conversation import Conversation
from channelsim.channel.simulation.run import Run
from channelsim.games.amounts import counted


def unaccounted(run: Run, talk: Conversation) -> Iterator[str]:
    """Find hands that were not played for no good reason, and accounts that are wrong."""
    if not run.scenario.agreed:
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
    messages = {one.message for one in run.delivered}
    batches = [one for one in map(decode, messages) if isinstance(one, Batch)]
    cancels = [one for batch in batches for one in batch.actions if isinstance(one, Cancel)]
    return sum(one.reason.startswith("PD-") for one in cancels)
