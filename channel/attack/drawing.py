"""Scripts drawn from a seed: which actions they have, when each takes place, and for how long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from math import ceil

from msgspec.structs import replace

from channelsim.channel.adversaries.registry import get, names
from channelsim.channel.attack import boundaries
from channelsim.channel.attack.actions import LAST_SAFE, Action, Attack, hostile_side
from channelsim.channel.attack.filled_blocks import FILL, with_money
from channelsim.channel.attack.kinds import (
    BLOCK,
    BLOCK_TIME,
    CALL,
    GO_ON_CHAIN,
    KINDS,
    LANDMARKS,
    LIMIT_FEES,
    MOST_OUTAGE,
    MOST_PAUSE,
    OLD_COPY,
    ON_CHAIN,
    START,
    Kind,
)
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.simulation.terms import Proposals, Terms
from channelsim.games import registry
from channelsim.games.chance import Chance

SNAPSHOTS = (50, 7, 3)
"""Numbers of events between two snapshots, the usual one first."""

DEALT = 16
"""The per cent of the sessions with a game that needs decks, where there are other games, too."""

ACTIONS, SWARM = 8, 6
"""The most actions of a session, and the most kinds of which they are."""

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
    *("resurrector", "undoes-shutdown", "no-pong"),
)
"""The adversaries that have their turn alone: they act late, and another one would end the play
before that."""

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

PAIRED = 6
"""The per cent of the sessions in which a player proposes a game, and then wants the shutdown."""

GIVEN_AWAY = 5
"""The per cent of the sessions in which a player wants something while the other one thinks."""

LOST_FOLDS = 6
"""The per cent of the sessions in which a fold, if there is one, is lost, and its player goes on
chain."""

IN_PLAY = 60
"""The per cent of the old copies that are drawn from play, and lack a few of its events."""

USUAL = 40
"""The per cent of the players that decide by the first policy of their game."""

STORMS = 12
"""The per cent of the sessions in which one thing happens again and again."""

FIRST, FIRSTS = 4, 15
"""The numbers that count as the first ones of a counter, and the per cent of the actions that take
place there: a process that begins has code of its own."""

PINS = ("pinner", "heavy-pinner")
"""The adversaries that keep spends from blocks by what they pay."""

STALE = ("stale-any", "stale-oldest", "stale-previous", "stale-richest", "impatient")
"""The adversaries that publish a stale state as soon as they can."""

WATCHED, DOWN = 30, ("stop", "crash")
"""The per cent of the sessions with a watcher, and the absences in which it acts for its side."""

SEVERAL, SWEPT_SEVERAL = 8, 50
"""The per cent of the sessions in which several games are live at once, and that of the ones with
adversaries by turn: some need another game beside theirs, or a proposal that nobody agreed on."""

SHORT = 60
"""The per cent of the sessions with several games whose balances do not cover all hands."""

MOST_SWEPT_HANDS = 4
"""The most hands with adversaries by turn: enough for either side to have proposed one."""

THINKS = 40
"""The per cent of the sessions with adversaries by turn whose honest player thinks for long: some
act while the other side still has to decide."""

PATIENT = 9
"""The most blocks that all actions of a script take on average, unless it is to go further."""


def swept(seed: str, number: int) -> tuple[str, ...]:
    """The adversaries whose turn it is in this session of a campaign: most have none.

    >>> [len(swept("seed", number)) for number in range(1, 5)]
    [0, 0, 0, 3]
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
    if "deviate" in kinds and adversaries:
        acting = [replace(deviation(chance), name=name) for name in adversaries]
        actions += [replace(action, side=actions[0].side) for action in acting]
        if "think" in kinds and chance.chance(THINKS):
            # First, since all absences together are bounded beside a hostile side.
            thoughts = _thoughts(1 - actions[0].side, chance, MOST_OUTAGE * BLOCK_TIME)
            actions = [*thoughts, *actions]
    elif "deviate" in kinds and chance.chance(DEVIATES):
        deviations = range(chance.between(1, DEVIATIONS))
        actions += [replace(deviation(chance), side=actions[0].side) for _ in deviations]
    watched = chance.chance(WATCHED)
    beside = Chance(derive(seed.encode(), "attack", "company"))
    if FILL in kinds and beside.chance(FILLED):
        actions.append(drawn_action(KINDS[FILL], beside, 0, ON_CHAIN))
    actions += company(actions, game, kinds, beside)
    actions += [action for action in _wishes(actions, beside) if action.kind in kinds]
    if beside.chance(STORMS):
        actions += _storm(kinds, beside)
    if watched and beside.chance(70):
        actions += [action for action in _about_watchers(beside) if action.kind in kinds]
    copy = next((action for action in actions if action.kind == OLD_COPY), None)
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
    )
    if UNCOVERED in adversaries:
        attack = _with_short_balances(_with_another_game(attack, games, beside))
    elif beside.chance(SWEPT_SEVERAL if adversaries else SEVERAL):
        attack = _with_another_game(attack, games, beside)
        if beside.chance(SHORT):
            attack = _with_short_balances(attack)
    return arranged(attack, chance)


