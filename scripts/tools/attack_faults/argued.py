"""Faults that no attacked session can notice: why, and the unit test that does.

`PLANTED=NAME python -m pytest -p scripts.tools.attack_faults.planted TEST` fails for each.
"""

from __future__ import annotations

SPACING = "tests/channel/peer/test_spacing.py"

FEE_ATTACKS = "tests/channel/peer/test_fee_attacks.py"

ANEW = "a restart counts as a new connection, with which this begins anew"
SNAPSHOT = (
    "tests/channel/store/test_durable_peer.py"
    "::test_a_snapshot_keeps_what_the_next_connection_begins_anew"
)
TIMES = "all sessions have the same times, none of them at its least"
NO_ACT = "a player is asked nothing more once its channel is over"
SAFE_SOON = "the timeouts of a session are so long that a move is safe before its last chance"
EVERY = "in the chain of sessions, every block has transactions"

ARGUED: dict[str, tuple[str, str]] = {
    "forgets-the-spacing-of-games": (EVERY, f"{SPACING}::test_a_game_has_room_for_the_spacing"),
    "forgets-the-spacing-of-deadlines": (
        EVERY,
        f"{SPACING}::test_the_receiver_leaves_the_funding_time_to_get_in",
    ),
    "funds-in-a-hurry": (
        EVERY,
        f"{SPACING}::test_sides_with_any_spacings_open_a_channel_and_play",
    ),
    "connections-without-pauses": (
        "both sides of a session connect by the link's own pauses, which are longer",
        "tests/channel/network/test_hostile.py"
        "::test_connections_in_a_loop_begin_after_growing_pauses",
    ),
    "holds-one-push": (
        "a player plays one hand at a time, and pushes what is due again with every block",
        "tests/channel/session/test_peer_runner.py"
        "::test_a_push_without_an_answer_hides_neither_the_chain_nor_other_pushes",
    ),
    "goes-on-after-a-failure": (
        "a run ends in the turn of the event loop in which it fails: no event comes after that",
        "tests/channel/session/test_peer_runner.py"
        "::test_a_peer_whose_run_has_failed_is_given_nothing",
    ),
    "writes-on-after-an-error": (
        "a run ends in the turn of the event loop in which its store fails: no event comes after",
        "tests/channel/store/test_durable_peer.py"
        "::test_a_peer_that_cannot_store_says_nothing_ever_after",
    ),
    "begins-decks-at-once": (
        "it costs the other side time only, and sessions do not measure processor time",
        "tests/channel/session/test_dealers.py::test_new_decks_of_a_side_begin_two_seconds_apart",
    ),
    "writes-what-changed-nothing": (
        "a session is too short for the files to grow beyond their bound by its blocks",
        "tests/channel/store/test_durable_peer.py"
        "::test_a_repeated_block_takes_no_room_and_long_solutions_are_stored_once",
    ),
    "takes-no-snapshots": (
        "a session is too short for its journal to grow beyond the bound",
        "tests/channel/store/test_stored_decks.py"
        "::test_locks_that_were_never_opened_leave_the_journal",
    ),
    **{
        f"snapshot-without-{field}": (ANEW, SNAPSHOT)
        for field in ("we-asked", "they-asked", "ask-later", "resuming")
    },
    **{
        f"{name}-{word}": (TIMES, f"{SPACING}::{test}")
        for name, test in (
            ("least-unroll-timeout", "test_an_unroll_timeout_has_room_for_the_spacing"),
            ("least-game-timeout", "test_a_game_has_room_for_the_spacing"),
            ("least-funding-time", "test_the_receiver_leaves_the_funding_time_to_get_in"),
        )
        for word in ("early", "late")
    },
    "reopens-while-hidden": (
        "a process ends with the block with which its channel is over, and rarely looks again",
        "tests/channel/peer/test_reading.py"
        "::test_facts_are_not_undone_while_the_node_omits_solutions",
    ),
    "drops-what-is-unsent": (
        "the wire of a session takes each message at once: nothing waits to be sent",
        "tests/channel/network/test_link.py::test_a_link_that_ends_sends_what_waits_to_be_sent",
    ),
    **{
        f"last-chance-to-reveal-{word}": (
            SAFE_SOON,
            "tests/channel/peer/test_last_chance.py"
            "::test_an_unsafe_move_is_made_with_its_last_chance",
        )
        for word in ("early", "late")
    },
    "forgets-to-tell-reveal-at-risk": (
        SAFE_SOON,
        "tests/channel/peer/test_disputes.py::test_a_reveal_that_cannot_wait_is_made_and_reported",
    ),
    **{
        f"idle-player-closes-{word}": (
            "both players of a session answer proposals, so none waits for 60 blocks",
            "tests/channel/session/test_patience.py"
            "::test_an_idle_player_closes_after_its_patience_and_not_before",
        )
        for word in ("early", "late")
    },
    "forgets-to-tell-decks-used-up": (
        "a session prepares a few decks, and not all numbers that there are",
        "tests/channel/peer/test_counters.py::test_the_last_decks_are_used_and_then_none_is_begun",
    ),
    "deaf-to-act-in-failed": (
        NO_ACT,
        "tests/channel/peer/test_opening.py::test_a_funding_that_is_not_in_by_its_deadline_fails",
    ),
    "deaf-to-act-in-closed": (
        NO_ACT,
        "tests/channel/peer/test_going_on_chain.py"
        "::test_leaving_reports_the_reason_and_the_published_state",
    ),
    "unchecked-ch-msg-1": (
        "the link takes no message that is longer than the step allows, so none reaches a peer",
        "tests/channel/protocol/test_messages.py::test_too_long_a_message_is_not_even_decoded",
    ),
    "unchecked-ch-accept-4": (
        "a side accepts only what the other one offers, and no player offers a hundred games",
        "tests/channel/peer/test_hostile.py::test_a_batch_is_refused",
    ),
    "pays-from-one-coin": (
        "a side of a session has one large coin for fees, and the maximum is far below it",
        "tests/channel/peer/test_fees.py::test_a_fee_rises_beyond_what_its_first_coin_holds",
    ),
    **{
        f"past-offers-forgotten-{word}": (
            "it takes two payments of one fee coin and two reorganisations of the largest depth",
            "tests/channel/peer/test_fees.py"
            "::test_an_earlier_offer_is_forgotten_once_its_coins_are_finally_spent",
        )
        for word in ("early", "late")
    },
    "splits-into-crumbs": (
        "a side of a session has one large coin for fees, and rarely spends most of it",
        f"{FEE_ATTACKS}::test_splits_end_once_enough_coins_are_ready",
    ),
    "slashes-one-game": (
        "a hostile side of a session makes illegal moves in one game at a time",
        "tests/channel/peer/test_moves.py::test_two_illegal_moves_are_both_slashed",
    ),
    "takes-any-late-deadline": (
        "a deadline that is too late is drawn rarely, and most are too early",
        f"{SPACING}::test_the_receiver_leaves_the_funding_time_to_get_in",
    ),
    "trouble-of-a-past-push": (
        "a push that is no longer due and had no answer is followed by others of its kind",
        "tests/channel/session/test_peer_runner.py"
        "::test_pushes_that_never_get_an_answer_are_tried_so_often_and_reported_once",
    ),
    "half-a-shutdown-is-complete": (
        "the completion is lost, and the spend, which was final, taken back: that is rarely drawn",
        "tests/channel/peer/test_going_on_chain.py"
        "::test_half_of_a_shutdown_is_half_again_once_the_other_sides_spend_is_taken_back",
    ),
    "watcher-needs-solutions": (
        "a node of a session rarely hides solutions while only the watcher looks",
        "tests/channel/watch/test_watch.py"
        "::test_a_node_that_hides_the_spend_of_the_channel_coin_stops_nothing",
    ),
    **dict.fromkeys(
        ("children-hide-solutions", "children-of-the-future"),
        (
            "a node of a session hides the solutions of all coins or of none",
            "tests/channel/session/test_looks.py"
            "::test_children_are_as_of_the_tip_and_do_not_replace_what_is_known",
        ),
    ),
    "answers-without-bound": (
        "a hostile side pins a spend anew a few times in a block, since it pays for each pin",
        "tests/channel/peer/test_fees.py::test_what_a_full_mempool_refuses_is_bid_higher_at_once",
    ),
    "watcher-is-never-late": (
        "no watcher of a session is away for two thirds of a timeout beside a hostile side",
        "tests/channel/watch/test_watch.py"
        "::test_a_node_that_hides_the_spend_of_the_channel_coin_stops_nothing",
    ),
    "watcher-looks-for-coins-once": (
        "the watcher of a session has one coin, whose change matters only after a reorganisation",
        "tests/channel/watch/test_pusher.py::test_coins_that_come_later_are_used",
    ),
    "watcher-waits-for-its-node": (
        "a node of a session rarely fails between two calls of one look, while a spend is due",
        "tests/channel/watch/test_pusher.py"
        "::test_a_node_that_does_not_answer_about_fees_stops_no_spend",
    ),
    "watcher-drives-out-its-owner": (
        "the owner of a session pushes nothing that its watcher's files lack",
        "tests/channel/watch/test_pusher_and_others.py"
        "::test_a_fee_never_drives_out_a_newer_state_of_the_owner_but_pays_for_it",
    ),
}
"""By name: the reason, and the test as pytest names it."""
