"""Claims of laws tried on small programs, and honest moves for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from time import thread_time
from typing import Any

from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.arguments import EVIDENCE, MOVE, SHARE, coin_field, part
from channelsim.channel.prove.comparison import examine_size
from channelsim.channel.prove.honest_moves import HonestMove
from channelsim.channel.prove.inputs import ATOM, PAIRS, Domain
from channelsim.channel.prove.laws import LawClaim, Subject
from channelsim.clsp.analysis.closures import deep
from channelsim.clsp.programs import Program
from channelsim.clsp.values import NIL, Value, atom_to_int, serialize
from channelsim.games.referee import referee
from tests.channel.prove.programs import FORMS, assemble, environment

HASH = f"0x{'77' * 32}"

SECONDS = 30.0

VALUE_OF_40_BITS = "0x0123456789"


def subject(
    text: str, coin: Program | None = None, pairs: int = PAIRS, atom: int = ATOM
) -> Subject:
    """The program of an expression, as the validator of a target."""
    program = assemble(text)
    target = Target("small", {"small": program}, coin or referee())
    return Subject(target, "small", pairs, atom)


def record(state: str = "5", conditions: str = "()") -> str:
    """The text of a result that leads on to this state."""
    return f"(c {HASH} (c {state} (c 4 {conditions})))"


def tried(
    claim: LawClaim,
    sizes: Iterable[int],
    state: str = "nothing",
    longest: int | None = None,
    pairs: int = PAIRS,
    atom: int = ATOM,
) -> tuple[str, Value | None]:
    """The verdict on moves of these sizes, and the input that breaks the claim."""
    sizes = list(sizes)
    longest = max(sizes) if longest is None else longest
    domain = Domain((b"\x01" * 32,), FORMS[state], longest, pairs=pairs, atom=atom)
    undecided: set[str] = set()
    endings: set[str] = set()
    with deep():
        for size in sizes:
            report = examine_size(claim, domain, size, thread_time() + SECONDS)
            if report.counterexample is not None:
                # Real runs break it once more, without any model of an operator.
                assert claim.is_broken(report.counterexample)
                assert all(claim.explained(report.counterexample))
                return claim.verdicts[1], report.counterexample
            undecided |= {gap.reason for gap in report.gaps}
            endings |= set(report.endings)
    if undecided or not endings.issuperset(claim.needs):
        return "undecided", None
    return claim.verdicts[0], None


def honest(
    witness: Mapping[str, Any], *pieces: Value, opened: tuple[int, int] | None = None
) -> HonestMove:
    """An honest move with these arguments, and the evidence that its opponent holds."""
    arguments = environment(witness)
    move = part(arguments, coin_field(MOVE))
    return HonestMove(
        serialized=serialize(arguments),
        size=len(move),
        share=atom_to_int(part(arguments, coin_field(SHARE))),
        pieces=tuple(dict.fromkeys((NIL, part(arguments, EVIDENCE), *pieces))),
        opened=opened,
        taken=True,
        free=False,
    )
