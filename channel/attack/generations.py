"""Scripts in generations: half of each is drawn, and half changes scripts of generations before.

The pool keeps a script that reached a situation which none before it did. A generation depends on
the pool at its beginning alone, so it is the same wherever its sessions run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from channelsim.channel.attack import boundaries
from channelsim.channel.attack.actions import LAST_PATIENT, Action, Attack, Place, absence
from channelsim.channel.attack.company import ACTIONS
from channelsim.channel.attack.drawing import SNAPSHOTS, arranged, draw, swept
from channelsim.channel.attack.drawn_actions import drawn_action, drawn_place, repeated
from channelsim.channel.attack.drawn_terms import pick_game
from channelsim.channel.attack.kinds import BLOCK_TIME, KINDS, LANDMARKS, MOST_PAUSE
from channelsim.channel.crypto.hkdf import derive
from channelsim.games.chance import Chance

GENERATION = 100
"""The sessions of a generation."""

MOST_ACTIONS = 2 * ACTIONS
"""The most actions of a changed script."""

NEWEST = 40
"""The newest scripts of a pool, of which every second parent is one."""

CHANGES = 3
"""The most changes from a parent to its child."""

AIMED = 60
"""Of a hundred children, those with a fault where their parent reached something new."""

PLACES = 8
"""The most new situations of a script at which faults are tried."""


class Discovery(msgspec.Struct, frozen=True):
    """A script, without the actions that never took place, and the situations that it added.

    `places` are where some of these began, the last ones first.
    """

    attack: Attack
    situations: tuple[str, ...]
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Pool:
    """The scripts that each reached something new, oldest first, and all situations `known`."""

    parents: tuple[Discovery, ...] = ()
    known: frozenset[str] = frozenset()

    def adding(self, scripts: Iterable[Discovery]) -> Pool:
        """The pool with these scripts, but for those that reached nothing that it lacks by then.

        >>> one = Discovery(Attack(("g",), "s"), ("a", "b"))
        >>> pool = Pool().adding([one, one])
        >>> len(pool.parents), sorted(pool.known)
        (1, ['a', 'b'])
        """
        parents, known = [*self.parents], set(self.known)
        for script in scripts:
            if not known.issuperset(script.situations):
                known.update(script.situations)
                parents.append(replace(script, situations=()))
        return Pool(tuple(parents), frozenset(known))


def discovery(
    attack: Attack, done: Iterable[Action], reached: Mapping[str, Place], known: set[str]
) -> Discovery | None:
    """The script for the pool if it reached what is not known, which is added there."""
    added = tuple(situation for situation in reached if situation not in known)
    if not added:
        return None
    known.update(added)
    places = [reached[situation] for situation in reversed(added)][:PLACES]
    return Discovery(replace(attack, actions=tuple(done)), added, tuple(places))


def script(
    pool: Pool, games: Sequence[str], seed: str, number: int, kinds: Sequence[str] = tuple(KINDS)
) -> Attack:
    """The script of a session of a campaign, by its number: every second one is a new draw."""
    own = f"{seed}/{number}"
    if not pool.parents or number % 2 == 0:
        return draw(games, own, kinds, swept(seed, number))
    return changed(pool.parents, Chance(derive(own.encode(), "changed")), games, own, kinds)


def changed(
    parents: Sequence[Discovery],
    chance: Chance,
    games: Sequence[str],
    seed: str,
    kinds: Sequence[str],
) -> Attack:
    """A child of one of these scripts: a fault where it reached something new, or other changes."""
    parent = chance.pick(parents[-NEWEST:] if chance.chance(50) else parents)
    attack = parent.attack
    if parent.places and chance.chance(AIMED):
        for _ in range(chance.between(1, 2)):
            attack = _aimed(attack, chance.pick(parent.places), chance, kinds)
    else:
        for _ in range(chance.between(1, CHANGES)):
            attack = chance.pick(_WAYS)(attack, chance, kinds)
        other = chance.pick(parents).attack
        if chance.chance(20):
            attack = _spliced(attack, other, chance)
    if chance.chance(50):
        # Other cards and delays, and with them other places for the same actions.
        own = tuple(pick_game(games, chance) for _ in attack.games)
        attack = replace(attack, seed=seed, games=own)
    if absence(attack.actions) > LAST_PATIENT and chance.chance(80):
        attack = _patient(attack)
    return arranged(replace(attack, actions=attack.actions[:MOST_ACTIONS]), chance)


def _aimed(attack: Attack, place: Place, chance: Chance, kinds: Sequence[str]) -> Attack:
    """With a fault where something new began, with the event before, or right after it."""
    left = max(0, LAST_PATIENT - int(absence(attack.actions)))
    action = drawn_action(KINDS[chance.pick(kinds)], chance, left)
    later = chance.pick((-1, 0, 0, 1, 2))
    return replace(attack, actions=(*attack.actions, place.action(action, later)))


def _spliced(attack: Attack, other: Attack, chance: Chance) -> Attack:
    """The first actions of one script and the last of another."""
    first = attack.actions[: chance.below(len(attack.actions) + 1)]
    last = other.actions[chance.below(len(other.actions) + 1) :]
    return replace(attack, actions=(*first, *last))


def _patient(attack: Attack) -> Attack:
    """The script with so much less absence that no side gives the other up."""
    left = float(LAST_PATIENT)
    actions = []
    for action in attack.actions:
        if action.lasts > left:
            action = replace(action, pause=0, blocks=0)
        left -= action.lasts
        actions.append(action)
    return replace(attack, actions=tuple(actions))


# --- changes ----------------------------------------------------------------------------------


def _with_another(attack: Attack, chance: Chance, kinds: Sequence[str]) -> Attack:
    own = [action.kind for action in attack.actions if action.kind in kinds]
    kind = chance.pick(own) if own and chance.chance(40) else chance.pick(kinds)
    left = max(0, LAST_PATIENT - int(absence(attack.actions)))
    action = drawn_action(KINDS[kind], chance, left)
    at = chance.below(len(attack.actions) + 1)
    return replace(attack, actions=(*attack.actions[:at], action, *attack.actions[at:]))


def _with_one_less(attack: Attack, chance: Chance, kinds: Sequence[str]) -> Attack:
    if not attack.actions:
        return attack
    at = chance.below(len(attack.actions))
    return replace(attack, actions=(*attack.actions[:at], *attack.actions[at + 1 :]))


def _with_one_changed(attack: Attack, chance: Chance, kinds: Sequence[str]) -> Attack:
    if not attack.actions:
        return attack
    at = chance.below(len(attack.actions))
    action = chance.pick(_CHANGES)(attack.actions[at], chance)
    return replace(attack, actions=(*attack.actions[:at], action, *attack.actions[at + 1 :]))


def _with_one_repeated(attack: Attack, chance: Chance, kinds: Sequence[str]) -> Attack:
    """With one of its actions again: right after the restart that it leads to, or soon after it."""
    if not attack.actions:
        return attack
    action = chance.pick(attack.actions)
    after = repeated(action, chance) if chance.chance(50) else _moved(action, chance)
    return replace(attack, actions=(*attack.actions, after))


def _another_session(attack: Attack, chance: Chance, kinds: Sequence[str]) -> Attack:
    match chance.below(3):
        case 0:
            return replace(attack, hands=chance.between(1, 3))
        case 1:
            return replace(attack, snapshots=chance.pick(SNAPSHOTS))
        case _:
            return replace(attack, watched=not attack.watched)


_WAYS: tuple[Callable[[Attack, Chance, Sequence[str]], Attack], ...] = (
    *(_with_another, _with_another, _with_one_less, _with_one_repeated),
    *(_with_one_changed, _with_one_changed, _with_one_changed, _another_session),
)
"""Ways to change a script; one that occurs more often is taken more often."""


def _moved(action: Action, chance: Chance) -> Action:
    """By one, or a little further."""
    by = chance.pick((1, 1, 1, 2, 5))
    return replace(action, at=action.at + by if chance.chance(50) else max(0, action.at - by))


def _moved_elsewhere(action: Action, chance: Chance) -> Action:
    since, at = drawn_place(KINDS[action.kind], chance, tuple(LANDMARKS))
    return replace(action, since=since, at=at)


def _on_the_other_side(action: Action, chance: Chance) -> Action:
    return replace(action, side=1 - action.side)


def _with_another_amount(action: Action, chance: Chance) -> Action:
    """At a border of what is possible, or next to what it is."""
    most = KINDS[action.kind].most
    amounts = (0, 1, most - 1, most, action.amount - 1, action.amount + 1)
    return replace(action, amount=max(0, min(most, chance.pick(amounts))))


def _with_another_time(action: Action, chance: Chance) -> Action:
    kind = KINDS[action.kind]
    if kind.is_absence and chance.chance(50):
        near = (action.blocks - 1, action.blocks + 1, *boundaries.EDGES)
        blocks = max(0, min(boundaries.LONGEST, chance.pick(near)))
        return replace(action, pause=0, blocks=blocks)
    if kind.pauses:
        pause = boundaries.seconds(chance, min(MOST_PAUSE, LAST_PATIENT * BLOCK_TIME))
        return replace(action, pause=pause, blocks=0)
    return _moved(action, chance)


_CHANGES: tuple[Callable[[Action, Chance], Action], ...] = (
    *(_moved, _moved, _moved_elsewhere, _on_the_other_side),
    *(_with_another_amount, _with_another_time),
)


class GuidedSearch:
    """The scripts of a campaign with this seed, each after the session of the one before.

    >>> from channelsim.games.names import DEFAULT
    >>> search = GuidedSearch((DEFAULT,), "seed", ("drop",))
    >>> first = search.next()
    >>> search.learn(first, first.actions, {"somewhere": Place(0, "", {"message": 3})})
    >>> first == script(Pool(), (DEFAULT,), "seed", 0, ("drop",))
    True
    """

    def __init__(
        self, games: Sequence[str], seed: str, kinds: Sequence[str] = tuple(KINDS)
    ) -> None:
        self._games, self._seed, self._kinds = games, seed, kinds
        self._pool, self._number = Pool(), 0
        self._discoveries: list[Discovery] = []

    def next(self) -> Attack:
        """The next script."""
        if self._number % GENERATION == 0:
            self._pool, self._discoveries = self._pool.adding(self._discoveries), []
        number, self._number = self._number, self._number + 1
        return script(self._pool, self._games, self._seed, number, self._kinds)

    def learn(self, attack: Attack, done: Iterable[Action], reached: Mapping[str, Place]) -> None:
        """Take what a session of a script reached."""
        new = discovery(attack, done, reached, set(self._pool.known))
        if new is not None:
            self._discoveries.append(new)
