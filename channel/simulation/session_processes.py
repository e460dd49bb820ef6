"""A session in three processes: a node, and two sides that talk over the network.

Each side has its store on disk, sends its messages over TLS, and asks the node by RPC. The parent
has a copy of each, decides in which order things happen, and compares what each process does
with its copy: so it is the same session, to the byte, as in one process.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.simulator import NodeSettings
from channelsim.channel.network.identity import make_identity, read_identity
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.driver import Delivery
from channelsim.channel.session.identity import node_seed
from channelsim.channel.session.script import Script
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.peer_process import PeerProcess, Traffic
from channelsim.channel.simulation.process_node import ProcessNode, never
from channelsim.channel.simulation.remote_actor import RemoteActor
from channelsim.channel.simulation.side_process import Work
from channelsim.games.chance import Chance


class SessionProcesses:
    """The node's process, and those of the peers for which `wrap` is called."""

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
        self._traffic = Traffic()
        for name in NAMES:
            make_identity(folder / name)
        self.chain = stack.enter_context(
            closing(
                ProcessNode(
                    folder / "node",
                    node_seed(self._seed),
                    never,
                    Chance(self._seed),
                    settings=settings,
                    serves=True,
                )
            )
        )
        self.delivery = Delivery(self.chain, self.push)

    def wrap(self, peer: Peer) -> RemoteActor:
        """Begin the process of a peer: the initiator's first. The second one is linked to it."""
        config = peer.config
        work = Work(
            self._folder / config.name,
            seed=self._seed,
            node=self.chain.url,
            counterparty=read_identity(self._folder / NAMES[config.side.other]).fingerprint,
            script=self._script,
        )
        process = PeerProcess(config, work, self._traffic)
        self._stack.callback(process.child.kill)
        if config.side is Side.RECEIVER:
            self._traffic.link()
        return RemoteActor(config.name, peer, process.child, process.call_of, process.follow)

    def push(self, bundle: Bundle) -> PushResult:
        """Let the process that wants to push this bundle do so.

        The RPC of the embedded node knows fewer words for a refusal than the node, which is asked
        again.
        """
        result = self._traffic.pushers[bundle].push(bundle)
        return self.chain.push(bundle) if result.answer is Answer.REFUSED else result


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
