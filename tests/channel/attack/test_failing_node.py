"""Nodes that drop or refuse spends, hide their solutions, or replace the block at a deadline."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from msgspec.structs import replace

from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.failing_node import FORGOTTEN, FailingNode
from channelsim.channel.attack.filled_blocks import LENGTHS
from channelsim.channel.attack.kinds import REFUSALS
from channelsim.channel.attack.world import run
from channelsim.channel.chain.coins import Bundle, Coin, Spend
from channelsim.channel.chain.forwarding import ForwardingChain
from channelsim.channel.chain.full_node import NodeError
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.refusals import FEE_TOO_LOW, UNKNOWN_UNSPENT
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.crypto.keyed_hash import fast_signatures
from channelsim.channel.peer.interface import GoOnChain
from channelsim.channel.protocol.state import Side
from channelsim.channel.simulation.deadlines import Deadline
from scripts.tools.attack_faults.planting import Reach
from scripts.tools.attack_faults.table import faults
from tests.channel.table import ANN, Table, sit
from tests.sampling import one_row_in

TABLE = {fault.name: fault for fault in faults()}


@pytest.fixture(autouse=True)
def fast() -> Iterator[None]:
    with fast_signatures():
        yield


def broken_with(name: str, *actions: Action) -> tuple[str, bool]:
    """The violations of a session with a fault, if one is named, and whether it was reached."""
    reach = Reach()
    with ExitStack() as stack:
        if name:
            TABLE[name].plant(stack, reach)
        session = run(Attack(("spacepoker",), "s0", actions))
    assert {*session.done} == {*actions}
    return " ".join(violation.text for violation in session.violations), reach.reached


LEAVES = Action("go-on-chain", 0, 24)
PAYS = Action("fill", 0, 2, LENGTHS + 1)
FULL, UNKNOWN = (
    Action("push-refused", 0, 1, REFUSALS.index(error), since="chain")
    for error in (FEE_TOO_LOW, UNKNOWN_UNSPENT)
)
NEVER_KNOWN = replace(UNKNOWN, at=0, blocks=8)
AGAIN = Action("stop", 0, 2, since="chain")
DROPPED = Action("push-forgotten", 0, 0, since="chain", blocks=4)


@pytest.mark.parametrize(
    ("name", "actions", "says"),
    one_row_in(
        2,
        [
            ("hides-dropped-spends", (LEAVES, DROPPED), "does not know of a dropped unroll"),
            ("reports-drops-again", (LEAVES, DROPPED), "hears of a dropped unroll again"),
            (
                "bids-no-more",
                (PAYS, LEAVES, FULL),
                "bids no more for its unroll+fee, whose fee is refused",
            ),
            ("keeps-a-spent-coin", (PAYS, LEAVES, NEVER_KNOWN), "without a coin that is unknown"),
            (
                "offers-alone-at-once",
                (PAYS, LEAVES, UNKNOWN),
                "coins of what it replaces are not in",
            ),
            (
                "stores-no-refused",
                (PAYS, LEAVES, FULL, AGAIN),
                "other fees than before the restart",
            ),
        ],
    ),
)
def test_a_fault_that_a_failing_node_shows_is_noticed(
    name: str, actions: tuple[Action, ...], says: str
) -> None:
    assert broken_with("", *actions) == ("", False)
    broken, reached = broken_with(name, *actions)
    assert reached
    assert says in broken


def node_with(table: Table, *actions: Action) -> FailingNode:
    """A node of the table's chain that has these actions with its first calls."""
    due = list(actions)
    return FailingNode(table.chain, lambda: due.pop(0) if due else None, lambda: 0.0, lambda: None)


class Offered(ForwardingChain):
    """A chain that counts what is pushed to it."""

    def __init__(self) -> None:
        super().__init__(SimulatedChain(1))
        self.pushes = 0

    def push(self, bundle: Bundle) -> PushResult:
        self.pushes += 1
        return super().push(bundle)


def test_dropped_bytes_are_offered_again_after_their_blocks() -> None:
    chain = Offered()
    due = [Action("push-forgotten", 0, 0, blocks=1)]
    node = FailingNode(chain, lambda: due.pop() if due else None, lambda: 0.0, chain.farm)
    assert node.push(Bundle((), b"")).answer is Answer.ACCEPTED
    assert node.hampers_until == chain.peak() + 2
    for _ in range(2):
        assert node.push(Bundle((), b"")) == FORGOTTEN
        chain.farm()
    assert chain.pushes == 0
    node.push(Bundle((), b""))
    assert chain.pushes == 1
    due.append(Action("push-forgotten", 0, 0, blocks=9))
    node.push(Bundle((), b""))
    node.heal()
    node.push(Bundle((), b""))
    assert (chain.pushes, node.hampers_until) == (2, 0)


