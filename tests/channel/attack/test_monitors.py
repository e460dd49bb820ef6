"""Monitors of a side's process: each sees a mistake that is planted for it, and nothing else."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
from msgspec.structs import replace

from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.campaign import broken_by, default_games
from channelsim.channel.attack.failing_files import failing_log, lose_power
from channelsim.channel.attack.monitors import explains
from channelsim.channel.attack.world import run
from channelsim.channel.crypto.keyed_hash import fast_signatures
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.interface import GoOnChain
from channelsim.channel.peer.machine import Phase
from channelsim.channel.session.setup import NAMES
from channelsim.channel.session.side_player import SidePlayer
from channelsim.channel.store import durable_peer
from channelsim.channel.watch.watch_data import NEWEST, STATES
from channelsim.games import registry
from scripts.tools.attack_faults.planting import Fault, Reach, changing, function
from scripts.tools.attack_faults.table import faults
from tests.sampling import one_row_in

TABLE = {fault.name: fault for fault in faults()}

LARGE = Fault(
    "large-overview",
    "store",
    "the overview has a megabyte",
    changing(durable_peer, "encode_overview", lambda overview: bytes(1 << 20)),
)


def broken_with(fault: Fault, *actions: Action) -> dict[str, str]:
    with ExitStack() as stack:
        fault.plant(stack, Reach())
        return broken_by(Attack(("spacepoker",), "monitors", actions, hands=1, snapshots=3))


CRASH = Action("crash", 0, 14, 2)

SHORT_TIMEOUTS = Action("deviate", 1, 3, name="short-timeouts")

AWAY = Action("reset", 0, 9, pause=30)

INTERRUPTED = (
    *(Action("think", 0, at, pause=120) for at in (14, 15, 16)),
    Action("propose", 1, 3, since="acted"),
)

OVERCLAIMS = Action("deviate", 0, 0, name="overclaims-on-chain")

LOST_SHUTDOWN = Action("reset", 1, 0, pause=10, since="shutdown")

RECOVERS = Action("run-recover", 1, 0, pause=2, since="shutdown")

LATE = (Action("delay", 0, 6, pause=9), Action("stop", 0, 13, pause=2))

NEVER_ANSWERED = Action("push-unanswered", 1, 0, 1, since="unroll", blocks=8)

UNANSWERED = Action("push-unanswered", 0, 0, since="chain")

DEALT = next(name for name in default_games() if registry.get(name).deck_positions)


@pytest.mark.parametrize(
    ("fault", "monitor", "actions"),
    one_row_in(
        8,
        [
            ("forgets-to-tell-moved", "news", ()),
            ("forgets-to-tell-channel-closed", "news", ()),
            ("forgets-to-tell-game-settled", "news", ()),
            ("forgets-to-watch", "news", ()),
            ("watch-data-one-behind", "watch-data", ()),
            ("watch-data-of-the-start", "watch-data", ()),
            ("takes-funding-for-deep-early", "times", ()),
            ("takes-funding-for-deep-late", "times", ()),
            ("shutdown-final-early", "times", ()),
            ("shutdown-final-late", "times", ()),
            ("answers-due-late", "times", (Action("drop", 0, 2),)),
            ("answers-due-early", "times", (Action("drop", 0, 2),)),
            ("unroll-times-out-early", "times", (Action("go-on-chain", 1, 18),)),
            ("unroll-times-out-late", "times", (Action("go-on-chain", 1, 18),)),
            ("game-times-out-early", "times", (Action("go-on-chain", 0, 20),)),
            ("seals-nothing", "sealed", ()),
            ("waits-for-the-next-block", "pace", ()),
            ("drops-its-queue", "potato", ()),
            ("reveals-nothing-early", "potato", ()),
            ("forgets-to-send-shutdown-done", "potato", ()),
            ("deaf-to-advisory-in-playing", "asks", ()),
            ("deaf-to-connected-in-closing", "asks", (Action("reset", 0, 0, since="shutdown"),)),
            ("publishes-an-old-state", "spends", (Action("go-on-chain", 1, 18),)),
            ("publishes-with-the-next-block", "spends", (Action("corrupt", 0, 9),)),
            ("snapshot-without-watched", "restart", (CRASH,)),
            ("snapshot-without-closing", "restart", ()),
            ("stores-no-advisory", "restart", ()),
            ("shows-no-early-reveal", "potato", ()),
            ("swaps-paid-coins", "news", (Action("go-on-chain", 0, 20),)),
            ("ends-at-the-funding-deadline", "times", (Action("drop", 0, 2, since="link"),)),
            ("connects-without-a-pause", "link", (AWAY,)),
            ("pauses-never-grow", "link", (AWAY,)),
            ("says-no-loss", "link", (AWAY,)),
            ("long-pauses-stay", "link", (replace(AWAY, at=1), replace(AWAY, pause=0))),
            ("recover-waits-for-a-shutdown", "asks", (LOST_SHUTDOWN, RECOVERS)),
            ("close-waits-for-its-games", "asks", (*INTERRUPTED[:3], Action("run-close", 1, 16))),
            ("one-push-keeps-the-others", "node", (Action("go-on-chain", 0, 18), NEVER_ANSWERED)),
            (
                "times-from-the-start-of-the-process",
                "node",
                (Action("node-slow", 0, 0, pause=100),),
            ),
            ("unsent-without-bound", "link", (Action("silence", 0, 8),)),
            ("hears-older-connections", "link", LATE),
            ("uses-older-connections", "link", LATE),
            ("takes-any-proposal-for-fit", "news", (SHORT_TIMEOUTS,)),
            ("takes-short-games", "news", (SHORT_TIMEOUTS,)),
            ("waits-with-safe-moves", "spends", (Action("go-on-chain", 0, 20),)),
            ("forgets-that-it-asked", "potato", ()),
            ("asks-for-nothing", "potato", ()),
            ("uses-ids-again", "potato", ()),
            ("repeats-an-older-message", "potato", ()),
            ("forgets-the-last-batch", "potato", ()),
            ("awaits-nothing-in-the-opening", "times", ()),
            ("asks-where-there-is-no-choice", "news", (Action("go-on-chain", 0, 20),)),
            ("hides-the-state-that-counts", "news", (Action("go-on-chain", 0, 20),)),
            ("acts-before-it-looks", "times", (CRASH,)),
            ("failed-opening-ends-late", "times", (Action("drop", 0, 2, since="link"),)),
            ("never-asks-back", "potato", INTERRUPTED),
            ("has-no-evidence-on-chain", "promise", (OVERCLAIMS,)),
        ],
    ),
)
def test_a_monitor_sees_its_mistake(fault: str, monitor: str, actions: tuple[Action, ...]) -> None:
    assert monitor in broken_with(TABLE[fault], *actions)


def test_a_message_that_is_too_long_by_now_is_noticed() -> None:
    actions = (Action("reset", 1, 0, since="acted"), Action("say", 0, 10, 2))
    with ExitStack() as stack:
        stack.enter_context(fast_signatures())
        TABLE["limit-of-the-beginning"].plant(stack, Reach())
        assert "link" in broken_by(Attack(("spacepoker",), "l1", actions))


def test_a_task_that_is_kept_once_it_has_finished_is_noticed() -> None:
    with ExitStack() as stack:
        stack.enter_context(fast_signatures())
        TABLE["keeps-finished-tasks"].plant(stack, Reach())
        assert {*broken_by(Attack((DEALT,), "kept"))} == {"work"}


def broken_together(names: tuple[str, ...], script: Attack) -> set[str]:
    with ExitStack() as stack:
        stack.enter_context(fast_signatures())
        for name in names:
            TABLE[name].plant(stack, Reach())
        return {*broken_by(script)}


ON_CHAIN = Action("go-on-chain", 0, 20)

DOWN_LONG = tuple(Action("stop", side, 1, since="unroll", blocks=40) for side in (0, 1))

DOWN = tuple(Action("stop", side, 1, since="unroll", blocks=24) for side in (0, 1))


@pytest.mark.parametrize(
    ("names", "monitors", "actions"),
    one_row_in(
        4,
        [
            (
                (
                    "shows-no-overview",
                    "prints-no-end",
                    "verifies-all-states-again",
                    "looks-again-and-again",
                ),
                {"overview", "lines", "work", "node"},
                (),
            ),
            (("prints-a-mojo-less", "keeps-all-messages"), {"lines", "work"}, ()),
            (
                ("keeps-nothing-alive", "deaf-to-go-on-chain-in-playing"),
                {"link", "asks"},
                (ON_CHAIN,),
            ),
            (("waits-on-silence",), {"link"}, (Action("silence", 0, 5, 1, pause=5),)),
            (("takes-silence-for-yes",), {"node"}, (ON_CHAIN, UNANSWERED)),
            (("watcher-only-looks",), {"watcher"}, (ON_CHAIN, *DOWN)),
            (
                ("takes-the-newest-for-stale",),
                {"watcher"},
                (Action("go-on-chain", 1, 18), *DOWN),
            ),
        ],
    ),
)
def test_a_monitor_of_what_is_around_a_peer_sees_its_mistake_and_nothing_else(
    names: tuple[str, ...], monitors: set[str], actions: tuple[Action, ...]
) -> None:
    script = Attack(("spacepoker",), "aim", actions, hands=1, snapshots=3, watched=True)
    assert monitors <= broken_together(names, script)
    assert broken_together((), script) == set()


AWAY_FROM_ITS_NODE = (Action("node-away", 0, 20, pause=60), Action("think", 0, 8, pause=170))


@pytest.mark.parametrize(
    ("names", "monitors", "script"),
    one_row_in(
        2,
        [
            (
                (
                    "tells-the-other-asker",
                    "prints-an-old-height",
                    "stays-in-trouble",
                    "calls-a-connection-lost",
                    "synchronises-no-transaction",
                ),
                {"news", "lines", "node", "link", "store"},
                Attack(("calpoker",), "b1", AWAY_FROM_ITS_NODE, hands=2, snapshots=3),
            ),
            (
                (
                    "excuses-all-hands",
                    "shows-later-dues",
                    "moves-before-a-later-height",
                    "seals-for-any-place",
                ),
                {"hands", "overview", "spends", "store"},
                Attack(("spacepoker",), "aim", (ON_CHAIN, Action("stop", 0, 30)), hands=2),
            ),
            (
                ("accepts-any-hand",),
                {"hands"},
                Attack(
                    ("calpoker",), "aim", tuple(Action("propose", at, 14) for at in (1, 0)), hands=2
                ),
            ),
            (
                ("watcher-ends-early",),
                {"watcher"},
                Attack(("spacepoker",), "aim", (ON_CHAIN, *DOWN_LONG), hands=1, watched=True),
            ),
        ],
    ),
)
def test_a_monitor_of_what_a_user_hears_and_keeps_sees_its_mistake(
    names: tuple[str, ...], monitors: set[str], script: Attack
) -> None:
    assert broken_together(names, script) == monitors
    assert broken_together((), script) == set()


def test_a_message_that_was_held_before_a_restart_is_taken_again() -> None:
    """Its sender repeats it, so a process that starts again must not know it."""
    actions = (Action("node-away", 0, 5, pause=60), Action("crash", 1, 9, 2))
    script = Attack(("calpoker",), "early 4", actions, hands=1)
    assert broken_together((), script) == set()
    assert "restart" in broken_together(("knows-messages-that-it-dropped",), script)


def test_a_side_whose_final_close_is_undone_speaks_again() -> None:
    actions = (
        Action("deviate", 0, 0, name="undoes-shutdown"),
        Action("store-full", 1, 9, since="restart"),
    )
    script = Attack(
        *(("calpoker",), "campaign-30/1908", actions),
        hands=1,
        policies=("greedy", ""),
        snapshots=3,
    )
    session = run(script)
    assert {*session.done} == {*actions}
    assert session.violations == ()


def test_pages_keep_no_copy_of_a_row_that_was_moved() -> None:
    """A deck's secrets stayed in the free part of a page, once its game was over."""
    actions = (Action("reset", 0, 3, since="link"), Action("fill", 1, 4, 21, since="link"))
    script = Attack(
        *(("seven-stud",), "campaign-31/1333", actions),
        hands=1,
        policies=("random", "best-response"),
    )
    with fast_signatures():
        session = run(script)
    assert {*session.done} == {*actions}
    assert session.violations == ()


