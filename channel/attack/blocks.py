"""The blocks of an attacked session, and what happens to them: others fill them, a hostile side
spends in them, they come at once, or are replaced. After some of them nothing fails any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from channelsim.channel.attack.actions import Action
from channelsim.channel.attack.failing_node import FailingNode
from channelsim.channel.attack.filled_blocks import FilledChain, filled_by
from channelsim.channel.attack.hostile_spends import Moment
from channelsim.channel.attack.kinds import BLOCK, BLOCK_TIME, DEADLINE
from channelsim.channel.attack.process import Process
from channelsim.channel.attack.script import Script
from channelsim.channel.attack.session import Observer
from channelsim.channel.attack.wire import Wire
from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.session_events import BlockMade
from channelsim.channel.simulation.deadlines import deadlines
from channelsim.channel.simulation.reorganisations import Reorganisations
from channelsim.channel.simulation.run import Party
from channelsim.channel.simulation.scenario import Scenario
from channelsim.games.amounts import counted
from channelsim.games.chance import Chance

HEALS_AT = 40
"""Blocks after which nothing fails any more. All these are multiplied by the spacing."""

PATIENCE = 60
"""Blocks after the healing until the user of an old copy has it published."""

AFTERWARDS = 8
"""Blocks that a hostile side still has once the honest one is done."""

MOST_BLOCKS = 400
"""Blocks after the healing in which everything has to be settled, whatever was under way; for each
hand if one side is hostile, since it may make each move as late as it may."""


@dataclass
class Blocks:
    """Makes the blocks of a session until both sides are done, or the time for that is over.

    `hostile` is the side that is, and `spends` are its spends for an action. `next_action` takes
    the script's next action of a counter, and `note` writes a line of the log. The result: when
    each side was `finished`, and since when nothing fails any more.
    """

    chain: FarmableChain
    filled: FilledChain | None
    scenario: Scenario
    hostile: int | None
    times: Chance
    script: Script
    wire: Wire
    nodes: Sequence[FailingNode]
    parties: Sequence[Party]
    processes: Sequence[Process]
    spends: Callable[[Action], Iterable[Bundle]]
    next_action: Callable[[str, int], Action | None]
    note: Callable[[str], None]
    observer: Observer
    finished: list[int | None] = field(default_factory=lambda: [None, None])
    _followed: int = 0
    _looks_again: bool = False

    def __post_init__(self) -> None:
        """Begin at the newest block."""
        self.quiet_since = self.chain.peak()
        self.reorganisations = Reorganisations(self.chain, self.scenario.game_timeout)

    async def run(self) -> None:
        """Make blocks until both sides are done, or the time for that is over."""
        hands = 1 if self.hostile is None else self.scenario.hands
        spacing = self.scenario.spacing
        for number in range(spacing * (HEALS_AT + MOST_BLOCKS * hands)):
            await asyncio.sleep(self.times.between(BLOCK_TIME // 2, 3 * BLOCK_TIME // 2))
            if number == spacing * HEALS_AT:
                self._heal()
            self._strike()
            action = self.next_action(BLOCK, 0)
            if action is not None and action.kind == "spend":
                self._spend(action)
                continue
            self.make()
            if number == spacing * (HEALS_AT + PATIENCE):
                for process in self.processes:
                    process.recover()
            match action:
                case Action("rush", amount=more):
                    for _ in range(more):
                        self.make()
                case Action("fill") if self.filled is not None:
                    self.filled.fill(filled_by(action))
                case Action("reorganise", amount=amount):
                    back = min(1 + amount // 2, self.scenario.confirmations)
                    self._reorganise(back, keep=bool(amount % 2))
                case Action("undo-funding", amount=amount):
                    self._undo_funding(keep=bool(amount))
                case _:
                    pass
            self._note_faults()
            if self._is_over():
                return

    def _strike(self) -> None:
        """Perhaps replace the newest block, if it is at a deadline: both sides have acted on it.

        What they pushed since is lost, or gets in a block earlier.
        """
        peak = self.chain.peak()
        if not self._can_reorganise(1):
            return
        due = (due for party in self.parties for due in deadlines(party.peer))
        names = sorted({deadline.value for height, deadline in due if height == peak})
        action = self.next_action(DEADLINE, 0) if names else None
        if action is not None and self._reorganise(1, keep=bool(action.amount)):
            self.note(f"at {', '.join(names)}")

    def _note_faults(self) -> None:
        """Note the height until which faults last that have taken place by now."""
        new = self.script.done[self._followed :]
        self._followed += len(new)
        if new:
            pause = sum(action.pause for action in new) // (BLOCK_TIME // 2)
            pause += sum(action.blocks for action in new)
            self.quiet_since = max(self.quiet_since, self.chain.peak() + pause)
        hampered = max(node.hampers_until for node in self.nodes)
        self.quiet_since = max(self.quiet_since, hampered)
        if self.filled is not None and self.filled.left:
            self.quiet_since = max(self.quiet_since, self.chain.peak() + self.filled.left)

    def _is_over(self) -> bool:
        """True if both sides are done, or the honest one some blocks ago; note when they are."""
        honest = [process for process in self.processes if process.side != self.hostile]
        for process in honest:
            if process.is_over and self.finished[process.side] is None:
                self.finished[process.side] = self.chain.peak()
        heights = [self.finished[process.side] for process in honest]
        if any(process.is_given_up for process in honest):
            return True
        if None in heights:
            return False
        rest = self.scenario.spacing * AFTERWARDS
        return self.hostile is None or self.chain.peak() >= max(filter(None, heights)) + rest

    def make(self) -> None:
        """Make one block."""
        if self._looks_again:
            self._look_again()
        for node in self.nodes:
            node.take_held()
        self.chain.farm()
        self.note(f"block {self.chain.peak()}")
        self.observer.on_event(BlockMade(self.chain.peak()))

    def _reorganise(self, back: int, *, keep: bool, bundle: Bundle | None = None) -> bool:
        """Replace blocks, where that can be."""
        if not self._can_reorganise(back, opens=bundle is not None):
            return False
        self.reorganisations.replace(back, 1, keep=keep, bundle=bundle)
        for side in Side:
            self.script.mark("reorganise", side)
        self.note(f"reorganised {back}, block {self.chain.peak()}")
        self.observer.on_fault(None, f"the last {counted(back, 'block')} are replaced")
        return True

    def _undo_funding(self, *, keep: bool) -> None:
        """Replace all blocks from that of the funding on, if it is deep and nobody is done.

        Only where both sides are honest: a hostile one would spend its wallet coin in another way.
        What pays fees is left alone: it goes by what was final.
        """
        opened = next(
            (one for party in self.parties if (one := party.peer.state.opening.opened) is not None),
            None,
        )
        seen = self.chain.coin(opened.channel.coin.id) if opened is not None else None
        is_done = any(process.is_over for process in self.processes)
        pays = any(party.peer.config.fees is not None for party in self.parties)
        if seen is None or is_done or pays or self.hostile is not None:
            return
        back = self.chain.peak() - seen.born + 1
        if back > self.scenario.confirmations:
            self._reorganise(back, keep=keep)

    def _can_reorganise(self, back: int, *, opens: bool = False) -> bool:
        """True if blocks can be replaced: beside a hostile side after a rest, or in the opening."""
        rested = self.hostile is None or self.reorganisations.has_rested or opens
        return rested and self.reorganisations.can_replace(back)

    def rewind(self, back: int, bundle: Bundle | None = None) -> bool:
        """Replace blocks for an adversary, as `Rewind` says."""
        deepest = self.scenario.confirmations + 1
        if not 1 <= back <= deepest:
            return False
        if not self._reorganise(back, keep=bundle is not None, bundle=bundle):
            return False
        if back == deepest:
            self._look_again()
            # A process may be in the middle of its last look, and end before the next block.
            self._looks_again = True
        return True

    def _look_again(self) -> None:
        """Start processes again that have ended: what was final is not, and their users see it."""
        self._looks_again = False
        for process in self.processes:
            if process.look_again():
                self.finished[process.side] = None

    def _spend(self, action: Action) -> None:
        """Make a block, and offer spends of the hostile side before it or after it."""
        moment = Moment(action.amount % len(Moment))
        if moment is not Moment.BEFORE_BLOCK:
            self.make()
        if moment.back:
            self._reorganise(moment.back, keep=False)
        for bundle in self.spends(action):
            answer = self.chain.push(bundle).answer
            self.note(f"spend of side {action.side}: {answer.value}")
        if moment is Moment.BEFORE_BLOCK:
            self.make()

    def _heal(self) -> None:
        self.script.is_healed = True
        self.wire.heal()
        for node in self.nodes:
            node.heal()
        for process in self.processes:
            process.healed.set()
        self.quiet_since = self.chain.peak()
        self.note("healed")
        self.observer.on_fault(None, "from now on nothing fails")
