"""Shrinking of a script to the fewest and plainest actions that still break the same monitor."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.drawing import SNAPSHOTS
from channelsim.channel.simulation.terms import Terms

MOST_RUNS = 80
"""The most sessions that are run to shrink one script."""

IsBroken = Callable[[Attack], bool]
"""Runs a script; true if it still breaks what the one to shrink does."""


def shrunk(attack: Attack, is_broken: IsBroken, most_runs: int = MOST_RUNS) -> Attack:
    """The plainest script that is found within so many runs; the same one if there is none.

    >>> long = Attack(("g",), "s", tuple(Action("drop", side, 3) for side in (0, 1, 0)), hands=2)
    >>> short = shrunk(long, lambda attack: any(action.side for action in attack.actions))
    >>> [action.side for action in short.actions], short.hands
    ([1], 1)
    """
    runs = 0
    progresses = True
    while progresses:
        progresses = False
        for plainer in _plainer(attack):
            if runs == most_runs:
                return attack
            runs += 1
            if is_broken(plainer):
                attack, progresses = plainer, True
                break
    return attack


def _plainer(attack: Attack) -> Iterator[Attack]:
    """Scripts with less in them, those with the fewest actions first."""
    actions = attack.actions
    half = len(actions) // 2
    if half > 1:
        yield replace(attack, actions=actions[:half])
        yield replace(attack, actions=actions[half:])
    for place in range(len(actions)):
        yield replace(attack, actions=(*actions[:place], *actions[place + 1 :]))
    for hands in _less(attack.hands - 1):
        yield replace(attack, hands=1 + hands)
    if len(attack.games) > 1:
        yield replace(attack, games=attack.games[:1], terms=Terms())
    if (terms := replace(attack.terms, most_states=0, most_bytes=0)) != attack.terms:
        yield replace(attack, terms=terms)
    if attack.watched:
        yield replace(attack, watched=False)
    if attack.tight:
        yield replace(attack, tight=False)
    if attack.mixed:
        yield replace(attack, mixed=False)
    if attack.nodes:
        yield replace(attack, nodes=attack.nodes - 1)
    if attack.snapshots != SNAPSHOTS[0]:
        yield replace(attack, snapshots=SNAPSHOTS[0])
    for place, action in enumerate(actions):
        for plainer in _plainer_actions(action):
            yield replace(attack, actions=(*actions[:place], plainer, *actions[place + 1 :]))


def _plainer_actions(action: Action) -> Iterator[Action]:
    for blocks in _less(action.blocks):
        yield replace(action, blocks=blocks)
    for pause in _less(action.pause):
        yield replace(action, pause=pause)
    for amount in _less(action.amount):
        yield replace(action, amount=amount)


def _less(number: int) -> Iterator[int]:
    """Smaller numbers, the plainest first: each try is a session, so they are few.

    >>> list(_less(13)), list(_less(1)), list(_less(0))
    ([0, 6, 12], [0], [])
    """
    yield from dict.fromkeys(less for less in (0, number // 2, number - 1) if 0 <= less < number)
