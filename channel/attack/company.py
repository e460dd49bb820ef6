"""Actions beside the drawn ones of a script: storms, wishes that meet, fees, decks, watchers.

Each needs several actions near each other, which draws of single ones rarely bring together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from channelsim.channel.attack import boundaries
from channelsim.channel.attack.actions import LAST_SAFE, Action, hostile_side
from channelsim.channel.attack.drawn_actions import deviation, drawn_action, undoing
from channelsim.channel.attack.filled_blocks import FILL
from channelsim.channel.attack.kinds import (
    BLOCK_TIME,
    GO_ON_CHAIN,
    KINDS,
    LIMIT_FEES,
    MOST_OUTAGE,
    MOST_PAUSE,
    OLD_COPY,
    OWN_FAULT,
    PINNED,
    REFUSALS,
    SOLUTIONS,
    UNDO_FUNDING,
)
from channelsim.channel.chain.refusals import UNKNOWN_UNSPENT
from channelsim.games import registry
from channelsim.games.chance import Chance

ACTIONS = 8
"""The most actions of a session, but for those beside them, and of a storm."""

PAIRED = 6
"""The per cent of the sessions in which a player proposes a game, and then wants the shutdown."""

GIVEN_AWAY = 5
"""The per cent of the sessions in which a player wants something while the other one thinks."""

LOST_FOLDS = 6
"""The per cent of the sessions in which a fold, if there is one, is lost, and its player goes on
chain."""

FAILING = 4
"""The per cent of the sessions in which a side's own program fails."""

MEETINGS = 4
"""The per cent of the sessions in which these meet: a lost shutdown and `recover`, a long thought
and `close`, a node that is slow at the start and a block, a late message and a newer connection, a
push that gets no answer and others, several proposals, and messages before play and others."""

GROWN, WORDS = 60, 3
"""The per cent of the sessions with words of a hostile side in which a connection begins in a
game, and so many words come later."""

REPLACED = 70
"""The per cent of the sessions with the adversary that replaces its moves in which the other player
thinks for long."""

FILLED = 30
"""The per cent of the sessions about watchers in which others fill blocks."""

UNANSWERED = 30
"""The per cent of the sessions about watchers in which the node of one answers nothing for a
while."""

FORGETFUL = 25
"""The per cent of these in which the node drops the first spend of a watcher."""

LEAST_REFUSED, MOST_REFUSED = 3, 8
"""The blocks in which a node does not know the fee coin of a watcher."""

HEAVY_PINNER = "heavy-pinner"
"""The adversary that pins a spend in a bundle of half a block."""

PINS = ("pinner", HEAVY_PINNER)
"""The adversaries that keep spends from blocks by what they pay."""

ANSWERS_AGAIN = "answers-again"
"""The adversary that takes its move back on chain, and makes another one."""

STALE = ("stale-any", "stale-oldest", "stale-previous", "stale-richest", "impatient")
"""The adversaries that publish a stale state as soon as they can."""


def company(
    actions: Sequence[Action], game: str, kinds: Sequence[str], chance: Chance
) -> Iterator[Action]:
    """More actions that fees, and prepared decks, need for all that can go wrong with them."""
    if any(action.kind == FILL for action in actions):
        beside = [action for action in _about_fees(chance) if chance.chance(50)]
        if chance.chance(80):
            beside += pins_elsewhere(chance)
        if chance.chance(40) and not any(KINDS[action.kind].restarts for action in actions):
            beside.append(replace(deviation(chance), name=chance.pick(PINS)))
    elif registry.get(game).deck_positions:
        beside = [action for action in _about_decks(chance) if chance.chance(40)]
    else:
        return
    yield from (action for action in beside if action.kind in kinds)


