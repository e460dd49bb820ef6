"""Faults around a peer: in its runner, its player and its commands."""

from __future__ import annotations

import asyncio
from dataclasses import replace as changed
from typing import Any

from msgspec.structs import replace

from channelsim.channel.attack import process
from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.full_node import NodeError
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.interface import (
    AcceptGames,
    CancelGames,
    Close,
    Proposed,
    Watch,
)
from channelsim.channel.peer.peer_state import Phase
from channelsim.channel.session import peer_runner
from channelsim.channel.session.agreed_hands import HandCounter
from channelsim.channel.session.ending_player import EndingPlayer
from channelsim.channel.session.peer_driver import PeerDriver
from channelsim.channel.session.peer_runner import PeerRunner
from channelsim.channel.session.questions import Questions
from channelsim.channel.session.side_player import SidePlayer
from channelsim.channel.session.threads import in_thread
from channelsim.channel.watch import pusher
from scripts.tools.attack_faults.planting import (
    Fault,
    Planting,
    Reach,
    all_of,
    changing,
    compared,
    function,
    marking,
    value,
    where_it_fails,
)

# --- the runner ----------------------------------------------------------------------------------


async def _connected_once(right: Any, runner: Any, link: Any) -> None:
    if not hasattr(runner, "connected_before"):
        runner.connected_before = True
        await right(runner, link)
    runner._link = link  # noqa: SLF001


def _taken_for_accepted(right: Any, chain: Any, push: Any) -> Any:
    try:
        return right(chain, push)
    except NodeError:
        return PushResult(Answer.ACCEPTED), ()


def _looked_already(right: Any, runner: Any, *given: Any, **more: Any) -> None:
    right(runner, *given, **more)
    runner._looked.set()  # noqa: SLF001


async def _until_first_error(right: Any, runner: Any) -> None:
    try:
        await right(runner)
    except NodeError:
        await asyncio.get_running_loop().create_future()


async def _node_must_answer(right: Any, runner: Any) -> int:
    return int(await in_thread(runner._threads, runner._chain.peak))  # noqa: SLF001


def _where_a_start_waits(planting: Planting) -> Planting:
    """A fault that makes a difference only where a node cannot be asked at the start."""

    def reports(reach: Reach, right: Any, runner: Any, reason: str) -> None:
        if reason and not runner._started.is_set():  # noqa: SLF001
            reach.mark()
        right(runner, reason)

    probing = marking(PeerRunner, "_report_trouble", reports, reports)
    return lambda stack, reach: (probing if reach.probes else planting)(stack, reach)


def _only_with_connection(right: Any, runner: Any, message: bytes) -> None:
    if runner._link is None:  # noqa: SLF001
        raise RuntimeError("no connection")
    right(runner, message)


def _for_the_first_coin(reach: Reach, right: Any, chain: Any, bundle: Any, result: Any) -> Any:
    is_in_doubt = result.answer in (Answer.PENDING_CONFLICT, Answer.KNOWN)
    if is_in_doubt and len(bundle.spends) > 1:
        reach.mark()
        if not reach.probes:
            bundle = Bundle(bundle.spends[:1], bundle.signature)
    return right(chain, bundle, result)


def _must_be_possible(reach: Reach, right: Any, runner: Any, command: Any) -> bool:
    runner.command(command)
    return True


def _refused(reach: Reach, right: Any, runner: Any, command: Any) -> bool:
    done: bool = right(runner, command)
    if not done:
        reach.mark()
    return done


def _never_forgotten(right: Any, runner: Any, watched: Any) -> Any:
    block, rate = right(runner, watched)
    known = runner.__dict__.setdefault("known", {})
    seen = {coin.coin: coin for coin in block.coins}
    gone = tuple(coin for name, coin in known.items() if name not in seen)
    known.update(seen)
    return replace(block, coins=(*block.coins, *gone)), rate


def _every_second(right: Any, runner: Any, watched: Any) -> Any:
    block, rate = right(runner, watched)
    before = runner._block  # noqa: SLF001
    return (before, None) if block.peak % 2 and before is not None else (block, rate)


