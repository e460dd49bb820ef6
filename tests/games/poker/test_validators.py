"""The poker validators in Python and Chialisp, on whole hands of every game and on spoilt moves."""

from __future__ import annotations

from collections import Counter

import pytest

from channelsim.clsp.programs import load
from channelsim.clsp.run import ProgramSlash, ProgramValid, Raised, run
from channelsim.clsp.values import NIL, Value, int_to_atom, to_list
from channelsim.games.chance import Chance
from channelsim.games.contract import Raise, Slash, Valid, Verdict
from channelsim.games.judge import result_value
from channelsim.games.poker.limits import Structure
from channelsim.games.poker.rules import RULES
from channelsim.games.poker.variants import Variant
from tests.games.poker.hands import HASHES, ROWS, VALIDATORS, Hand, Turn, stakes_of
from tests.sampling import one_in

AMOUNT = 1 << 20


def program_verdict(turn: Turn, move: bytes, share: int, evidence: Value) -> object:
    """The outcome of the program: the result's value, "slash" or "raise"."""
    coin = [b"", b"", b"", int_to_atom(AMOUNT), b"", b"", move, b"", b"", int_to_atom(share), b""]
    program = load(f"poker/{turn.validator}")
    arguments = [program.hash, to_list(coin), turn.state.value(), b"", evidence]
    match run(program, to_list(arguments)):
        case ProgramValid(value):
            return value
        case ProgramSlash():
            return "slash"
        case Raised():
            return "raise"
        case other:
            return other


def expected(verdict: Verdict) -> object:
    match verdict:
        case Valid(step):
            return result_value(step, HASHES)
        case Slash():
            return "slash"
        case Raise():
            return "raise"


def compare(turn: Turn, move: bytes, share: int, evidence: Value) -> Verdict:
    judge = VALIDATORS[turn.validator].judge
    verdict = judge(turn.state, move, share, AMOUNT, evidence, HASHES)
    assert program_verdict(turn, move, share, evidence) == expected(verdict), (
        turn.validator,
        verdict,
    )
    return verdict


def moves_of(variant: Variant) -> set[str]:
    if variant.arranges:
        return {"deal", "commit", "rows", "score"}
    return {"deal", "begin", "mid", "show", "end"} | ({"draw"} if variant.draws else set())


@pytest.mark.parametrize("variant", one_in(2, ROWS.values()), ids=ROWS)
def test_whole_hands(variant: Variant) -> None:
    """Six hands, and more until there were moves of every kind; all games use all programs."""
    seen: Counter[str] = Counter()
    for number in range(15):
        if number >= 6 and set(seen) == moves_of(variant):
            break
        stakes = stakes_of(variant, Structure(number % 3))
        for turn in Hand(f"{variant.name} {number}", stakes, variant).turns():
            assert compare(turn, turn.move, turn.share, turn.evidence) == turn.verdict
            assert VALIDATORS[turn.validator].read_state(turn.state.value(), HASHES) == turn.state
            seen[turn.validator] += 1
    assert set(seen) == moves_of(variant)


def spoilt(turn: Turn, chance: Chance) -> tuple[bytes, int, Value]:
    """A move with a byte changed, a byte more or less, another share or other evidence."""
    move, share = bytearray(turn.move), turn.share
    evidence: Value = turn.evidence
    kind = chance.below(7)
    if kind == 0 and move:
        move[chance.below(len(move))] ^= 1 << chance.below(8)
    elif kind == 1:
        move.insert(chance.below(len(move) + 1), chance.below(256))
    elif kind == 2 and move:
        del move[chance.below(len(move))]
    elif kind == 3:
        share += chance.pick((-1, 1, -20, 20))
    elif kind == 4:
        tail = chance.pick((b"", b"\0", b"\1", b"\2", b"\x7f", b"\x80", b"\0\x80", b"\xff"))
        move = bytearray(turn.move[:-1] + tail)
    elif kind == 5 and isinstance(evidence, bytes) and evidence:
        evidence = bytes(chance.pick((0, 31, 1, 127, 51, 156)) for _ in evidence)
    else:
        wrong: tuple[Value, ...] = (NIL, b"\x9f", b"\x0f", b"\x1f\x00", (NIL, NIL), b"\1\x33\0\0")
        evidence = chance.pick((*wrong, b"\x1f", b"\x7c", b"\x1f\0", b"\0\x33"))
    return bytes(move), share, evidence


def test_spoilt_moves_are_judged_alike() -> None:
    chance = Chance(b"spoilt")
    broken: Counter[str] = Counter()
    for number, variant in enumerate(ROWS.values()):
        stakes = stakes_of(variant, Structure(number % 3))
        for turn in Hand(f"spoilt {variant.name}", stakes, variant).turns():
            for _ in range(7):
                verdict = compare(turn, *spoilt(turn, chance))
                if isinstance(verdict, Slash | Raise):
                    broken[verdict.rule] += 1
                assert not isinstance(verdict, Raise) or verdict.rule == "PK-END-5"
    assert set(broken) <= set(RULES)
    assert len(broken) > 30
