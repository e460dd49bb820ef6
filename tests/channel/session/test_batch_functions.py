"""A batch, from its bytes to the verdict and the answer, passes few functions and files.

`python -m tests.channel.session.test_batch_functions GAME` prints the figures of each batch of a
hand of an installed game, and the functions of the longest path; with a second word, `peer`, those
of the state machine alone, without its driver and store.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from channelsim.channel.peer.interface import AcceptGames, Act, Command, Proposed
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.messages import Batch, Move, decode
from channelsim.channel.protocol.proposals import Wish
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.games import registry
from channelsim.games.choices import least_action
from tests.channel.table import STACK, TIMEOUT, UNIT, Table, sit
from tests.installed import EXAMPLES, install
from tests.paths import ROOT
from tests.sampling import one_row_in
from tests.traced import Trace

MOST = {
    ("spacepoker", "peer"): (110, 510, 144),
    ("parity", "peer"): (114, 434, 169),
    ("spacepoker", "driver"): (128, 527, 163),
    ("parity", "driver"): (134, 468, 188),
}
"""By game, in a peer alone or with its driver and store: functions of the batch on the longest
path, how often a reader comes back to a file that was left, and how often by a call. A
comprehension is no function, but is in a file."""


def open_table() -> Table:
    """Two durable peers in an open channel."""
    table = sit("functions")
    for end in table.ends:
        end.driven.actor = DurablePeer(end.peer, MemoryStore())
    return table.open()


def next_command(table: Table) -> tuple[int, Command] | None:
    """The answer to the next question to a player, who accepts, and takes its first choice."""
    asked = table.driver.next_question()
    if asked is None:
        return None
    index, question = asked
    if isinstance(question, Proposed):
        return index, AcceptGames(question.group.id)
    player = table.ends[index].peer.player(question.game_id)
    assert player is not None
    return index, Act(question.game_id, least_action(player.choices()[0]))


def play_hand(table: Table, game: str, where: str) -> list[tuple[Batch, Trace]]:
    """Play a hand; trace each message until its receiver has sent the answer to it."""
    parameters = registry.get(game).default_parameters(UNIT, STACK)
    table.propose(0, Wish(game, parameters, TIMEOUT, True))
    batches: list[tuple[Batch, Trace]] = []
    while table.mail:
        message, sent = decode(table.mail[0][1]), len(table.sent)
        trace = Trace(within=Peer.handle.__code__ if where == "peer" else None)
        with trace.watching():
            table.driver.deliver()
        while len(table.sent) == sent and (question := next_command(table)):
            with trace.watching():
                table.command(*question)
        if isinstance(message, Batch):
            batches.append((message, trace))
    return batches


def figures_of(trace: Trace) -> tuple[int, int, int]:
    return len(trace.functions()), trace.returns, trace.called_back


def main(game: str, where: str = "driver") -> None:
    """Print the figures of the second hand, for which all programs are loaded."""
    table = open_table()
    play_hand(table, game, where)
    batches = play_hand(table, game, where)
    for batch, trace in batches:
        print(*figures_of(trace), *(type(action).__name__ for action in batch.actions))
    moves = [trace for batch, trace in batches if any(isinstance(a, Move) for a in batch.actions)]
    print("most", *map(max, zip(*map(figures_of, moves), strict=True)))
    for function in max(moves, key=figures_of).functions():
        print(*function)


@pytest.mark.parametrize(("game", "where"), one_row_in(2, MOST))
def test_a_batch_passes_few_functions(game: str, where: str, tmp_path: Path) -> None:
    """In a new process: what is cached there would not be called again."""
    install(tmp_path, "parity", {"games": ["parity = parity:GAME"]})
    printed = subprocess.run(
        [sys.executable, "-m", __name__, game, where],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{EXAMPLES / 'parity'}"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    (line,) = (line for line in printed.splitlines() if line.startswith("most "))
    figures = tuple(map(int, line.split()[1:]))
    assert min(figures) > 100
    assert all(figure <= most for figure, most in zip(figures, MOST[game, where], strict=True)), (
        figures
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