def test_a_spend_that_was_dropped_as_the_disk_failed_is_known() -> None:
    actions = (
        Action("go-on-chain", 1, 14),
        Action("push-forgotten", 1, 0, since="chain", blocks=1),
        Action("sync-fails", 1, 1, since="chain"),
    )
    session = run(Attack(("calpoker",), "campaign-31/1775", actions, hands=1))
    assert {*session.done} == {*actions}
    assert session.violations == ()


def test_what_was_held_after_a_shutdown_is_ignored() -> None:
    """It comes before play, and is taken once the channel coin is deep."""
    says = Action("say", 1, 2, 349)
    script = Attack(("seven-stud8",), "campaign-30/3553", (says,), hands=1, policies=("folder", ""))
    session = run(script)
    assert session.done == (says,)
    assert session.violations == ()


def test_a_shutdown_may_come_before_play_with_a_request() -> None:
    """The side gives the potato away in between."""
    says = (Action("say", 1, 3, 361), Action("say", 1, 2, 99))
    session = run(Attack(("calpoker",), "held 123", says, hands=1))
    assert {*session.done} == {*says}
    assert session.violations == ()


def test_nothing_is_due_once_the_channel_coin_is_spent() -> None:
    """The marks of a long opening stay until something else is due."""
    messages = ((1, 0, 22, "link"), *((0, at, 0, "") for at in (3, 5, 7, 8, 10, 12, 15)))
    resets = [
        Action("reset", side, at, pause=pause, since=since) for side, at, pause, since in messages
    ]
    last = Action("reset", 0, 0, since="shutdown", blocks=2)
    script = Attack(("spacepoker",), "short/9", (*resets, last), hands=1)
    assert broken_together((), script) == set()


