"""A session or dispute in three processes: a node, and two sides that talk over the network.

Each side has its store on disk, sends its messages over TLS, and asks the node by RPC. The parent
has a copy of each, decides in which order things happen, and compares what each process does
with its copy: so it is the same session, to the byte, as in one process. An adversary has no store.
A side that is restored from an old copy is killed, and a new process begins with its old directory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copytree, rmtree
from tempfile import TemporaryDirectory

from channelsim.channel.adversaries.base import Adversary, Rewind
from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.observations import Block
from channelsim.channel.chain.simulator import NodeSettings
from channelsim.channel.errors import InvariantError, UsageError
from channelsim.channel.network.identity import make_identity, read_identity
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import (
    ComputeDeck,
    Connected,
    DeckComputed,
    Effect,
    Event,
    Push,
    Received,
    Send,
)
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.driver import DirectDelivery
from channelsim.channel.session.identity import node_seed
from channelsim.channel.session.peer_driver import Actor
from channelsim.channel.session.script import Script
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.directed_process import (
    LINKED,
    REFUSED,
    LookAtChain,
    Offer,
    Order,
    PlainOrder,
    Reconnect,
    RewindRequest,
    Work,
    serve,
    travels,
)
from channelsim.channel.simulation.killed_processes import ChildProcess, ProcessNode, effects_digest
from channelsim.channel.simulation.parties import RestoredPeer
from channelsim.channel.store.event_codec import Start
from channelsim.channel.store.keys_file import write_keys
from channelsim.games.chance import Chance


class SideProcess(ChildProcess):
    """The process of a side, which can be restored from an older copy of its directory."""

    def __init__(self, work: Work) -> None:
        super().__init__("a peer's process", serve, work)
        self._directory = work.directory
        self._copy = work.directory.with_name(f"{work.directory.name}.copy")
        self._address: object = None

    # --- the link to the other side ---

    def listen(self, address: object) -> object:
        """Let the process listen at this address; returns it as it is bound."""
        self._address = self.ask(address)
        return self._address

    def connect(self, address: object) -> None:
        """Let the process connect to this address."""
        self._address = address
        self.send(address)

    def wait_for_link(self) -> None:
        """Wait until the process is linked to the other side's."""
        if self.receive() != LINKED:
            raise InvariantError("the processes of the peers are out of step")

    # --- an older copy ---

    def copy(self) -> None:
        """Copy the directory, as it is while the process waits for an order."""
        copytree(self._directory, self._copy)

    def restore(self, *, listens: bool) -> None:
        """Kill the process, and begin another one from the copy, linked at the same address."""
        self.kill()
        rmtree(self._directory)
        self._copy.rename(self._directory)
        self.begin()
        if listens:
            self.listen(self._address)
        else:
            self.connect(self._address)
        self.wait_for_link()


@dataclass
class Common:
    """What the parent knows of both processes.

    `waiting` counts the messages that are on their way to each side, `pushers` says who wants to
    push a bundle, and `rewound` are the results of rewinds that a process has not heard. `restored`
    is a side whose process is another one since the last connection.
    """

    waiting: list[int] = field(default_factory=lambda: [0, 0])
    pushers: dict[Bundle, DirectedPeer] = field(default_factory=dict)
    rewound: list[bool] = field(default_factory=list)
    restored: Side | None = None
    _orders: dict[Side, Reconnect | PlainOrder] = field(default_factory=dict)

    def reconnection(self, side: Side) -> Reconnect | PlainOrder:
        """This side's part of a new connection, which both sides make at once."""
        if not self._orders:
            self._orders = {side: Reconnect(self.waiting[side]) for side in Side}
            if self.restored is not None:
                self._orders = {self.restored: Reconnect(0), self.restored.other: PlainOrder.RELINK}
            self.waiting, self.restored = [0, 0], None
        return self._orders.pop(side)