def _about_fees(chance: Chance) -> Iterator[Action]:
    """Spends that are due while blocks are full, two at once, on new connections and again."""
    yield Action(GO_ON_CHAIN, chance.below(2), chance.between(14, 60))
    yield Action("propose", chance.below(2), chance.between(10, 20))
    for since in ("chain", "counts"):
        amount = chance.below(KINDS[FILL].most + 1)
        yield Action(FILL, 0, chance.below(3), amount, since=since)
    yield Action("reset", chance.below(2), chance.between(2, 20))
    yield undoing(chance)
    yield Action("push-forgotten", chance.below(2), chance.below(3), since="chain", blocks=1)
    for side in (0, 1):
        error = chance.below(KINDS["push-refused"].most + 1)
        blocks = chance.pick((0, 0, 1, 6))
        yield Action("push-refused", side, chance.below(3), error, since="chain", blocks=blocks)
    # Both sides pay for the same spend, and the node of one drops its bundle.
    amount = chance.below(KINDS[FILL].most + 1)
    yield Action(FILL, 0, chance.between(12, 15), amount, since="unroll")
    blocks = chance.between(1, 4)
    yield Action("push-forgotten", chance.below(2), chance.below(60), since="unroll", blocks=blocks)
    amount = chance.below(KINDS[LIMIT_FEES].most + 1)
    yield Action(LIMIT_FEES, chance.below(2), chance.between(8, 40), amount)
    yield Action("stop", chance.below(2), chance.below(8), since="restart")


def pins_elsewhere(chance: Chance, *, several: bool = False) -> Iterator[Action]:
    """A spend that other nodes have in pins, and a replacement that is dropped or refused.

    With `several` games, spends of two of them may be in one pin.
    """
    side, most = chance.below(2), KINDS[PINNED].most
    since = "counts" if several else chance.pick(("chain", "chain", "unroll", "counts"))
    yield Action(GO_ON_CHAIN, side, chance.between(14, 30))
    for later in range(chance.between(1, 2)):
        amount = most if several else chance.below(most + 1)
        at, blocks = chance.below(4) + 4 * later, chance.between(2, 7)
        yield Action(PINNED, side, at, amount, since=since, blocks=blocks)
    at, blocks = chance.pick((1, 1, 0, 2)), chance.between(1, 3)
    if chance.chance(50):
        amount = chance.below(KINDS["push-forgotten"].most + 1)
        yield Action("push-forgotten", side, at, amount, since="unpins", blocks=blocks)
    else:
        error = chance.below(KINDS["push-refused"].most + 1)
        yield Action("push-refused", side, at, error, since="unpins", blocks=blocks - 1)


def fallen_back(chance: Chance) -> Iterator[Action]:
    """A node that shows an older tip once one of several games has ended on chain."""
    for side in (0, 1):
        at, blocks = chance.between(40, 80), chance.between(1, 2)
        yield Action("node-behind", side, at, 2, since="paid", blocks=blocks)


def undone_on_chain(chance: Chance) -> Action:
    """A deep funding that is taken back while both sides are on chain, with all that followed."""
    since = chance.pick(("chain", "unroll", "counts"))
    return Action(UNDO_FUNDING, 0, chance.below(12), chance.below(2), since=since)


def hidden_shutdown(chance: Chance) -> Iterator[Action]:
    """A side that goes on chain while the other one completes the shutdown, whose node takes the
    spend of the channel coin late, and hides how that was spent."""
    side = chance.below(2)
    yield Action(GO_ON_CHAIN, side, chance.below(2), since="shutdown")
    yield Action("delay", 1 - side, 0, pause=chance.between(40, 80), since="shutdown")
    yield Action("push-held", side, 0, 3, since="shutdown")
    yield Action(SOLUTIONS, side, chance.between(1, 6), since="shutdown", blocks=4)