def test_a_watcher_that_lets_a_stale_state_stand_is_seen() -> None:
    """Its side is down for as long as it takes, beside one that publishes the state."""
    publishes = Action("deviate", 0, 6, name="stale-oldest")
    down = Action("stop", 1, 0, since="unroll", blocks=13)
    script = Attack(("calpoker",), "w0", (publishes, down), hands=2, watched=True)
    assert broken_together((), script) == set()
    assert "watcher" in broken_together(("watcher-preempts-nothing",), script)


REPLACED = Action("reorganise", 0, 1, 4, since="chain")


@pytest.mark.parametrize("at", [40, 52])
def test_what_is_not_on_the_disk_is_not_said_before_it_is(at: int) -> None:
    """A synchronisation fails; the process starts again and goes on; then power is lost."""
    actions = (
        Action("sync-fails", 0, at),
        Action("power-loss", 0, 0, 1, since="restart"),
    )
    script = Attack(("spacepoker",), "disk", actions, hands=1)
    assert broken_together((), script) == set()
    assert "restart" in broken_together(("opens-without-synchronising",), script)


@pytest.mark.parametrize(
    ("name", "monitor", "actions"),
    one_row_in(
        2,
        [
            ("frames-of-any-length", "link", (Action("say", 1, 3, 17),)),
            ("sees-no-reorganisation", "node", (ON_CHAIN, REPLACED)),
            ("ignores-lower-tips", "node", (Action("node-behind", 0, 54, 2, blocks=2),)),
            ("misses-every-second-block", "node", ()),
            ("gives-up-at-the-start", "ends", (Action("node-away", 0, 1, pause=20),)),
        ],
    ),
)
def test_a_process_that_sees_or_takes_what_it_must_not_is_noticed(
    name: str, monitor: str, actions: tuple[Action, ...]
) -> None:
    script = Attack(("spacepoker",), "around", actions, hands=1)
    assert broken_together((), script) == set()
    assert monitor in broken_together((name,), script)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(
    ("adversary", "fault"),
    one_row_in(
        2,
        [
            ("false-shuffle", "believes-shuffles"),
            ("false-locks", "believes-locks"),
            ("other-challenge", f"takes-any-challenge-as-{NAMES[0]}"),
            ("other-challenge", f"takes-any-challenge-as-{NAMES[1]}"),
        ],
    ),
)
def test_a_deck_that_was_prepared_falsely_is_not_finished(
    adversary: str, fault: str, side: int
) -> None:
    script = Attack(("calpoker",), "f1", (Action("deviate", side, 0, name=adversary),), hands=1)
    assert broken_together((), script) == set()
    of_honest = not fault.startswith("takes") or fault.endswith(NAMES[1 - side])
    assert ("decks" in broken_together((fault,), script)) is of_honest