class DirectedPeer:
    """Stands in for `actor`, its copy, before a driver."""

    def __init__(self, side: Side, actor: Actor, process: SideProcess, common: Common) -> None:
        self._side = side
        self._actor = actor
        self._process = process
        self._common = common
        self._steps = self._forgotten_steps = 0
        if isinstance(actor, RestoredPeer):
            actor.on_copy = process.copy

    def start(self, peak: int) -> list[Effect]:
        """Begin at this height."""
        return self._both(Start(peak), lambda: self._actor.start(peak))

    def handle(self, event: Event) -> list[Effect]:
        """Let the process handle an event: one that it gets by itself, or this command.

        Raises `UsageError` for a command that is not possible now, and `PeerStopped` when the
        process was restored from an older copy.
        """
        if isinstance(self._actor, RestoredPeer) and self._actor.is_due(event):
            self._process.restore(listens=self._side is Side.RECEIVER)
            self._common.restored = self._side
            self._forgotten_steps, self._steps = self._forgotten_steps + self._steps, 0
            return self._actor.handle(event)
        return self._both(self._order(event), lambda: self._actor.handle(event))

    def finish_block(self) -> list[Effect]:
        """An adversary's last effects after a block."""
        adversary = self._adversary()
        return self._both(PlainOrder.FINISH_BLOCK, adversary.finish_block)

    def breaks_connection(self) -> bool:
        """True if an adversary breaks the connection now."""
        self._process.send(PlainOrder.ASK_TO_BREAK)
        breaks = self._adversary().breaks_connection()
        if self._process.receive() != breaks:
            raise self._out_of_step(PlainOrder.ASK_TO_BREAK)
        return breaks

    def offer(self, bundle: Bundle) -> PushResult:
        """Let the process push a bundle."""
        result = self._process.ask(Offer(bundle))
        if not isinstance(result, PushResult):
            raise self._out_of_step("a push")
        return result

    def _adversary(self) -> Adversary:
        if not isinstance(self._actor, Adversary):
            raise InvariantError(f"the {NAMES[self._side]} is not an adversary")
        return self._actor

    def _order(self, event: Event) -> Order:
        match event:
            case Received(message) if travels(message):
                self._common.waiting[self._side] -= 1
                return PlainOrder.TAKE_MESSAGE
            case Block():
                return LookAtChain(
                    frozenset(
                        seen.coin.id
                        for seen in event.coins
                        if seen.spent is not None and seen.solution is None
                    )
                )
            case DeckComputed() if self._forgotten_steps:
                self._forgotten_steps -= 1  # the process that began it is no more
                return event
            case DeckComputed():
                self._steps -= 1
                return PlainOrder.TAKE_DECK_STEP
            case Connected():
                return self._common.reconnection(self._side)
            case _:
                return event

    def _both(self, order: Order, react: Callable[[], list[Effect]]) -> list[Effect]:
        """Let the process and its copy react, and compare them.

        The copy follows when the process is done, or when it replaces blocks: both have to see the
        chain as it was before, and as it is after that.
        """
        outcome: list[Effect] | UsageError | None = None
        answer = self._process.ask(order)
        while isinstance(answer, RewindRequest):
            if outcome is None:
                outcome = _outcome(react)
            if not self._common.rewound:
                raise self._out_of_step(answer)
            answer = self._process.ask(self._common.rewound.pop(0))
        if outcome is None:
            outcome = _outcome(react)
        expected = REFUSED if isinstance(outcome, UsageError) else effects_digest(outcome)
        if answer != expected or self._common.rewound:
            raise self._out_of_step(order)
        if isinstance(outcome, UsageError):
            raise outcome
        for effect in outcome:
            match effect:
                case Push(_, bundle):
                    self._common.pushers[bundle] = self
                case Send(message) if travels(message):
                    self._common.waiting[self._side.other] += 1
                case ComputeDeck():
                    self._steps += 1
                case _:
                    pass
        return outcome

    def _out_of_step(self, order: object) -> InvariantError:
        return InvariantError(
            f"the {NAMES[self._side]}: its process and its copy react differently to {order}"
        )


def _outcome(react: Callable[[], list[Effect]]) -> list[Effect] | UsageError:
    try:
        return react()
    except UsageError as error:
        return error


LOCAL = ("127.0.0.1", 0)


class SessionProcesses:
    """The node's process, and those of the sides for which `direct` is called."""

    def __init__(
        self,
        folder: Path,
        seed: str,
        script: Script | None,
        stack: ExitStack,
        settings: NodeSettings,
    ) -> None:
        self._folder, self._seed, self._stack = folder, seed.encode(), stack
        self._script = script
        self._common = Common()
        self._sides: list[SideProcess] = []
        for name in NAMES:
            make_identity(folder / name)
        self.chain = stack.enter_context(
            closing(
                ProcessNode(
                    folder / "node",
                    node_seed(self._seed),
                    lambda: False,
                    Chance(self._seed),
                    settings=settings,
                    serves=True,
                )
            )
        )
        self.delivery = DirectDelivery(self.chain)
        self.delivery.push = self.push

    def wrap(self, peer: Peer) -> DirectedPeer:
        """Begin the process of a peer: the initiator's first. The second one is linked to it."""
        return self.direct(peer.config, peer)

    def direct(self, config: Config, actor: Actor) -> DirectedPeer:
        """Begin the process of a side, whose copy is this actor: a peer, or an adversary."""
        side = config.side
        directory = self._folder / config.name
        write_keys(directory, config)
        work = Work(
            directory,
            self._seed,
            self.chain.url,
            read_identity(self._folder / NAMES[side.other]).fingerprint,
            self._script,
            (actor.name, actor.plan.step, actor.plan.games)
            if isinstance(actor, Adversary)
            else None,
        )
        process = SideProcess(work)
        self._stack.callback(process.kill)
        process.begin()
        self._sides.append(process)
        if side is Side.RECEIVER:
            initiator, receiver = self._sides
            initiator.connect(receiver.listen(LOCAL))
            for linked in self._sides:
                linked.wait_for_link()
        return DirectedPeer(side, actor, process, self._common)

    def push(self, bundle: Bundle) -> PushResult:
        """Let the process that wants to push this bundle do so.

        The RPC of the embedded node knows fewer words for a refusal than the node, which is asked
        again.
        """
        result = self._common.pushers[bundle].offer(bundle)
        return self.chain.push(bundle) if result.answer is Answer.REFUSED else result

    def rewinding(self, rewind: Rewind) -> Rewind:
        """Replace blocks for the copy of an adversary; its process hears of the result."""

        def rewound(back: int, bundle: Bundle | None = None) -> bool:
            self._common.rewound.append(rewind(back, bundle))
            return self._common.rewound[-1]

        return rewound


@contextmanager
def session_processes(
    seed: str, script: Script | None = None, *, mixed: bool = False
) -> Iterator[SessionProcesses]:
    """Begin a node's process for a session of this seed; all processes end with the block.

    On a `mixed` chain, about one block in three carries transactions.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(
            TemporaryDirectory(prefix="channelsim-", ignore_cleanup_errors=True)
        )
        yield SessionProcesses(Path(folder), seed, script, stack, NodeSettings(mixed=mixed))
