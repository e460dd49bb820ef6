"""Scripts whose processes are killed in one stage of a session, and elsewhere in it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from channelsim.channel.attack.actions import Action, Attack, hostile_side
from channelsim.channel.attack.campaign import default_games
from channelsim.channel.attack.drawing import SNAPSHOTS, arranged
from channelsim.channel.attack.drawn_actions import deviation, drawn_action, likely_landmarks
from channelsim.channel.attack.drawn_terms import pick_game
from channelsim.channel.attack.kinds import GO_ON_CHAIN, KINDS, LANDMARKS, ON_CHAIN, START
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.simulation.kills import Stage
from channelsim.games import registry
from channelsim.games.chance import Chance

OPENING, PLAY = range(10), range(10, 40)
"""The events of a side in which the channel is opened, and hands are played."""

DECKS = range(10, 30), range(2, 8)
"""The events in which decks are prepared: of a session, and of a restart."""

DEVIATES = {Stage.OPENING: 40, Stage.BATCH: 30, Stage.DISPUTE: 60}
"""The per cent of the scripts with a hostile side, by the stage that they are for."""

WEATHER = (
    *("reorganise", "rush", "node-away", "node-slow", "block-meanwhile"),
    *("push-held", "push-unanswered", "push-refused", "push-forgotten", "solutions-hidden"),
    *("undo-deadline", "reset", "delay"),
)
"""Kinds of actions that happen beside kills."""

MOST_WEATHER, LONGEST = 2, 3
"""The most of these actions in a script, and the most blocks that each takes."""


def kill_script(seed: str, count: int, stage: Stage, most: int, *, mixed: bool = False) -> Attack:
    """Draw a script with at most so many kills, some of them in this stage."""
    chance = Chance(derive(seed.encode(), "kill script", count))
    games = short_decks() if stage is Stage.DECK_STEP else default_games()
    others = [*_company(stage, chance), *_weather(stage, chance)]
    hostile = hostile_side(others)
    kills = []
    for _ in range(most):
        since, at = _place(stage, chance)
        side = chance.below(2) if hostile is None else 1 - hostile
        amount = chance.below(KINDS["crash"].most + 1)
        kills.append(Action("crash", side, at, amount, since=since))
    attack = Attack(
        games=(pick_game(games, chance),),
        seed=f"{seed}/{count}",
        actions=(*kills, *others),
        hands=2,
        # Each snapshot hides what is wrong in the journal before it.
        snapshots=chance.pick(SNAPSHOTS if stage is Stage.DECK_STEP else SNAPSHOTS[:2]),
        tight=chance.chance(10),
        mixed=mixed,
    )
    return arranged(attack, chance)


def _company(stage: Stage, chance: Chance) -> Iterator[Action]:
    """Draw actions that bring a session to a stage, or away from honest play."""
    if stage is Stage.DISPUTE:
        yield Action(GO_ON_CHAIN, chance.below(2), chance.pick(PLAY[:20]))
    if stage in DEVIATES and chance.chance(DEVIATES[stage]):
        yield replace(deviation(chance), side=chance.below(2))
    elif stage is Stage.BATCH and chance.chance(50):
        # A game beside another one.
        yield Action("propose", chance.below(2), chance.pick(PLAY))


def _weather(stage: Stage, chance: Chance) -> Iterator[Action]:
    """Draw actions of the chain, the nodes and the connection."""
    landmarks = likely_landmarks(WEATHER, goes_on_chain=stage is Stage.DISPUTE)
    for _ in range(chance.below(MOST_WEATHER + 1)):
        yield drawn_action(KINDS[chance.pick(WEATHER)], chance, LONGEST, landmarks)


def _place(stage: Stage, chance: Chance) -> tuple[str, int]:
    """The landmark and the number of a kill: in the stage, in a restart, or anywhere."""
    if chance.chance(20):
        return "restart", chance.below(4)
    if chance.chance(10):
        return START, chance.pick((*OPENING, *PLAY))
    match stage:
        case Stage.OPENING:
            return START, chance.pick(OPENING)
        case Stage.DECK_STEP:
            first = chance.chance(50)
            return (START, chance.pick(DECKS[0])) if first else ("restart", chance.pick(DECKS[1]))
        case Stage.SHUTDOWN:
            return "shutdown", chance.below(6)
        case Stage.DISPUTE:
            since = chance.pick(ON_CHAIN)
            _, span = LANDMARKS[since]
            return since, chance.below(span // 2)
        case _:
            return START, chance.pick(PLAY)


SHORT = 10
"""The positions of a short deck, which takes the least time."""


def short_decks() -> list[str]:
    """The games with short decks, by name."""
    return [game.name for game in registry.channel_games() if 0 < game.deck_positions <= SHORT]
