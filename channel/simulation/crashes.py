"""Sessions and disputes in processes that are killed again and again, and come back.

Each comes back from its store, repeats the same bytes, and signs nothing that contradicts what it
signed before; all promises hold as if it had never been killed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from channelsim.channel.chain.simulator import PUBLIC_LIKE
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.findings.finding import BROKEN_PROMISE, EXCEPTION, Finding
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.identity import node_seed
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.arena import Arena
from channelsim.channel.simulation.bounds import WEATHERS
from channelsim.channel.simulation.kills import AIMS, Kill, Stage
from channelsim.channel.simulation.peer_process import PeerProcess
from channelsim.channel.simulation.process_node import ProcessNode
from channelsim.channel.simulation.promises.checker import SEVERITY, BrokenPromise, check
from channelsim.channel.simulation.promises.crash_safety import contradictions
from channelsim.channel.simulation.remote_actor import RemoteActor
from channelsim.channel.simulation.scenario import Scenario, adversaries_for
from channelsim.channel.simulation.side_process import Work
from channelsim.channel.simulation.sweep import menus
from channelsim.games import registry
from channelsim.games.chance import Chance

ONE_IN, AIMED = 40, 4
"""A process is killed at one in so many instants, and at one in so many of the stage aimed at."""

MOST_IN_RUN = 6
"""The most kills of one run: with more, no time would be left to play."""

SIGNATURE = "signature"
"""The rule that no two messages of a side contradict each other."""

PLAIN = (SIGNATURE, EXCEPTION)
"""Rules that a finding need not name in its text."""


@dataclass(frozen=True, slots=True)
class CrashedRun:
    """A run whose honest peers were killed: when, and what went wrong, a line each.

    `scenario` is that of a dispute, or the script of an attack. `kills` are the initiator's, then
    the receiver's; `node_kills` is how often the node was killed.
    """

    scenario: dict[str, Any]
    kills: tuple[tuple[Kill, ...], tuple[Kill, ...]]
    contradictions: tuple[str, ...]
    broken: tuple[BrokenPromise, ...]
    node_kills: int = 0
    title: str = ""

    @property
    def failed(self) -> bool:
        """True if anything went wrong."""
        return bool(self.contradictions or self.broken)

    @property
    def all_kills(self) -> int:
        """How often a peer or the node was killed."""
        return sum(map(len, self.kills)) + self.node_kills

    @property
    def details(self) -> list[str]:
        """What went wrong, a line each."""
        return [f"    {finding.text}" for finding in self.findings]

    @property
    def findings(self) -> list[Finding]:
        """What went wrong, as findings."""
        broken = [BrokenPromise(SIGNATURE, how) for how in self.contradictions]
        return [
            Finding(
                rule=wrong.promise,
                place=self.title,
                severity=SEVERITY.get(wrong.promise, BROKEN_PROMISE),
                text=wrong.how if wrong.promise in PLAIN else f"{wrong.promise}: {wrong.how}",
                loss=wrong.loss,
                scenario=self.scenario,
            )
            for wrong in (*broken, *self.broken)
        ]


class Due:
    """Kills to be done: at instants of processes by chance, or as others count them.

    Each run is aimed at the stage of a session that had the fewest kills so far.
    """

    def __init__(self, seed: str, kills: int) -> None:
        self.chance = Chance(derive(seed.encode(), "kills"))
        self.left = kills
        self._aim = Stage.REST
        self.most = 0
        self._done: Counter[Stage] = Counter()

    def aim(self) -> Stage:
        """Begin a run, aimed at this stage."""
        # Among equals the last one first: it is the one that takes the longest to reach.
        self._aim = min(reversed(AIMS), key=lambda stage: self._done[stage])
        self.most = min(self.left, MOST_IN_RUN)
        return self._aim

    def now(self, stage: Stage = Stage.REST) -> bool:
        """True to kill at this instant of a stage; those of a node have none."""
        odds = AIMED if stage is self._aim else ONE_IN
        strikes = self.most > 0 and self.chance.below(odds) == 0
        self.most -= strikes
        self.count([stage] * strikes)
        return strikes

    def count(self, stages: Sequence[Stage]) -> None:
        """Count kills."""
        self._done.update(stages)
        self.left -= len(stages)


def run_in_processes(scenario: Scenario, directory: Path, due: Due) -> CrashedRun:
    """Run a scenario with its node and its honest peers in processes, with files in a directory,
    that are killed when it is due."""
    killed: dict[Side, RemoteActor] = {}

    def make(peer: Peer) -> RemoteActor:
        process = PeerProcess(peer.config, Work(directory / peer.config.name))
        killed[peer.config.side] = actor = RemoteActor(
            peer, process, lambda kill: due.now(kill.stage), chance=due.chance
        )
        return actor

    seed, path = node_seed(scenario.seed.encode()), directory / "chain"
    settings = msgspec.structs.replace(PUBLIC_LIKE, mixed=scenario.mixed)
    contradicting: list[str] = []
    with closing(ProcessNode(path, seed, due.now, due.chance, settings=settings)) as node:
        try:
            run = Arena(scenario, node=lambda seed: node, wrap=make).run()
            broken = check(run)
            contradicting = [
                f"{NAMES[side]} sent {how}"
                for side in killed
                for how in contradictions(run.parties[side].sent)
            ]
        except Exception as error:
            # Any exception is a result of this run; the others go on.
            broken = [BrokenPromise(EXCEPTION, f"{type(error).__name__}: {error}"[:300])]
        finally:
            for actor in killed.values():
                actor.close()
    first, second = (tuple(killed[side].kills) if side in killed else () for side in Side)
    who = f"{scenario.adversary}@{scenario.step}" if scenario.adversary else "honest play"
    mix = ", mixed blocks" if scenario.mixed else ""
    return CrashedRun(
        asdict(scenario),
        (first, second),
        tuple(contradicting),
        tuple(broken),
        node.kills,
        title=f"{who}, seed {scenario.seed}, {scenario.weather}{mix}",
    )


def scenario_of(seed: str, count: int, stage: Stage) -> Scenario:
    """A session or dispute that has this stage, otherwise by chance."""
    chance = Chance(derive(seed.encode(), "scenario", count))
    scenario = _with_stage(stage, chance)
    return replace(scenario, seed=f"{seed}/{count}", weather=chance.pick(WEATHERS))


def _with_stage(stage: Stage, chance: Chance) -> Scenario:
    """A session or dispute that has this stage."""
    all_menus = menus()
    adversary = chance.pick(adversaries_for(menu.games for menu in all_menus))
    menu = replace(
        chance.pick(all_menus), adversary=adversary, step=chance.below(16), side=chance.below(2)
    )
    match stage:
        case Stage.DECK_STEP:
            # Only agreed players prepare their decks.
            return Scenario((chance.pick(short_decks()),), "", hands=2, agreed=True)
        case Stage.BATCH | Stage.SHUTDOWN if chance.below(2):
            return Scenario((registry.DEFAULT,), "", hands=2, agreed=True)
        case Stage.SHUTDOWN:
            return replace(menu, adversary="")
        case Stage.BATCH:
            return menu if chance.below(2) else replace(menu, adversary="")
        case _:
            return menu


SHORT = 10
"""The positions of a short deck, which takes the least time."""


def short_decks() -> list[str]:
    """The games with short decks, by name."""
    return [game.name for game in registry.channel_games() if 0 < game.deck_positions <= SHORT]
