"""A session or dispute in three processes: a node, and two sides that talk over the network.

Each side has its store on disk, sends its messages over TLS, and asks the node by RPC. The parent
has a copy of each, decides in which order things happen, and compares what each process does
with its copy: so it is the same session, to the byte, as in one process. An adversary has no store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from tempfile import TemporaryDirectory

from channelsim.channel.adversaries.base import Adversary
from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.errors import InvariantError
from channelsim.channel.network.identity import make_identity, read_identity
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.driver import DirectDelivery
from channelsim.channel.session.identity import node_seed
from channelsim.channel.session.peer_driver import Actor
from channelsim.channel.session.script import Script
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.directed_peer import Common, DirectedPeer, received
from channelsim.channel.simulation.directed_process import LINKED, Work, serve
from channelsim.channel.simulation.process_node import ProcessNode
from channelsim.channel.simulation.process_peer import CONTEXT
from channelsim.channel.store.keys_file import write_keys
from channelsim.channel.system.interrupt import held
from channelsim.games.chance import Chance

LOCAL = ("127.0.0.1", 0)


class SessionProcesses:
    """The node's process, and those of the sides for which `direct` is called."""

    def __init__(self, folder: Path, seed: str, script: Script | None, stack: ExitStack) -> None:
        self._folder, self._seed, self._stack = folder, seed.encode(), stack
        self._script = script
        self._common = Common()
        self._pipes: list[Pipe] = []
        for name in NAMES:
            make_identity(folder / name)
        self.chain = stack.enter_context(
            closing(
                ProcessNode(
                    folder / "node",
                    node_seed(self._seed),
                    lambda: False,
                    Chance(self._seed),
                    serves=True,
                )
            )
        )
        self.delivery = DirectDelivery(self.chain)
        self.delivery.offer = self.push

    def wrap(self, peer: Peer) -> DirectedPeer:
        """Begin the process of a peer: the initiator's first. The second one is linked to it."""
        return self.direct(peer.config, peer)

    def direct(self, config: Config, actor: Actor) -> DirectedPeer:
        """Begin the process of a side, whose copy is this actor: a peer, or an adversary."""
        side = config.side
        directory = self._folder / config.name
        write_keys(directory, config)
        work = Work(
            str(directory),
            self._seed,
            self.chain.url,
            read_identity(self._folder / NAMES[side.other]).fingerprint,
            self._script,
            (actor.name, actor.plan.step) if isinstance(actor, Adversary) else None,
        )
        pipe = self._begin(work)
        self._pipes.append(pipe)
        if side is Side.RECEIVER:
            initiator, receiver = self._pipes
            receiver.send(LOCAL)
            address = received(receiver)
            initiator.send(address)
            for one in self._pipes:
                if received(one) != LINKED:
                    raise InvariantError("the processes of the peers are out of step")
        return DirectedPeer(side, actor, pipe, self._common)

    def push(self, bundle: Bundle) -> PushResult:
        """Let the process that wants to push this bundle do so.

        The RPC of the embedded node knows fewer words for a refusal than the node, which is asked
        again.
        """
        result = self._common.pushers[bundle].offer(bundle)
        return self.chain.push(bundle) if result.answer is Answer.REFUSED else result

    def rewinding(self, rewind: Callable[[int], bool]) -> Callable[[int], bool]:
        """Replace blocks for the copy of an adversary; its process hears of the result."""

        def rewound(back: int) -> bool:
            self._common.rewound.append(rewind(back))
            return self._common.rewound[-1]

        return rewound

    def _begin(self, work: Work) -> Pipe:
        with held():
            ours, theirs = CONTEXT.Pipe()
            process = CONTEXT.Process(target=serve, args=(work, theirs))
            process.start()
            theirs.close()

        def end() -> None:
            process.kill()
            process.join()
            process.close()
            ours.close()

        self._stack.callback(end)
        return ours


@contextmanager
def session_processes(seed: str, script: Script | None = None) -> Iterator[SessionProcesses]:
    """Begin a node's process for a session of this seed; all processes end with the block."""
    with ExitStack() as stack:
        folder = stack.enter_context(
            TemporaryDirectory(prefix="channelsim-", ignore_cleanup_errors=True)
        )
        yield SessionProcesses(Path(folder), seed, script, stack)