def test_an_older_store_is_not_used_beside_newer_data_of_its_watcher() -> None:
    script = Attack(("calpoker",), "copy", (Action("old-copy", 0, 25, amount=10),))
    assert broken_together((), script) == set()
    assert "store" in broken_together(("store-behind-its-watch-data",), script)


def test_what_a_node_hides_is_not_undone() -> None:
    hidden = Action("solutions-hidden", 1, 26, since="move", blocks=6)
    script = Attack(("spacepoker",), "hs/17", (replace(ON_CHAIN, side=1, at=17), hidden))
    assert broken_together((), script) == set()
    assert "news" in broken_together(("undoes-what-is-hidden",), script)


def test_secrets_of_a_deck_that_stay_after_its_proposal_are_seen() -> None:
    unfit = Action("deviate", 0, 0, name="unfit-proposer")
    script = Attack((DEALT,), "unfit", (unfit,), hands=1)
    assert broken_together((), script) == set()
    assert "decks" in broken_together(("erases-locks-late",), script)


@pytest.mark.long
def test_secrets_of_a_deck_that_stay_on_disk_are_seen() -> None:
    script = Attack((DEALT,), "around", (), hands=2, snapshots=50)
    assert "erased" in broken_together(("takes-no-erasing-snapshot",), script)
    assert broken_together((), script) == set()


