"""The stored corpus of the poker programs: verdicts agree, and every place is reached or explained.

All poker games share their programs, so that only together they reach all of them.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from channelsim.channel.lab.coverage.corpus import case_entry
from channelsim.channel.lab.coverage.program_coverage import ProgramCoverage, corpus_coverage
from channelsim.channel.lab.target.target import Target, of_game
from channelsim.games import registry
from channelsim.games.vectors import check, read
from tests.poker_corpus import FOLDER

LENGTH = "the length of the whole move is checked before its parts are taken"
NO_OPEN_CARDS = "nobody owes an open card at this move; the other programs use it for them"
NO_FORCED_BET = "a bet that no registered game forces on this player"
NOT_STORED = "no stored case has such a hand or such a draw"

_LENGTHS = {"opens": (1, LENGTH), "holds": (1, LENGTH)}

_NO_OPEN_CARDS = {
    **dict.fromkeys(("holds", "holds_at", "pending_size", "with_card"), (1, NO_OPEN_CARDS)),
    "opens": (1, LENGTH),
    "taken": (1, NO_OPEN_CARDS),
    "taken_one": (2, NO_OPEN_CARDS),
}

REASONS: dict[str, dict[str, tuple[int, str]]] = {
    "deal": {"opens": (1, LENGTH), "forced_bet": (1, NO_FORCED_BET)},
    "begin": {
        **_LENGTHS,
        **dict.fromkeys(("forced_bet", "full_raise", "is_legal_opening"), (1, NO_FORCED_BET)),
    },
    "mid": {
        "opens": (1, LENGTH),
        "kept": (1, NOT_STORED),
        "replacements": (1, NOT_STORED),
        "with_bettor": (2, NOT_STORED),
    },
    "draw": {**_NO_OPEN_CARDS, "after_round": (1, NOT_STORED)},
    "commit": _NO_OPEN_CARDS,
    "show": _LENGTHS,
    "end": {**_LENGTHS, "class_of": (1, NOT_STORED), "is_two_and_three": (1, LENGTH)},
    "rows": {
        **_LENGTHS,
        **dict.fromkeys(("card_at", "but", "ordered_one", "arranged"), (1, NOT_STORED)),
    },
    "score": {
        **_LENGTHS,
        **dict.fromkeys(("rank_of", "is_flush", "class_of", "key_of_groups"), (1, NOT_STORED)),
        **dict.fromkeys(("card_at", "but", "ordered_one", "arranged"), (1, NOT_STORED)),
        **dict.fromkeys(("royalty", "won_royalty", "row_points", "points"), (1, NOT_STORED)),
        "straight_top": (2, NOT_STORED),
        "run_key": (2, NOT_STORED),
        "compared_points": (1, NOT_STORED),
    },
}
"""By program and function: how many places are not reached, and why."""


@cache
def target_of(game: str) -> tuple[Target, dict[str, ProgramCoverage]]:
    target = of_game(registry.get(game))
    return target, corpus_coverage(target, [])


@pytest.mark.parametrize("program", sorted(REASONS))
def test_every_place_is_reached_or_explained(program: str) -> None:
    with (FOLDER / f"{program}.jsonl").open("rb") as lines:
        cases = list(read(lines))
    whole = target_of(cases[0].game)[1][program]
    for case in cases:
        assert check(case) == []
        whole.add(case_entry(target_of(case.game)[0], case))
    found = Counter(function for function, _ in whole.unreached())
    assert found == {function: count for function, (count, _) in REASONS[program].items()}


def test_every_program_has_cases() -> None:
    games = (registry.get(name) for name in registry.names())
    names = {name for game in games if game.family == "poker" for name in game.validators}
    assert names == set(REASONS) == {path.stem for path in FOLDER.glob("*.jsonl")}