def _coins_one_behind(right: Any, runner: Any, watched: Any) -> Any:
    block, rate = right(runner, watched)
    runner.seen_before, coins = block.coins, getattr(runner, "seen_before", block.coins)
    return replace(block, coins=coins), rate


def _asked_once(right: Any, questions: Any, question: Any) -> None:
    asked = questions.__dict__.setdefault("asked", set())
    key = question.group.id if isinstance(question, Proposed) else question.game_id
    if key not in asked:
        asked.add(key)
        right(questions, question)


def _until(over: Any) -> Any:
    return lambda right, runner, *given: right(runner, over)


def _shutdown_signed(peer: Any) -> bool:
    return bool(peer.is_over or peer.phase is Phase.COMPLETED)


def _probed_push(reach: Reach, right: Any, runner: Any, push: Any) -> None:
    if runner._pushes.keys() - {push.bundle}:  # noqa: SLF001
        reach.mark()
    right(runner, push)


def _one_push(reach: Reach, right: Any, runner: Any, push: Any) -> None:
    reach.mark()
    runner._pushes.clear()  # noqa: SLF001
    right(runner, push)


RUNNER = (
    Fault(
        "pending-of-the-first-coin",
        "runner",
        "only bundles that spend the first coin of a push are in its way",
        all_of(
            *(
                marking(owner, "pending_with", _for_the_first_coin, _for_the_first_coin)
                for owner in (peer_runner, pusher)
            )
        ),
    ),
    Fault(
        "reports-one-connection",
        "runner",
        "a second connection is not reported to the peer",
        function(PeerRunner, "connected", _connected_once),
    ),
    Fault(
        "takes-silence-for-yes",
        "runner",
        "a push without an answer is taken for an accepted one",
        where_it_fails(
            peer_runner, "_offer", function(peer_runner, "_offer", _taken_for_accepted), NodeError
        ),
    ),
    Fault(
        "tries-a-push-once",
        "runner",
        "a push without an answer is not tried again before the next block",
        where_it_fails(peer_runner, "_offer", value(peer_runner, "MOST_TRIES", 1), NodeError),
    ),
    Fault(
        "holds-one-push",
        "runner",
        "a new push drops those that wait",
        marking(PeerRunner, "push", _one_push, _probed_push),
    ),
    Fault(
        "acts-before-it-looks",
        "runner",
        "a player is asked, and the other side heard, before the first look at the chain",
        function(PeerRunner, "__init__", _looked_already),
    ),
    Fault(
        "looks-no-more",
        "runner",
        "after an error of the node nobody looks at the chain again",
        where_it_fails(
            PeerRunner,
            "_report_tip",
            function(PeerRunner, "_report_tip", _until_first_error),
            NodeError,
        ),
    ),
    Fault(
        "gives-up-at-the-start",
        "runner",
        "a node that cannot be asked at the start ends the process",
        _where_a_start_waits(function(PeerRunner, "_peak", _node_must_answer)),
    ),
    Fault(
        "sees-no-reorganisation",
        "runner",
        "a coin that a reorganisation removed is still reported",
        compared(PeerRunner, "_look", _never_forgotten, once=True),
    ),
    Fault(
        "misses-every-second-block",
        "runner",
        "a peer hears of the blocks with an even height only",
        compared(PeerRunner, "_look", _every_second, once=True),
    ),
    Fault(
        "coins-one-look-behind",
        "runner",
        "the coins of a block are those of the look before it",
        compared(PeerRunner, "_look", _coins_one_behind, once=True),
    ),
    Fault(
        "fails-without-connection",
        "runner",
        "a message without a connection ends the process",
        function(PeerRunner, "send", _only_with_connection),
    ),
    Fault(
        "fails-at-a-late-command",
        "runner",
        "a command that comes too late ends the process",
        marking(PeerRunner, "_carried_out", _must_be_possible, _refused),
    ),
    Fault(
        "asks-the-same-command-again",
        "runner",
        "a command that was refused is taken for done, and its player asked for the next at once",
        changing(PeerRunner, "_carried_out", lambda done: True),
    ),
    Fault(
        "asks-each-question-once",
        "runner",
        "a question is asked once only, also in a later position of its game",
        function(Questions, "ask", _asked_once),
    ),
    Fault(
        "watches-first-coins",
        "runner",
        "coins are watched only if the peer has named fewer than three before",
        function(
            PeerDriver,
            "carry_out",
            lambda right, driver, effects: right(
                driver,
                [
                    effect
                    for effect in effects
                    if not isinstance(effect, Watch) or len(driver.peer.watched) < 3
                ],
            ),
        ),
    ),
    Fault(
        "ends-before-the-shutdown",
        "runner",
        "a process ends when the shutdown is signed, before it is in the chain",
        function(PeerRunner, "run", _until(_shutdown_signed)),
    ),
    Fault(
        "never-ends",
        "runner",
        "a process does not end with its channel",
        function(PeerRunner, "run", _until(lambda peer: False)),
    ),
    Fault(
        "goes-on-after-a-failure",
        "runner",
        "a peer whose run has failed is given more events",
        where_it_fails(
            PeerRunner, "_go_on", function(PeerRunner, "_go_on", lambda right, runner: None)
        ),
    ),
)

