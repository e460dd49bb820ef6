"""A session or dispute in three processes: a node, and two sides that talk over the network.

Each side has its store on disk, sends its messages over TLS, and asks the node by RPC. The parent
has a copy of each, decides in which order things happen, and compares what each process does
with its copy: so it is the same session, to the byte, as in one process. An adversary has no store.
A side that is restored from an old copy is killed, and a new process begins with its old directory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from channelsim.channel.adversaries.base import Adversary, Rewind
from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.simulator import NodeSettings
from channelsim.channel.network.identity import make_identity, read_identity
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.driver import DirectDelivery
from channelsim.channel.session.identity import node_seed
from channelsim.channel.session.peer_driver import Actor
from channelsim.channel.session.script import Script
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.directed_peer import Common, DirectedPeer
from channelsim.channel.simulation.directed_process import Work
from channelsim.channel.simulation.process_node import ProcessNode
from channelsim.channel.simulation.side_process import SideProcess
from channelsim.channel.store.keys_file import write_keys
from channelsim.games.chance import Chance

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
            str(directory),
            self._seed,
            self.chain.url,
            read_identity(self._folder / NAMES[side.other]).fingerprint,
            self._script,
            (actor.name, actor.plan.step) if isinstance(actor, Adversary) else None,
        )
        process = SideProcess(work)
        self._stack.callback(process.end)
        process.begin()
        self._sides.append(process)
        if side is Side.RECEIVER:
            initiator, receiver = self._sides
            initiator.connect(receiver.listen(LOCAL))
            for one in self._sides:
                one.wait_for_link()
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
