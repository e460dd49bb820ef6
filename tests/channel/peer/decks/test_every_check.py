"""Every check of a prepared deck has tests that pass it and fail it, and every cheat is tried."""

from __future__ import annotations

import re
from functools import cache

from tests.markdown import read
from tests.paths import ROOT

PAGE = ROOT / "docs" / "spec" / "deck.md"
TESTS = ROOT / "tests"

PEERS, MACHINES = "channel", "games"
"""Folders of the tests between two peers, and of those of the state machines."""

CHECKS = {
    "PD-1": ("test_unchanged_messages_make_a_deck", "test_a_message_has_points_only"),
    "PD-2": ("test_unchanged_messages_make_a_deck", "test_a_message_has_its_length"),
    "PD-3": ("test_unchanged_messages_make_a_deck", "test_a_scalar_is_in_its_range"),
    "PD-4": (
        "test_unchanged_messages_make_a_deck",
        "test_the_positions_of_an_answer_are_a_permutation",
    ),
    "PD-5": (
        "test_only_a_guess_of_the_whole_challenge_passes",
        "test_another_answer_does_not_fit_its_hash",
    ),
    "PD-6": (
        "test_unchanged_messages_make_a_deck",
        "test_a_challenge_that_was_not_committed_to_is_not_answered",
    ),
    "PD-7": ("test_an_unchanged_deck_is_finished", "test_another_proof_of_the_locks_is_refused"),
    "PD-8": (
        "test_a_channel_agrees_to_no_weak_proof_and_to_no_other_group",
        "test_message_1_repeats_the_agreed_terms",
    ),
    "PD-9": ("test_a_game_with_a_deck_is_played", "test_another_root_is_refused"),
    "PD-10": (
        "test_the_last_numbers_are_used_and_then_no_deck_is_begun",
        "test_a_new_deck_is_at_most_1000_above_the_highest",
    ),
    "PD-11": (
        "test_a_repeat_of_a_step_between_other_messages_is_answered_again",
        "test_another_message_for_an_answered_step_burns_the_deck_uncomputed",
    ),
    "PD-12": (
        "test_a_restart_has_the_decks_of_games_and_open_proposals",
        "test_a_restart_gives_up_ready_decks_and_new_ones_are_prepared",
    ),
    "PD-13": ("test_a_game_with_a_deck_is_played", "test_a_wrong_opening_costs_the_pot"),
    "PD-14": ("test_a_game_with_a_deck_is_played", "test_a_wrong_opening_costs_the_pot"),
    "PD-15": (
        "test_cards_are_opened_on_top_of_a_state_that_the_opener_can_complete",
        "test_an_opening_with_the_accept_harms_only_its_sender",
    ),
    "PD-16": (
        "test_locks_are_erased_when_the_game_is_final",
        "test_one_signature_by_a_lock_would_show_the_card",
    ),
    "PD-17": (
        "test_decks_are_prepared_while_a_hand_is_played",
        "test_a_fifth_deck_is_refused",
    ),
}
"""The tests of each check: one that it lets pass, and one that it stops."""


@cache
def names_in(folder: str) -> frozenset[str]:
    """The names of all tests below a folder."""
    sources = (TESTS / folder).rglob("test_*.py")
    return frozenset(
        name for path in sources for name in re.findall(r"^def (test_\w+)", read(path), re.M)
    )


def rows(section: str) -> list[list[str]]:
    """The cells of each row of the table in a section of the page."""
    text = read(PAGE).partition(f"## {section}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def test_every_check_is_passed_and_failed_by_a_test() -> None:
    assert [rule for rule, _ in rows("Checks")] == list(CHECKS)
    for passed, failed in CHECKS.values():
        assert passed in names_in(PEERS)
        assert failed in names_in(PEERS) | names_in(MACHINES)


def test_every_cheat_is_tried_between_two_peers() -> None:
    found = rows("Ways to cheat")
    assert len(found) > 20
    for cheat, stopped_by, names in found:
        tried = {*re.findall(r"`(test_\w+)`", names)}
        assert tried <= names_in(PEERS) | names_in(MACHINES), cheat
        assert tried & names_in(PEERS) or stopped_by.startswith("no test: "), cheat
