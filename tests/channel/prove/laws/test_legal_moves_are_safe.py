"""The laws that evidence does not decide where a legal move leads, nor slashes an honest one."""

from __future__ import annotations

import pytest

from channelsim.channel.prove.arguments import part
from channelsim.channel.prove.laws.honest_moves_hold import HonestMovesAreLegal
from channelsim.channel.prove.laws.legal_moves_are_safe import SameForAllEvidence
from channelsim.channel.prove.reruns import OTHER
from channelsim.clsp.values import NIL
from tests.channel.prove.laws.trials import VALUE_OF_40_BITS, honest, record, subject, tried

RARE = f"(= EVIDENCE {VALUE_OF_40_BITS})"
TWO_BYTES = "(if (= (strlen MOVE) 2) {0} ())"
KEY = f"0x{'aa' * 48}"


def signed_by(key: str) -> str:
    """Extra conditions for evidence: a signature by this key."""
    return f"(if EVIDENCE (c (c 49 (c {key} (c EVIDENCE ()))) ()) ())"


SIGNED = TWO_BYTES.format(record(conditions=signed_by(KEY)))
SIGNED_BY_ANYBODY = TWO_BYTES.format(record(conditions=signed_by("EVIDENCE")))
NOT_SIGNED = TWO_BYTES.format(record(conditions="(if EVIDENCE (c (c 60 ()) ()) ())"))
ELSEWHERE = TWO_BYTES.format(record(f"(if {RARE} 1 2)"))
SLASHED = TWO_BYTES.format(f"(if {RARE} () {record()})")
RAISES = TWO_BYTES.format(f"(if {RARE} {record()} (x))")


def two_pieces(text: str) -> tuple[str, object]:
    return tried(SameForAllEvidence(subject(text)), [2, 1], pairs=1, atom=5)


@pytest.mark.parametrize("text", [ELSEWHERE, TWO_BYTES.format(record("EVIDENCE"))])
def test_evidence_that_leads_elsewhere_is_shown(text: str) -> None:
    verdict, shown = two_pieces(text)
    assert (verdict, shown is None) == ("refuted", False)


@pytest.mark.parametrize("text", [TWO_BYTES.format(record("MOVE")), RAISES, SIGNED])
def test_evidence_may_raise_or_ask_for_a_signature(text: str) -> None:
    assert two_pieces(text) == ("proved", None)


@pytest.mark.parametrize("text", [SLASHED, NOT_SIGNED, SIGNED_BY_ANYBODY])
def test_a_slash_by_some_evidence_is_undecided_without_rules(text: str) -> None:
    assert two_pieces(text) == ("undecided", None)


def of_honest_play(text: str) -> tuple[str, object]:
    evidence = VALUE_OF_40_BITS if text is RAISES else "0x"
    move = honest({"move": "0102", "evidence": evidence})
    claim = HonestMovesAreLegal(subject(text), (move,))
    return tried(claim, [2, 1], pairs=2, atom=5)


@pytest.mark.parametrize("text", [ELSEWHERE, SLASHED, NOT_SIGNED, SIGNED_BY_ANYBODY])
def test_a_slash_of_an_honest_move_is_shown(text: str) -> None:
    verdict, shown = of_honest_play(text)
    assert verdict == "refuted"
    assert part(shown, OTHER) != NIL


@pytest.mark.parametrize("text", [TWO_BYTES.format(record("MOVE")), RAISES, SIGNED])
def test_honest_moves_hold(text: str) -> None:
    assert of_honest_play(text) == ("proved", None)


def test_an_honest_move_that_raises_is_shown() -> None:
    claim = HonestMovesAreLegal(subject(RAISES), (honest({"move": "0304"}),))
    assert tried(claim, [2], pairs=1, atom=5)[0] == "refuted"