def storm(kinds: Sequence[str], chance: Chance) -> Iterator[Action]:
    """A side that is killed after every few events, or loses its connection every few messages:
    whatever is stored is read again, and whatever may be lost is repeated."""
    kind, side = KINDS[chance.pick(("crash", "stop", "reset"))], chance.below(2)
    if kind.name not in kinds:
        return
    at, apart = chance.below(kind.span // 2), chance.between(2, kind.span // 10)
    for _ in range(ACTIONS):
        yield Action(kind.name, side, at, chance.below(kind.most + 1))
        at += chance.between(1, apart)


def wishes(actions: Sequence[Action], chance: Chance) -> Iterator[Action]:
    """Wishes of players that meet something else, and what old copies and new connections meet.

    Two wishes come in a row; one comes while the other player thinks, which has to give the potato
    away with a move due; and a fold that the other side does not get comes before the chain.
    """
    if chance.chance(PAIRED):
        side, at = chance.below(2), chance.between(10, 40)
        yield Action("propose", side, at)
        yield Action("close", side, at + chance.between(1, 4))
    if chance.chance(GIVEN_AWAY):
        yield from given_away(chance)
    if chance.chance(LOST_FOLDS):
        side = chance.below(2)
        yield Action("drop", side, chance.below(2), since="folds")
        yield Action(GO_ON_CHAIN, side, chance.below(3), since="settled")
    if chance.chance(FAILING):
        since, at = chance.pick((("", 40), ("restart", 8), ("link", 12), ("shutdown", 4)))
        yield Action(OWN_FAULT, chance.below(2), chance.below(at), since=since)
    for copy in actions:
        if copy.kind == OLD_COPY and chance.chance(50):
            # A side that knows that it has forgotten states says little on a connection.
            yield Action("reset", chance.below(2), chance.below(4), since="restart")
        if copy.kind == OLD_COPY and chance.chance(20):
            yield Action(GO_ON_CHAIN, copy.side, chance.between(1, 8), since="restart")
    if any(action.kind == "reset" for action in actions) and chance.chance(20):
        yield Action("reorder", chance.below(2), chance.below(2), since="link")
    for copy in actions:
        if copy.kind == OLD_COPY and chance.chance(30):
            # `recover` of a store that the other side may have shown to be an old copy by then.
            yield Action("run-recover", copy.side, chance.between(1, 12), since="restart")


def meetings(actions: Sequence[Action], chance: Chance) -> Iterator[Action]:
    """Actions that matter only right after each other."""
    if chance.chance(MEETINGS):
        side = chance.below(2)
        yield Action("reset", side, 0, pause=chance.below(20), since="shutdown")
        yield Action("run-recover", side, chance.below(2), since="shutdown")
    if chance.chance(MEETINGS):
        side = chance.below(2)
        yield from thoughts(1 - side, chance)
        yield Action("run-close", side, chance.between(14, 20))
    if chance.chance(MEETINGS):
        yield Action("node-slow", 0, 0, pause=chance.between(BLOCK_TIME, 4 * BLOCK_TIME))
    if chance.chance(MEETINGS):
        # Only the initiator makes a newer connection while the older one has a message under way.
        at = chance.between(3, 14)
        yield Action("delay", 0, at, pause=chance.between(5, 20))
        yield Action("stop", 0, at + chance.between(5, 9))
    if chance.chance(MEETINGS):
        side, blocks = chance.below(2), chance.between(3, 8)
        yield Action(GO_ON_CHAIN, chance.below(2), chance.between(16, 24))
        yield Action("push-unanswered", side, chance.below(2), 1, since="unroll", blocks=blocks)
    if chance.chance(MEETINGS):
        yield from waiting_proposals(chance)
    if chance.chance(MEETINGS):
        # The receiver proposes a game and asks to propose another one, and the initiator does not
        # see yet that play has begun.
        pause = chance.between(BLOCK_TIME, 4 * BLOCK_TIME)
        yield Action("node-away", 0, chance.between(20, 60), pause=pause, since="signed")
        yield Action("propose", 1, 0, since="open")
        yield Action(chance.pick(("propose", "prepare")), 1, 1, since="open")
    if chance.chance(MEETINGS):
        yield from hidden_shutdown(chance)
    words = [action for action in actions if action.kind == "say"]
    if words and chance.chance(GROWN):
        yield Action("reset", chance.below(2), chance.below(2), since="acted")
        for _ in range(WORDS):
            amount = chance.below(KINDS["say"].most + 1)
            yield replace(words[0], at=chance.between(8, 16), amount=amount)


def given_away(chance: Chance) -> Iterator[Action]:
    """A player that thinks for long while the other one proposes a game: it gives the potato away,
    and decides about both at once."""
    side = chance.below(2)
    yield from thoughts(side, chance)
    # So many events after its last act, its player waits for the one that thinks.
    yield Action("propose", 1 - side, chance.between(3, 6), since="acted")


def waiting_proposals(chance: Chance) -> Iterator[Action]:
    """A player that proposes several games while the other one thinks for long, and then perhaps
    wants the shutdown, or withdraws what it has proposed."""
    side = chance.below(2)
    yield from thoughts(1 - side, chance)
    at = chance.between(1, 4)
    for later in range(chance.between(2, 3)):
        yield Action("propose", side, at + later, since="acted")
    if chance.chance(40):
        yield Action("close", side, at + 3, since="acted")
    elif chance.chance(60):
        yield Action("cancel", side, at + chance.between(4, 8), since="acted")


def thought_of_replaced(actions: Sequence[Action], chance: Chance) -> Iterator[Action]:
    """A player that still thinks of its answer to a move when the other side replaces that."""
    hostile = hostile_side(actions)
    answers_again = any(action.name == ANSWERS_AGAIN for action in actions)
    if hostile is not None and answers_again and chance.chance(REPLACED):
        since, pause = chance.pick(("counts", "move")), MOST_OUTAGE * BLOCK_TIME
        yield Action("think", 1 - hostile, chance.below(3), pause=pause, since=since)


def thoughts(side: int, chance: Chance, longest: int = MOST_PAUSE) -> Iterator[Action]:
    """Three decisions in a row for each of which a player takes up to so many seconds."""
    at = chance.between(12, 30)
    for later in range(3):
        yield Action("think", side, at + later, pause=chance.between(longest // 2, longest))


def about_watchers(chance: Chance) -> Iterator[Action]:
    """A state on chain while no process runs that could answer it: a stale one, or the newest.

    Its node may drop its spend. Others may fill the blocks, so that the watcher has to pay: it is
    pinned, and its node does not know its fee coin.
    """
    side = 1
    if chance.chance(FORGETFUL):
        # What is pushed first after that: the first spend that is due.
        for forgetful in (0, 1):
            blocks = chance.between(1, 3)
            yield Action(
                "push-forgotten", forgetful, chance.below(60), since="unroll", blocks=blocks
            )
    if chance.chance(FILLED):
        yield drawn_action(KINDS[FILL], chance, 0, ("unroll",))
        which, blocks = REFUSALS.index(UNKNOWN_UNSPENT), chance.between(LEAST_REFUSED, MOST_REFUSED)
        yield Action("push-refused", side, chance.below(60), which, since="unroll", blocks=blocks)
        if chance.chance(50):
            yield replace(deviation(chance), name=chance.pick(PINS))
    if chance.chance(50):
        yield replace(deviation(chance), name=chance.pick(STALE))
        yield Action(
            "stop", side, chance.below(3), since="unroll", blocks=chance.between(6, LAST_SAFE)
        )
    else:
        yield Action(GO_ON_CHAIN, chance.below(2), chance.between(14, 40))
        blocks = chance.between(boundaries.LONGEST - 1, boundaries.LONGEST)
        for one in (0, 1):
            yield Action("stop", one, chance.between(1, 3), since="unroll", blocks=blocks)
    if chance.chance(UNANSWERED):
        # For some looks of the watcher, and twice for a while.
        for _ in range(2):
            pause = chance.between(BLOCK_TIME // 2, 2 * BLOCK_TIME)
            yield Action("node-away", side, chance.between(10, 80), since="unroll", pause=pause)


def late_watcher(chance: Chance) -> Iterator[Action]:
    """A stale state, a side that is down, and a node that answers its watcher only blocks after its
    spend is due, while others fill the blocks: its first fee is that of a spend that has waited."""
    side = 1
    yield drawn_action(KINDS[FILL], chance, 0, ("unroll",))
    yield replace(deviation(chance), name=chance.pick(STALE))
    yield Action("stop", side, 0, since="unroll", blocks=LAST_SAFE)
    at, blocks = chance.below(12), chance.between(3, LAST_SAFE - 2)
    yield Action("node-away", side, at, since="unroll", blocks=blocks)


def _about_decks(chance: Chance) -> Iterator[Action]:
    """More decks, one of them several times, and messages about them that are lost or repeated."""
    side, many = chance.below(2), chance.pick((1, 2, 12))
    for _ in range(many):
        yield Action("prepare", side, chance.between(8, 30))
    for kind in ("duplicate", "duplicate", "reset", "drop", "drop"):
        yield Action(kind, chance.below(2), chance.between(4, 16))
    yield Action("crash", chance.below(2), chance.between(12, 40), chance.below(4))
