"""Scripts drawn from a seed: which actions they have, when each takes place, and for how long."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import ceil

from msgspec.structs import replace

from channelsim.channel.adversaries.registry import get, names
from channelsim.channel.attack import boundaries
from channelsim.channel.attack.actions import LAST_SAFE, Action, Attack, hostile_side
from channelsim.channel.attack.company import (
    ACTIONS,
    HEAVY_PINNER,
    about_watchers,
    company,
    fallen_back,
    late_watcher,
    meetings,
    storm,
    thought_of_replaced,
    thoughts,
    undone_on_chain,
    waiting_proposals,
    wishes,
)
from channelsim.channel.attack.drawn_actions import (
    deviation,
    drawn_action,
    leaving_early,
    likely_landmarks,
    repeated,
    undoing,
)
from channelsim.channel.attack.drawn_terms import (
    MOST_SWEPT_HANDS,
    pick_game,
    with_another_game,
    with_balances_that_settle,
    with_dealers,
    with_fees,
    with_limits,
    with_short_balances,
)
from channelsim.channel.attack.filled_blocks import FILL, SAME_LIMITS, with_money
from channelsim.channel.attack.kinds import (
    BLOCK_TIME,
    GO_ON_CHAIN,
    KINDS,
    LIMIT_FEES,
    MOST_OUTAGE,
    OLD_COPY,
    ON_CHAIN,
    SOLUTIONS,
    UNDO_FUNDING,
)
from channelsim.channel.crypto.hkdf import derive
from channelsim.games import registry
from channelsim.games.chance import Chance

SNAPSHOTS = (50, 7, 3)
"""Numbers of events between two snapshots, the usual one first."""

SWARM = 6
"""The most kinds of which the actions of a session are."""

BY_RPC = 15
"""The per cent of the sessions in which nodes are asked by their RPC."""

DEVIATES, DEVIATIONS = 10, 3
"""The per cent of the sessions whose hostile side has adversaries by name, besides the others that
are drawn, and the most of those: each acts where it can."""

OPENER = "breaks-ch-open-"
"""The adversaries that break a rule of the opening."""

SWEEP, SWEPT = 4, 3
"""Of so many sessions, one has so many adversaries that take turns: each is in some session before
one is in another. Those that act in the opening act alone, too: the others would never come to
it."""

ALONE = (
    *("breaks-ch-accept-3", "breaks-ch-move-2", "breaks-ch-shut-5", "free-look", "used-deck"),
    *("one-deck-twice", "cross-accepter", "overraise", "overclaims-on-chain", "late-preempter-1"),
    *("resurrector", "undoes-shutdown", "replaces-shutdown", "no-pong", "breaks-ch-coins-1"),
    *("bouncer", "false-advisory", "false-shuffle", "false-locks", "other-challenge"),
    *("late-deck-steps", "late-funder"),
)
"""The adversaries that have their turn alone: they act late, and another one would end the play
before that."""

DEEP = ("undoes-shutdown", "replaces-shutdown")
"""The adversaries that replace blocks which are final."""

UNCOVERED = "breaks-ch-accept-3"
"""The adversary that accepts what the balances do not cover: there they soon run short."""

FILLED = 10
"""The per cent of the sessions in which others fill blocks, besides those where that is drawn."""

CALM, CALM_DEALT = 12, 35
"""The per cent of the sessions without adversaries by turn in which nothing is a reason to end on
chain or to play fewer hands, and that of those with decks: there all hands have to be played, and
the end is a shutdown."""

DISTURBING = ("close", "cancel", "propose", "run-close", "run-recover")
"""Wishes of players that no calm session has: other hands than those agreed on."""


IN_PLAY = 60
"""The per cent of the old copies that are drawn from play, and lack a few of its events."""

USUAL = 40
"""The per cent of the players that decide by the first policy of their game."""

EARLY = 3
"""The per cent of the sessions in which a player leaves before its channel coin is deep."""

HIDDEN = 10
"""The per cent of the sessions on chain in which a node hides at last how a state was paid out."""

FALSE_CARDS, FALSE_REVEALS = 8, "false-advisory"
"""The per cent of the sessions with decks in which the adversary of this name shows false cards."""

STORMS = 12
"""The per cent of the sessions in which one thing happens again and again."""


WATCHED, DOWN = 30, ("stop", "crash")
"""The per cent of the sessions with a watcher, and the absences in which it acts for its side."""

LATE = 12
"""The per cent of the sessions with a watcher whose node answers it late."""

SEVERAL, SWEPT_SEVERAL = 8, 50
"""The per cent of the sessions in which several games are live at once, and that of the ones with
adversaries by turn: some need another game beside theirs, or a proposal that nobody agreed on."""

PROPOSES = 40
"""The per cent of the sessions with several games in which a player proposes others while the other
one thinks."""

SHORT = 60
"""The per cent of the sessions with several games whose balances do not cover all hands."""

LIMITED = 6
"""The per cent of the sessions in which a side may keep little of a channel."""

UNDONE = 8
"""The per cent of the sessions on chain in which a deep funding is taken back."""

FALLEN_BACK = 12
"""The per cent of the sessions with several games in which a node falls back once one has ended."""

THINKS = 40
"""The per cent of the sessions with adversaries by turn whose honest player thinks for long: some
act while the other side still has to decide."""

PATIENT = 9
"""The most blocks that all actions of a script take on average, unless it is to go further."""


def swept(seed: str, number: int) -> tuple[str, ...]:
    """The adversaries whose turn it is in this session of a campaign: most have none.

    >>> [len(swept("seed", number)) for number in range(1, 5)]
    [0, 0, 0, 1]
    """
    if number % SWEEP:
        return ()
    turns = _turns(seed)
    return turns[number // SWEEP % len(turns)]


@cache
def _turns(seed: str) -> tuple[tuple[str, ...], ...]:
    """The adversaries of all turns, in the order of a seed: each is in one of them."""
    chance = Chance(derive(seed.encode(), "sweep"))
    order = chance.draw(names(), len(names()))
    alone = [name for name in order if name.startswith(OPENER) or name in ALONE]
    others = [name for name in order if name not in alone]
    turns: list[tuple[str, ...]] = [(name,) for name in alone]
    turns += [tuple(others[at : at + SWEPT]) for at in range(0, len(others), SWEPT)]
    return tuple(chance.draw(turns, len(turns)))


def draw(
    games: Sequence[str],
    seed: str,
    kinds: Sequence[str] = tuple(KINDS),
    adversaries: Sequence[str] = (),
) -> Attack:
    """Draw a script from a seed. Each has a few kinds of actions only, so that each can go deep.

    Of one with `adversaries`, the hostile side has these, where they can do something in a game.
    """
    chance = Chance(derive(seed.encode(), "attack"))
    game = pick_game(_able(games, adversaries), chance)
    if not adversaries and chance.chance(CALM_DEALT if registry.get(game).deck_positions else CALM):
        kinds = tuple(filter(_is_calm, kinds)) or kinds
    swarm = chance.draw(kinds, min(len(kinds), chance.between(1, SWARM)))
    goes_on_chain = GO_ON_CHAIN in kinds and chance.chance(30)
    landmarks = likely_landmarks(swarm, goes_on_chain=goes_on_chain)
    actions: list[Action] = []
    left = 2 * boundaries.LONGEST if chance.chance(20) else PATIENT
    if any(KINDS[name].is_hostile for name in swarm):
        left = MOST_OUTAGE
    for _ in range(chance.between(1, ACTIONS)):
        action = drawn_action(KINDS[chance.pick(swarm)], chance, left, landmarks)
        if action.kind == OLD_COPY and chance.chance(IN_PLAY):
            at, amount = chance.between(14, 45), chance.between(2, 16)
            action = replace(action, at=at, amount=amount)
        left -= ceil(action.lasts)
        actions.append(action)
        if action.kind in ("crash", "stop", OLD_COPY) and chance.chance(30):
            actions.append(repeated(action, chance))
        if action.kind == "sync-fails" and "power-loss" in kinds and chance.chance(50):
            amount = chance.below(KINDS["power-loss"].most + 1)
            actions.append(
                Action("power-loss", action.side, chance.below(4), amount, since="restart")
            )
    if goes_on_chain:
        actions.append(drawn_action(KINDS[GO_ON_CHAIN], chance, 0))
        if "reorganise" in kinds and chance.chance(30):
            actions.append(undoing(chance))
        if UNDO_FUNDING in kinds and chance.chance(UNDONE):
            actions.append(undone_on_chain(chance))
    if "deviate" in kinds and adversaries:
        acting = [replace(deviation(chance), name=name) for name in adversaries]
        actions += [replace(action, side=actions[0].side) for action in acting]
        if "think" in kinds and chance.chance(THINKS):
            # First, since all absences together are bounded beside a hostile side.
            longest = MOST_OUTAGE * BLOCK_TIME
            actions = [*thoughts(1 - actions[0].side, chance, longest), *actions]
    elif "deviate" in kinds and chance.chance(DEVIATES):
        deviations = range(chance.between(1, DEVIATIONS))
        actions += [replace(deviation(chance), side=actions[0].side) for _ in deviations]
    watched = chance.chance(WATCHED)
    beside = Chance(derive(seed.encode(), "attack", "company"))
    if "think" in kinds:
        # First, as above.
        actions = [*thought_of_replaced(actions, beside), *actions]
    if FILL in kinds and beside.chance(FILLED):
        actions.append(drawn_action(KINDS[FILL], beside, 0, ON_CHAIN))
    actions += company(actions, game, kinds, beside)
    actions += [action for action in wishes(actions, beside) if action.kind in kinds]
    if beside.chance(STORMS):
        actions += storm(kinds, beside)
    if beside.chance(EARLY):
        actions += [action for action in leaving_early(beside) if action.kind in kinds]
    if watched and beside.chance(70):
        actions += [action for action in about_watchers(beside) if action.kind in kinds]
    late = Chance(derive(seed.encode(), "attack", "late watchers"))
    if watched and late.chance(LATE):
        actions += [action for action in late_watcher(late) if action.kind in kinds]
    rarely = Chance(derive(seed.encode(), "attack", "meetings"))
    actions += [action for action in meetings(actions, rarely) if action.kind in kinds]
    hiding = Chance(derive(seed.encode(), "attack", "hiding"))
    if goes_on_chain and SOLUTIONS in kinds and hiding.chance(HIDDEN):
        at, blocks = hiding.below(8), hiding.between(1, MOST_OUTAGE)
        actions.append(Action(SOLUTIONS, hiding.below(2), at, since="counts", blocks=blocks))
    claiming = Chance(derive(seed.encode(), "attack", "false cards"))
    hostile = "deviate" in kinds and not adversaries
    if hostile and registry.get(game).deck_positions and claiming.chance(FALSE_CARDS):
        false = replace(deviation(claiming), at=claiming.between(4, 20), name=FALSE_REVEALS)
        actions.append(replace(false, side=claiming.below(2)))
    if SOLUTIONS in kinds and {*DEEP} & {*adversaries} and hiding.chance(50):
        # A process that looks again, since what was final is not.
        blocks = hiding.between(1, MOST_OUTAGE)
        actions += [
            Action(SOLUTIONS, side, hiding.below(8), since="restart", blocks=blocks)
            for side in (0, 1)
        ]
    copy = next((action for action in actions if action.kind == OLD_COPY), None)
    if copy is not None and watched and "stop" in kinds:
        # What the other side publishes then, the watcher does not know either.
        at, blocks = beside.below(3), boundaries.LONGEST - 1
        actions.append(Action("stop", copy.side, at, since="chain", blocks=blocks))
    if copy is not None and hostile_side(actions) is None and chance.chance(50):
        # A counterparty that never closes: the player has the copy published.
        actions.append(Action("withhold", 1 - copy.side, chance.below(KINDS["withhold"].span)))
    attack = Attack(
        games=(game,),
        seed=seed,
        actions=tuple(actions),
        hands=chance.between(1, MOST_SWEPT_HANDS if adversaries else 2),
        policies=(_policy(game, beside), _policy(game, beside)),
        snapshots=chance.pick(SNAPSHOTS),
        watched=watched,
        tight=chance.chance(10),
        nodes=_nodes(Chance(derive(seed.encode(), "attack", "nodes"))),
    )
    if UNCOVERED in adversaries:
        attack = with_short_balances(with_another_game(attack, games, beside))
    elif beside.chance(SWEPT_SEVERAL if adversaries else SEVERAL):
        attack = with_another_game(attack, games, beside)
        if "node-behind" in kinds and beside.chance(FALLEN_BACK):
            attack = replace(attack, actions=(*attack.actions, *fallen_back(beside)))
        if beside.chance(SHORT):
            attack = with_short_balances(attack)
            if not adversaries and {"think", "propose"} <= {*kinds}:
                attack = with_balances_that_settle(attack, beside)
        if {"think", "propose"} <= {*kinds} and rarely.chance(PROPOSES):
            attack = replace(attack, actions=(*attack.actions, *waiting_proposals(rarely)))
    if len(attack.games) == 1:
        dealers = Chance(derive(seed.encode(), "attack", "dealers"))
        attack = with_dealers(attack, games, dealers)
    if beside.chance(LIMITED):
        attack = with_limits(attack, beside)
    attack = with_fees(attack, kinds, beside)
    return arranged(attack, chance)


def _nodes(chance: Chance) -> int:
    """The number of nodes that each side asks by their RPC; none in most sessions."""
    return chance.between(1, 2) if chance.chance(BY_RPC) else 0


def _able(games: Sequence[str], adversaries: Sequence[str]) -> Sequence[str]:
    """The games in which the most of these adversaries can do something."""
    able = {name: len({*adversaries} & {*adversaries_in(name)}) for name in games}
    most = max(able.values(), default=0)
    return [name for name in games if able[name] == most]


def _policy(game: str, chance: Chance) -> str:
    """The policy of a player: empty for the first one of its game."""
    return "" if chance.chance(USUAL) else chance.pick(tuple(registry.get(game).policies))


def _is_calm(name: str) -> bool:
    kind = KINDS[name]
    return not (kind.is_cause or kind.is_hostile or name in DISTURBING)


def arranged(attack: Attack, chance: Chance) -> Attack:
    """The script with all its actions possible: of one hostile side at most, which never restarts,
    and of one that goes on from old copies; adversaries that can do something in its game; and
    beside a hostile side, no more absence than its spends can be answered in, by a watcher too, and
    money enough for that."""
    hostile = hostile_side(attack.actions)
    copied = next((action.side for action in attack.actions if action.kind == OLD_COPY), 0)
    left = float("inf") if hostile is None else float(MOST_OUTAGE)
    down = LAST_SAFE - MOST_OUTAGE if attack.watched else 0
    actions = []
    for action in attack.actions:
        kind, side, name = KINDS[action.kind], action.side, action.name
        if hostile is not None and kind.is_hostile:
            side = hostile
        elif hostile is not None and kind.restarts:
            side = 1 - hostile
        elif action.kind == OLD_COPY:
            side = copied
        if kind.is_named and name not in (able := adversaries_in(*attack.games)):
            name = chance.pick(able)
        action = replace(action, side=side, name=name)
        if hostile is not None and action.kind == FILL:
            action = replace(action, amount=with_money(action.amount))
        if action.kind in DOWN and left < action.lasts <= left + down:
            left, down = left + down, 0
        if action.lasts > left:
            action = replace(action, pause=0, blocks=0)
        left -= action.lasts
        actions.append(action)
    if any(action.name == HEAVY_PINNER for action in actions):
        # Half of the maxima would not pay for a bundle of half a block.
        actions = [
            replace(action, amount=SAME_LIMITS) if action.kind == LIMIT_FEES else action
            for action in actions
        ]
    return replace(attack, actions=tuple(actions))


@cache
def adversaries_in(*games: str) -> tuple[str, ...]:
    """The names of the adversaries that can do something in one of these games."""
    rules = [*map(registry.get, games)]
    return tuple(name for name in names() if not get(name).reason_against(rules))