LEAVES = Fault(
    "leaves",
    "commands",
    "the player leaves for the chain as soon as it plays",
    function(
        SidePlayer,
        "next_command",
        lambda right, player: GoOnChain() if player.peer.phase is Phase.PLAYING else right(player),
    ),
)


@pytest.mark.parametrize("since", ["", "chain"])
def test_what_comes_later_is_no_cause_to_leave_for_the_chain(since: str) -> None:
    """The player that wants to go on chain wants it first, or once the other one has."""
    script = Attack(("spacepoker",), "s", (Action("go-on-chain", 1, 1, since=since),), hands=1)
    with ExitStack() as stack:
        LEAVES.plant(stack, Reach())
        stack.enter_context(fast_signatures())
        session = run(script)
    assert session.done == script.actions
    assert any(one.monitor == "chain" for one in session.violations) is bool(since)


@pytest.mark.parametrize(
    ("actions", "is_excused"),
    [
        ((), False),
        ((Action("run-recover", 1, 9),), False),
        ((Action("corrupt", 0, 9),), False),
        ((Action("corrupt", 1, 9),), True),
        ((Action("reset", 1, 9, blocks=12),), False),
        ((Action("drop", 0, 9),), True),
    ],
)
def test_an_accusation_is_excused_by_what_explains_it(
    actions: tuple[Action, ...], is_excused: bool
) -> None:
    """Side 0 says that a message of side 1 was wrong; absence only makes side 1 late."""
    assert any(explains(action, 0, "CH-BATCH-5") for action in actions) is is_excused
    assert any(explains(action, 0, "CH-TIME-1") for action in actions) is bool(actions)
    assert not explains(Action("go-on-chain", 1, 9), 0, "CH-TIME-1")


RESETS = (Action("reset", 1, 13), Action("reset", 1, 14))


@pytest.mark.parametrize(
    ("game", "seed", "actions"),
    [
        ("spacepoker", "merged-1128/61", (*RESETS, Action("delay", 1, 18, pause=75))),
        (DEALT, "monitors", (Action("deviate", 1, 0, name="late-numbers"),)),
    ],
    ids=["a frame arrives after its reader has gone", "a step of a burnt deck comes again"],
)
def test_nothing_is_found_where_a_side_does_what_it_must(
    game: str, seed: str, actions: tuple[Action, ...]
) -> None:
    with fast_signatures():
        assert not run(Attack((game,), seed, actions, hands=1)).violations


def test_halves_may_sign_what_was_changed_on_its_way_to_their_sender() -> None:
    """A side whose own message C arrives with another launcher gets halves for that launcher."""
    assert explains(Action("corrupt", 0, 1), 0, "CH-OPEN-8")
    assert not explains(Action("reset", 0, 1), 0, "CH-OPEN-8")


def test_files_that_grow_too_fast_are_seen() -> None:
    assert "disk" in broken_with(LARGE)


def test_without_a_mistake_no_monitor_sees_anything() -> None:
    assert broken_by(Attack(("spacepoker",), "monitors", (CRASH,), hands=1, snapshots=3)) == {}


# --- the watcher's files -------------------------------------------------------------------------


def test_a_line_is_not_written_or_half_of_it_and_both_are_mended(tmp_path: Path) -> None:
    torn, fails = Action("watch-torn", 0, 0), Action("watch-fails", 0, 0)
    due: list[Action | None] = [None, None, torn, torn, fails]
    path = tmp_path / "lines"
    log = failing_log(lambda: due.pop(0))(path, b"header", 1000)
    log.append([b"first"])
    for size in (16, 16, 16):
        with pytest.raises(UsageError, match="cannot be written"):
            log.append([b"third"])
        assert path.stat().st_size == size
    due.append(None)
    log.append([b"second"])
    assert path.read_bytes() == b"header\nfirst\nsecond\n"
    log.close()


def test_a_loss_of_power_takes_the_end_of_the_states_and_perhaps_the_newest(tmp_path: Path) -> None:
    lose_power(tmp_path, 3)
    (tmp_path / STATES).write_bytes(bytes(1000))
    (tmp_path / NEWEST).write_bytes(b"newest")
    lose_power(tmp_path, 2)
    assert (tmp_path / STATES).stat().st_size == 1000 - 2 * 97
    assert (tmp_path / NEWEST).read_bytes() == b"newest"
    lose_power(tmp_path, 9)
    assert (tmp_path / STATES).stat().st_size == 0
    assert (tmp_path / NEWEST).read_bytes() == b""
