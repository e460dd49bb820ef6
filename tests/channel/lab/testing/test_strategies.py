"""The strategies for authors: each example is what its name says, and they shrink."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.referee.referee_runs import SlashResult
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.lab.testing import strategies
from channelsim.channel.lab.testing.judged_moves import JudgedMove, judged_move
from channelsim.channel.lab.testing.strategies import (
    DrawnHand,
    evidence,
    hands,
    illegal_moves,
    legal_moves,
)
from channelsim.clsp.run import ProgramSlash, ProgramValid, Raised
from channelsim.clsp.values import (
    NIL,
    Value,
    atom_to_int,
    deserialize,
    from_list,
    int_to_atom,
    is_minimal,
    serialize,
)
from channelsim.games import registry
from channelsim.games.chance import Chance
from channelsim.games.contract import Opaque, Terms
from channelsim.games.dealing import deal
from channelsim.games.judge import own_move
from channelsim.games.spacepoker.states import BeginRound
from channelsim.games.vectors import Case, check
from channelsim.games.vectors import read as read_cases
from tests.channel.lab.broken import target_file
from tests.menu import DECKS, each_game, each_program

BUSY = [HealthCheck.too_slow]
"""How long it takes to draw says something about the machine, too."""

SEVERAL = settings(
    max_examples=40, deadline=None, derandomize=True, database=None, suppress_health_check=BUSY
)


@SEVERAL
@given(strategies.integers(-300, 300), strategies.non_minimal_integers(-300, 300))
def test_numbers_in_the_fewest_bytes_and_in_more(short: bytes, long: bytes) -> None:
    assert is_minimal(short)
    assert not is_minimal(long)
    for atom in (short, long):
        assert -300 <= atom_to_int(atom) <= 300


@SEVERAL
@given(strategies.lists(strategies.pairs(strategies.atoms(3))), strategies.values())
def test_lists_pairs_and_anything(items: Value, anything: Value) -> None:
    for pair in from_list(items):
        left, right = pair
        assert isinstance(left, bytes)
        assert isinstance(right, bytes)
    assert deserialize(serialize(anything)) == anything


def test_values_of_every_kind_are_drawn_and_shrink_to_the_smallest() -> None:
    quick = settings(SEVERAL, max_examples=2000)
    wanted = {
        (NIL, NIL): lambda value: isinstance(value, tuple),
        (NIL, b"\x00"): lambda value: (
            isinstance(value, tuple)
            and value[1] not in (NIL, (NIL, NIL))
            and isinstance(value[1], bytes)
        ),
        b"\x00": lambda value: isinstance(value, bytes) and not is_minimal(value),
    }
    for smallest, is_so in wanted.items():
        assert find(strategies.values(), is_so, settings=quick) == smallest


@each_program
def test_a_drawn_state_is_read_back(game: str) -> None:
    target = load(game)
    validators = target.game.validators

    @settings(SEVERAL, max_examples=10 * len(validators))
    @given(st.data(), st.sampled_from(sorted(validators)))
    def read(data: st.DataObject, name: str) -> None:
        state = data.draw(strategies.states(target, name))
        assert validators[name].read_state(state.value(), target.hashes) == state

    read()


def test_states_have_the_bounds_of_their_forms() -> None:
    target = load("spacepoker")
    quick = settings(SEVERAL, max_examples=300)
    drawn = strategies.states(target, "begin_round")
    assert find(drawn, lambda state: True, settings=quick) == BeginRound(
        1, 1, bytes(32), bytes(32), 1, target.hashes["mid_round"]
    )
    assert find(drawn, lambda state: getattr(state, "street", 0) == 4, settings=quick)


def test_an_opaque_form_is_drawn_from_its_examples() -> None:
    hand_written = Opaque(bytes, lambda value, name: value, "a word")
    with pytest.raises(UsageError, match="no examples to draw from: a word"):
        strategies.of_form(hand_written, {})
    drawn = strategies.of_form(replace(hand_written, examples=(b"a", b"b")), {})
    assert find(drawn, lambda word: word > b"a") == b"b"


@each_game
def test_a_hand_is_legal_from_its_first_move_to_its_end(game: str) -> None:
    target = load(game)
    ended = set()

    @SEVERAL
    @given(hands(target))
    def played(hand: DrawnHand) -> None:
        terms, _ = deal(target.game, _terms(target, hand), Chance(b""))
        assert hand[0].before.validator == target.game.initial(terms).validator
        for turn, then in zip(hand, [*hand[1:], None], strict=True):
            step = own_move(target.game, target.hashes, turn.before, turn.amount, turn.play)
            assert (step.validator if step else None) == (
                then.before.validator if then else step and step.validator
            )
            if then is None:
                ended.add(step is None)

    played()
    assert ended == {True, False}  # some to the last move, some settled before


def _terms(target: Target, hand: DrawnHand) -> Terms:
    return target.game.terms(target.game.default_parameters(1, hand[0].amount // 2))


@pytest.mark.parametrize(
    ("game", "validator"),
    [
        pytest.param(name, one, marks=pytest.mark.long if number % 3 or name in DECKS else ())
        for name in registry.names()
        for number, one in enumerate(load(name).programs)
    ],
)
def test_legal_and_illegal_moves_are_what_they_say(game: str, validator: str) -> None:
    target = load(game)

    @settings(SEVERAL, max_examples=20)
    @given(legal_moves(target, validator), strategies.values())
    def safe(move: JudgedMove, proof: Value) -> None:
        assert (move.validator, move.legal, move.rule) == (validator, True, "")
        assert move.passes()
        assert not move.slashed()
        assert move.slash(proof) is not SlashResult.PAYS
        assert any(isinstance(move.run(held), ProgramValid) for held in move.evidence())

    @settings(SEVERAL, max_examples=20)
    @given(illegal_moves(target, validator))
    def punished(move: JudgedMove) -> None:
        assert (move.validator, move.legal) == (validator, False)
        assert move.rule in target.game.rules
        assert move.rule in repr(move)
        assert move.passes()
        assert move.slashed()
        assert any(isinstance(move.run(held), ProgramSlash) for held in move.evidence())

    safe()
    punished()


@pytest.mark.long
def test_illegal_moves_of_every_rule_that_a_mover_can_break() -> None:
    """Not each in a few examples, but more than those that a changed length breaks."""
    target = load("calpoker")
    broken = set()

    @settings(SEVERAL, max_examples=400)
    @given(illegal_moves(target))
    def note(move: JudgedMove) -> None:
        broken.add(move.rule)

    note()
    assert {rule for rule in broken if rule.endswith("-1")} == {f"CP-{v}-1" for v in "ABCDE"}
    assert len(broken) >= 9


END = "spacepoker/end.clsp"
OPENED = "(= (sha256 (substr MOVE 0 16)) mover_image)"
MISTAKES = {
    "the opponent's secret as one's own": (
        *(END, OPENED),
        f"(if (= (substr MOVE 0 16) waiter_preimage) (x) {OPENED})",
    ),
    "five bytes of evidence slash": (END, "(x)", "(if (= (strlen evidence) 5) () (x))"),
}


@pytest.mark.parametrize(
    "mistake",
    [pytest.param(one, marks=pytest.mark.long) if at else one for at, one in enumerate(MISTAKES)],
)
def test_a_mistake_that_needs_another_secret_or_odd_evidence_is_drawn(
    mistake: str, tmp_path: Path
) -> None:
    target = load(str(target_file(tmp_path, "spacepoker", MISTAKES[mistake])))
    few = settings(SEVERAL, max_examples=500, phases=[Phase.generate])

    @few
    @given(illegal_moves(target, "end"))
    def punished(move: JudgedMove) -> None:
        assert move.slashed()

    @few
    @given(legal_moves(target, "end"), st.data())
    def safe(move: JudgedMove, data: st.DataObject) -> None:
        assert move.slash(data.draw(evidence(move))) is not SlashResult.PAYS

    with pytest.raises(AssertionError):
        (safe if "evidence" in mistake else punished)()


def test_an_illegal_move_shrinks_to_the_smallest_stakes() -> None:
    target = load("calpoker")
    few = settings(SEVERAL, max_examples=300)
    move = find(illegal_moves(target, "d"), lambda move: len(move.move) == 1, settings=few)
    assert move.site.amount == 2
    assert move.rule == "CP-D-2"


def test_a_drawn_move_is_a_case_and_runs_as_one() -> None:
    target = load("calpoker")
    few = settings(SEVERAL, max_examples=5, phases=[Phase.generate])
    move = find(illegal_moves(target, "d"), lambda move: True, settings=few)
    import msgspec

    (case,) = read_cases([msgspec.json.encode(move.vector())])
    assert isinstance(case, Case)
    assert case.expect == "slash"
    assert check(case) == []
    wrong = judged_move(target, move.site, move.move, move.site.amount + 1)
    assert wrong is None  # a share that no referee takes makes no coin
    assert judged_move(target, move.site, bytes(100), move.share) is None
    assert isinstance(move.run((NIL, NIL)), ProgramSlash | Raised)


def test_a_target_without_rules_has_no_moves_to_draw() -> None:
    one = load("spacepoker")
    nobody = Target("nobody's", one.programs, one.referee)
    with pytest.raises(UsageError, match="names no rules"):
        find(legal_moves(nobody), lambda move: True)


def test_numbers_may_be_bounded_on_one_side() -> None:
    assert find(strategies.integers(least=7), lambda atom: True) == int_to_atom(7)
    assert find(st.just(1), lambda one: True) == 1