# --- commands and the player ---------------------------------------------------------------------


def _no_close(right: Any, player: Any) -> Any:
    command = right(player)
    return None if isinstance(command, Close) else command


def _refusing(right: Any, player: Any, question: Any) -> Any:
    answer = right(player, question)
    if isinstance(answer, AcceptGames):
        return CancelGames(answer.group_id, "not now")
    return answer


def _late_proposal(right: Any, player: Any, question: Any) -> Any:
    return None if isinstance(question, Proposed) else right(player, question)


def _hands_off(by: int) -> Any:
    return lambda begun: changed(begun, hands=max(0, begun.hands + by))


def _asking_again(right: Any, player: Any) -> Any:
    if player.reason is not None:
        return right(player)
    return Close() if player.peer.phase is Phase.PLAYING else None


def _raising(right: Any, player: Any) -> Any:
    raise UsageError("nothing is to be closed here")


async def _unlinked_shutdown(
    reach: Reach, right: Any, runner: Any, keep_linked: Any, **more: Any
) -> None:
    if runner.peer.phase is Phase.CLOSING:
        reach.mark()
        await runner.run(more["over"])
    else:
        await right(runner, keep_linked, **more)


def _shutdown_with_link(reach: Reach, right: Any, runner: Any, *given: Any, **more: Any) -> Any:
    if runner.peer.phase is Phase.CLOSING:
        reach.mark()
    return right(runner, *given, **more)


COMMANDS = (
    Fault(
        "never-closes",
        "commands",
        "the player does not close after the last hand",
        function(SidePlayer, "next_command", _no_close),
    ),
    Fault(
        "refuses-all-games",
        "commands",
        "the player refuses the hands that it agreed on",
        function(SidePlayer, "answer", _refusing),
    ),
    Fault(
        "answers-no-proposal",
        "commands",
        "the player does not answer proposals",
        function(SidePlayer, "answer", _late_proposal),
    ),
    Fault(
        "counts-a-hand-less",
        "commands",
        "the player counts one hand less than began",
        changing(HandCounter, "begun", _hands_off(-1)),
    ),
    Fault(
        "counts-a-hand-more",
        "commands",
        "the player counts one hand more than began",
        changing(HandCounter, "begun", _hands_off(1)),
    ),
    Fault(
        "closes-while-it-waits",
        "commands",
        "the player is asked for the end again while it waits for one",
        function(EndingPlayer, "next_command", _asking_again),
    ),
    Fault(
        "recovers-nothing",
        "commands",
        "the command that recovers the money wants nothing",
        function(EndingPlayer, "next_command", lambda right, player: None),
    ),
    Fault(
        "ends-with-an-error",
        "commands",
        "the command that ends a channel ends with an error",
        function(EndingPlayer, "next_command", _raising),
    ),
    Fault(
        "plays-on-while-it-ends",
        "commands",
        "the command that ends a channel decides nothing in its games",
        function(EndingPlayer, "answer", lambda right, player, question: None),
    ),
    Fault(
        "closes-alone",
        "commands",
        "a process ends without the connection that its shutdown needs",
        marking(process, "run_with_link", _unlinked_shutdown, _shutdown_with_link),
    ),
)