def test_a_push_gets_no_answer_for_its_blocks() -> None:
    chain = Offered()
    due = [Action("push-unanswered", 0, 0, blocks=2)]
    node = FailingNode(chain, lambda: due.pop() if due else None, lambda: 0.0, chain.farm)
    first, other = (Bundle((Spend(Coin(bytes(32), bytes(32), n), b"", b""),), b"") for n in (1, 2))
    for _ in range(2):
        with pytest.raises(NodeError):
            node.push(first)
        node.push(other)
        chain.farm()
    assert chain.pushes == 2
    node.push(first)
    assert chain.pushes == 3


@pytest.mark.parametrize("error", REFUSALS)
def test_a_push_is_refused_once(error: str) -> None:
    chain = Offered()
    due = [Action("push-refused", 0, 0, REFUSALS.index(error))]
    node = FailingNode(chain, lambda: due.pop() if due else None, lambda: 0.0, chain.farm)
    assert node.push(Bundle((), b"")) == PushResult(Answer.REFUSED, error)
    assert (chain.pushes, node.hampers_until) == (0, chain.peak() + 1)
    node.push(Bundle((), b""))
    assert chain.pushes == 1


def test_solutions_of_spends_are_hidden_for_some_blocks() -> None:
    table = sit().open()
    coin = table.ends[ANN].endpoint.channel.coin
    table.command(ANN, GoOnChain("now"))
    node = node_with(table, Action("solutions-hidden", 0, 0, blocks=2))
    assert node.coin(coin.id) == table.chain.coin(coin.id)  # it is not spent
    table.farm()
    shown = table.chain.coin(coin.id)
    assert shown is not None
    assert shown.solution is not None
    seen = node.coin(coin.id)
    assert seen is not None
    assert (seen.spent, seen.solution) == (shown.spent, None)
    table.farm()
    assert node.coin(coin.id) == table.chain.coin(coin.id)


def test_a_node_that_is_behind_shows_an_older_tip_and_what_it_had() -> None:
    table = sit().open()
    coin = table.ends[ANN].endpoint.channel.coin
    before = table.chain.peak()
    table.command(ANN, GoOnChain("now"))
    table.farm()
    (unroll,) = table.chain.children(coin.id)
    node = node_with(table, Action("node-behind", 0, 0, blocks=1))
    assert (node.peak(), table.chain.peak()) == (before, before + 1)
    seen = node.coin(coin.id)
    assert seen is not None
    assert (seen.spent, seen.solution) == (None, None)
    assert node.coin(unroll.coin.id) is None
    assert node.children(coin.id) == []
    # Its mempool still has the coin.
    late = Bundle((Spend(coin, b"", b""),), b"")
    assert node.push(late) == PushResult(Answer.ACCEPTED)
    table.farm()
    assert node.peak() == before + 2
    assert node.coin(coin.id) == table.chain.coin(coin.id)


def struck(*actions: Action, games: tuple[str, ...] = ("calpoker",)) -> set[str]:
    """The deadlines at which a session replaces blocks, in which nothing is broken."""
    session = run(Attack(games, "struck", actions))
    assert session.violations == ()
    lines = [line.partition(" ")[2] for line in session.log]
    names = [line.removeprefix("at ") for line in lines if line.startswith("at ")]
    return {name for line in names for name in line.split(", ")}


def undo(since: str, *numbers: int) -> tuple[Action, ...]:
    return tuple(Action("undo-deadline", 0, number, since=since) for number in numbers)


def deviates(name: str, at: int) -> Action:
    return Action("deviate", Side.RECEIVER, at, name=name)


STRUCK = (
    (Deadline.FUNDING, "calpoker", (deviates("late-mover", 6), *undo("", 0, 1))),
    (Deadline.DEPTH, "calpoker", (*undo("", 0, 1),)),
    (Deadline.RESPONSE, "calpoker", (deviates("silent", 8), *undo("", 0, 1, 2, 4, 8))),
    (Deadline.REVEAL, "spacepoker", (deviates("late-mover-2", 8), *undo("", 2, 4))),
    (Deadline.GAME, "spacepoker", (deviates("late-mover-2", 8), *undo("", 2, 4))),
    (Deadline.UNROLL, "spacepoker", (LEAVES, *undo("chain", 0, 1, 3))),
    (Deadline.FAILED_OPENING, "spacepoker", (LEAVES, *undo("unroll", 0, 1, 3))),
    (Deadline.END, "spacepoker", (LEAVES, *undo("unroll", 0, 1, 3))),
)


@pytest.mark.parametrize(("deadline", "game", "actions"), one_row_in(2, STRUCK))
def test_a_block_is_replaced_at_a_deadline_and_nothing_is_broken(
    deadline: Deadline, game: str, actions: tuple[Action, ...]
) -> None:
    assert deadline.value in struck(*actions, games=(game,))