def _able(games: Sequence[str], adversaries: Sequence[str]) -> Sequence[str]:
    """The games in which the most of these adversaries can do something."""
    able = {name: len({*adversaries} & {*adversaries_in(name)}) for name in games}
    most = max(able.values(), default=0)
    return [name for name in games if able[name] == most]


def _with_another_game(attack: Attack, games: Sequence[str], chance: Chance) -> Attack:
    """The script with a second game; both sides accept all that is proposed."""
    both = (*attack.games, pick_game(games, chance))
    terms = Terms(proposals=chance.pick((Proposals.TOGETHER, Proposals.STAGGERED)))
    return replace(attack, games=both, terms=terms, tight=False)


def _with_short_balances(attack: Attack) -> Attack:
    """The script with many hands, and money for one of each game."""
    terms = attack.terms
    terms = replace(terms, balance=terms.unit * terms.stack * len(attack.games))
    return replace(attack, hands=MOST_SWEPT_HANDS, terms=terms)


def _policy(game: str, chance: Chance) -> str:
    """The policy of a player: empty for the first one of its game."""
    return "" if chance.chance(USUAL) else chance.pick(tuple(registry.get(game).policies))


def _is_calm(name: str) -> bool:
    kind = KINDS[name]
    return not (kind.is_cause or kind.is_hostile or name in DISTURBING)


def company(
    actions: Sequence[Action], game: str, kinds: Sequence[str], chance: Chance
) -> Iterator[Action]:
    """More actions that fees, and prepared decks, need for all that can go wrong with them."""
    if any(action.kind == FILL for action in actions):
        wanted = [action for action in _about_fees(chance) if chance.chance(50)]
        if chance.chance(40) and not any(KINDS[action.kind].restarts for action in actions):
            wanted.append(replace(deviation(chance), name=chance.pick(PINS)))
    elif registry.get(game).deck_positions:
        wanted = [action for action in _about_decks(chance) if chance.chance(40)]
    else:
        return
    yield from (action for action in wanted if action.kind in kinds)


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
    amount = chance.below(KINDS[LIMIT_FEES].most + 1)
    yield Action(LIMIT_FEES, chance.below(2), chance.between(8, 40), amount)
    yield Action("stop", chance.below(2), chance.below(8), since="restart")


