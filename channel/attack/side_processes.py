"""Processes of an attacked session: its node, and its sides beside their copies in the world.

The world makes the same session as without them: each event of a side is handled by its process
too, and what both do is compared. A kill is a real one, at any instant of the work: the copy goes
on from the files that the process leaves.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection as Pipe
from operator import methodcaller
from pathlib import Path
from tempfile import TemporaryDirectory

from channelsim.channel.adversaries.base import Rewind
from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.hostile_side import HostileSide, Surroundings
from channelsim.channel.attack.old_copies import copy_folder
from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.full_node import RpcChain
from channelsim.channel.chain.simulator import NodeSettings
from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import Event
from channelsim.channel.peer.machine import Peer
from channelsim.channel.session.identity import node_seed
from channelsim.channel.session.peer_driver import Actor
from channelsim.channel.simulation.child_process import ChildProcess
from channelsim.channel.simulation.process_node import Dies, ProcessNode, never
from channelsim.channel.simulation.remote_actor import RemoteActor, handled
from channelsim.channel.simulation.side_process import Reactions, Work, open_side
from channelsim.channel.store.keys_file import FILE, read_keys, write_keys
from channelsim.games.chance import Chance


@dataclass(slots=True)
class SideProcess:
    """The process of an honest side, through all of its lives.

    Its files are in `directory`, and those of its copy in another folder.
    """

    config: Config
    snapshots: int
    folder: Path
    directory: Path
    chance: Chance
    was_killed: bool = False
    _child: ChildProcess | None = None

    def take_files(self) -> None:
        """Take the files of the copy, which is about to begin."""
        self.end()
        shutil.rmtree(self.directory, ignore_errors=True)
        if self.folder.exists():
            copy_folder(self.folder, self.directory)
        write_keys(self.directory, self.config)

    def begin(self, copy: Actor) -> RemoteActor:
        """Begin the process; the result is the actor of both."""
        work = Work(self.directory, self.snapshots)
        self._child = ChildProcess("a peer's process", open_side, work)
        return RemoteActor(self.config.name, copy, self._child)

    def kill(self, event: Event | None, peak: int) -> None:
        """Kill the process while it handles an event (None: its start at this height)."""
        if self._child is None:
            raise InvariantError(f"{self.config.name}: its process does not run")
        self._child.send(methodcaller("start", peak) if event is None else handled(event))
        self._child.strike(self.chance)
        self.was_killed = True

    def give_files(self) -> None:
        """Put the files of a process that was killed in the place of those of its copy."""
        self.was_killed = False
        shutil.rmtree(self.folder)
        copy_folder(self.directory, self.folder)
        (self.folder / FILE).unlink()

    def end(self) -> None:
        """End the process, if it runs."""
        if self._child is not None:
            self._child.kill()
            self._child = None


@dataclass(slots=True)
class SideProcesses:
    """The processes of a session, with their files in a folder.

    `chance` says how long after an event a process is killed. With `hostile`, a hostile side has
    one, too, which asks the node by RPC; the node then may not be killed.
    """

    attack: Attack
    folder: Path
    node: ProcessNode
    chance: Chance
    hostile: bool
    _adversary: ChildProcess | None = None
    _sides: list[SideProcess] = field(default_factory=list)

    def side(self, config: Config, folder: Path) -> SideProcess:
        """The process of an honest side, whose copy has its files in this folder."""
        directory = self.folder / config.name
        side = SideProcess(config, self.attack.snapshots, folder, directory, self.chance)
        self._sides.append(side)
        return side

    def beside(self, copy: HostileSide) -> Actor:
        """Begin the process of a hostile side, unless it has none; the actor of both."""
        if not self.hostile:
            return copy
        config, directory = copy.peer.config, self.folder / copy.peer.config.name
        write_keys(directory, config)
        actions = tuple(copy.actions)
        work = directory, self.node.url, self.attack.seed, self.attack.games, actions
        self._adversary = ChildProcess("an adversary's process", open_hostile, *work)
        return RemoteActor(config.name, copy, self._adversary)

    def rewinding(self, rewind: Rewind) -> Rewind:
        """Replace blocks for an adversary, once both its copy and its process ask for that.

        So both see the chain as it is before, and then as it is after it.
        """

        def rewound(back: int, bundle: Bundle | None = None) -> bool:
            if self._adversary is None:
                return rewind(back, bundle)
            if self._adversary.receive() != RewindRequest(back):
                raise InvariantError("the process of an adversary does not replace blocks")
            done = rewind(back, bundle)
            self._adversary.send(done)
            return done

        return rewound

    def end(self) -> None:
        """End all processes but the node's."""
        for side in self._sides:
            side.end()
        if self._adversary is not None:
            self._adversary.kill()


@dataclass(frozen=True, slots=True)
class RewindRequest:
    """Asks the parent to replace so many blocks, for an adversary; it answers whether it has."""

    back: int


@contextmanager
def open_hostile(
    directory: Path,
    url: str,
    seed: str,
    games: tuple[str, ...],
    actions: Sequence[Action],
    parent: Pipe,
) -> Iterator[Reactions]:
    """The hostile side with these actions, whose keys are in the directory."""

    def rewind(back: int, bundle: Bundle | None = None) -> bool:
        parent.send(RewindRequest(back))
        return bool(parent.recv())

    with RpcChain(url) as chain:
        around = Surroundings(
            seed=seed.encode(),
            games=games,
            chain=chain,
            rewind=rewind,
            took_place=lambda action: None,
            reconnect=lambda: None,
        )
        yield Reactions(HostileSide(Peer(read_keys(directory)), actions, around))


@contextmanager
def side_processes(
    attack: Attack, *, dies: Dies | None = None, chance: Chance | None = None
) -> Iterator[SideProcesses]:
    """The processes of a session, which end with the block.

    The node's is killed at the changes at which it `dies`; then a hostile side has no process.
    """
    chance = chance or Chance(attack.seed.encode())
    with ExitStack() as stack:
        temporary = TemporaryDirectory(prefix="channelsim-", ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(temporary))
        node = ProcessNode(
            folder / "node",
            node_seed(attack.seed.encode()),
            dies or never,
            chance,
            settings=NodeSettings(mixed=attack.mixed),
            serves=dies is None,
        )
        stack.enter_context(closing(node))
        processes = SideProcesses(attack, folder, node, chance, dies is None)
        stack.callback(processes.end)
        yield processes