def _storm(kinds: Sequence[str], chance: Chance) -> Iterator[Action]:
    """A side that is killed after every few events, or loses its connection every few messages:
    whatever is stored is read again, and whatever may be lost is repeated."""
    kind, side = KINDS[chance.pick(("crash", "stop", "reset"))], chance.below(2)
    if kind.name not in kinds:
        return
    at, apart = chance.below(kind.span // 2), chance.between(2, kind.span // 10)
    for _ in range(ACTIONS):
        yield Action(kind.name, side, at, chance.below(kind.most + 1))
        at += chance.between(1, apart)


def _wishes(actions: Sequence[Action], chance: Chance) -> Iterator[Action]:
    """Wishes of players that meet something else, and what old copies and new connections meet.

    Two wishes come in a row; one comes while the other player thinks, which has to give the potato
    away with a move due; and a fold that the other side does not get comes before the chain.
    """
    if chance.chance(PAIRED):
        side, at = chance.below(2), chance.between(10, 40)
        yield Action("propose", side, at)
        yield Action("close", side, at + chance.between(1, 4))
    if chance.chance(GIVEN_AWAY):
        side = chance.below(2)
        yield from _thoughts(side, chance)
        # So many events after its last act, its player waits for the one that thinks.
        yield Action("propose", 1 - side, chance.between(3, 6), since="acted")
    if chance.chance(LOST_FOLDS):
        side = chance.below(2)
        yield Action("drop", side, chance.below(2), since="folds")
        yield Action(GO_ON_CHAIN, side, chance.below(3), since="settled")
    for copy in actions:
        if copy.kind == OLD_COPY and chance.chance(50):
            # A side that knows that it has forgotten states says little on a connection.
            yield Action("reset", chance.below(2), chance.below(4), since="restart")
        if copy.kind == OLD_COPY and chance.chance(20):
            yield Action(GO_ON_CHAIN, copy.side, chance.between(1, 8), since="restart")
    if any(action.kind == "reset" for action in actions) and chance.chance(20):
        yield Action("reorder", chance.below(2), chance.below(2), since="link")


def _thoughts(side: int, chance: Chance, longest: int = MOST_PAUSE) -> Iterator[Action]:
    """Three decisions in a row for each of which a player takes up to so many seconds."""
    at = chance.between(12, 30)
    for later in range(3):
        yield Action("think", side, at + later, pause=chance.between(longest // 2, longest))


def _about_watchers(chance: Chance) -> Iterator[Action]:
    """A state on chain while no process runs that could answer it: a stale one, or the newest."""
    if chance.chance(50):
        yield replace(deviation(chance), name=chance.pick(STALE))
        yield Action(
            "stop", 1, chance.below(3), since="unroll", blocks=chance.between(6, LAST_SAFE)
        )
        return
    yield Action(GO_ON_CHAIN, chance.below(2), chance.between(14, 40))
    blocks = chance.between(boundaries.LONGEST - 1, boundaries.LONGEST)
    for side in (0, 1):
        yield Action("stop", side, chance.between(1, 3), since="unroll", blocks=blocks)


def _about_decks(chance: Chance) -> Iterator[Action]:
    """More decks, one of them several times, and messages about them that are lost or repeated."""
    side, many = chance.below(2), chance.pick((1, 2, 12))
    for _ in range(many):
        yield Action("prepare", side, chance.between(8, 30))
    for kind in ("duplicate", "duplicate", "reset", "drop", "drop"):
        yield Action(kind, chance.below(2), chance.between(4, 16))
    yield Action("crash", chance.below(2), chance.between(12, 40), chance.below(4))


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
    return replace(attack, actions=tuple(actions))


def pick_game(games: Sequence[str], chance: Chance) -> str:
    """Pick a game; one whose hands need a prepared deck takes longer, and comes less often."""
    dealt = [name for name in games if registry.get(name).deck_positions]
    others = [name for name in games if name not in dealt]
    some = dealt if dealt and chance.chance(DEALT) else others
    return chance.pick(some or games)


@cache
def adversaries_in(*games: str) -> tuple[str, ...]:
    """The names of the adversaries that can do something in one of these games."""
    rules = [*map(registry.get, games)]
    return tuple(name for name in names() if not get(name).reason_against(rules))


def likely_landmarks(kinds: Sequence[str], *, goes_on_chain: bool) -> tuple[str, ...]:
    """The landmarks that a session with such actions can have."""
    restarts = any(KINDS[name].restarts for name in kinds)
    return (
        *(["restart"] if restarts else []),
        *(["reorganise"] if {"reorganise", "undo-deadline"} & {*kinds} else []),
        *(ON_CHAIN if goes_on_chain else ["link", "settled", "shutdown"]),
    )


def drawn_action(
    kind: Kind, chance: Chance, left: int, landmarks: Sequence[str] = tuple(LANDMARKS)
) -> Action:
    """Draw an action of a kind that takes at most so many blocks on average."""
    since, at = drawn_place(kind, chance, landmarks)
    pause, blocks = 0, 0
    if kind.is_absence and left > 0 and chance.chance(40):
        blocks = boundaries.blocks(chance, min(left, boundaries.LONGEST))
    elif kind.pauses:
        pause = boundaries.seconds(chance, min(MOST_PAUSE, max(0, left) * BLOCK_TIME))
    return Action(
        kind=kind.name,
        side=chance.below(2),
        at=at,
        amount=chance.below(kind.most + 1),
        pause=pause,
        since=since,
        blocks=blocks,
    )


def drawn_place(kind: Kind, chance: Chance, landmarks: Sequence[str]) -> tuple[str, int]:
    """Draw a landmark and a number: of blocks after one, the next ones or at a boundary."""
    if kind.counts_from_start or kind.name == GO_ON_CHAIN or chance.chance(40):
        if kind.name != GO_ON_CHAIN and chance.chance(FIRSTS):
            return START, chance.below(FIRST)
        return START, chance.below(max(1, kind.span // chance.pick((1, 2, 4))))
    since = chance.pick(landmarks)
    _, span = LANDMARKS[since]
    if kind.counter == BLOCK:
        later = chance.chance(50)
        return since, boundaries.blocks(chance, boundaries.LONGEST) if later else chance.below(3)
    # The node is asked several times for each event.
    span *= 4 if kind.counter == CALL else 1
    return since, chance.below(chance.pick((2, 6, span)))


def deviation(chance: Chance) -> Action:
    """An adversary of some name, that acts at once or later on."""
    kind = KINDS["deviate"]
    at = 0 if chance.chance(60) else chance.below(kind.span // 2)
    return Action(kind.name, 0, at, chance.below(kind.most + 1))


def undoing(chance: Chance) -> Action:
    """A reorganisation that takes back what has just been seen on chain."""
    since, amount = chance.pick(ON_CHAIN), chance.below(KINDS["reorganise"].most + 1)
    return Action("reorganise", 0, chance.below(3), amount, since=since)


def repeated(action: Action, chance: Chance) -> Action:
    """The same again: right after the restart, or a little later if it counts from the start."""
    if KINDS[action.kind].counts_from_start:
        return replace(action, at=action.at + chance.between(1, 4))
    return replace(action, at=chance.below(4), since="restart", pause=0, blocks=0)
