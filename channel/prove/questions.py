"""The questions of a command: every claim that there is about the validators of targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.claims import Claim
from channelsim.channel.prove.inputs import ATOM, PAIRS
from channelsim.channel.prove.laws import Subject, law_claims, named
from channelsim.channel.prove.proof import Question, compare, make_question
from channelsim.channel.prove.rules.claim import claims_of_rules
from channelsim.channel.prove.shapes import Shape, shapes_of
from channelsim.games.amounts import counted

ClaimsOf = Callable[[Target, str], Iterable[Claim]]
"""The claims of one kind about a validator of a target."""

KINDS: tuple[ClaimsOf, ...] = (claims_of_rules,)
"""All kinds of claims about a single target."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of the inputs: the longest move in bytes, by default as play allows, and the
    pairs and the bytes of an atom of evidence; the number of the only shape of the state."""

    longest: int | None = None
    pairs: int = PAIRS
    atom: int = ATOM
    shape: int | None = None


DEFAULT = Bounds()


def questions(
    targets: tuple[Target, ...],
    validator: str | None = None,
    bounds: Bounds = DEFAULT,
    laws: Sequence[str] = (),
) -> list[Question]:
    """The questions about one validator or all, in the order of the game: of two targets whether
    they are equal, of a single one its claims.

    With `laws` these are the laws of these names; without, all laws if no rules are known. Raises
    `UsageError` where there is nothing to ask.
    """
    target, *others = targets
    named(laws)
    if laws and others:
        raise UsageError("--law: a law is about one target; leave --against out")
    shared = [name for name in target.present if all(name in other.present for other in others)]
    names = shared if validator is None else [validator]
    if not names:
        raise UsageError(f"{target.name}: has no validator that {others[0].name} has, too")
    asked = [
        question for name in names for question in _about(target, tuple(others), name, bounds, laws)
    ]
    if not asked and laws:
        subject = Subject(target, names[0])
        reasons = [claim for law in named(laws) if isinstance(claim := law.claim(subject), str)]
        raise UsageError(f"{target.name}: {names[0]}: {'; '.join(reasons)}")
    if not asked:
        what = f"about {names[0]}" if validator is not None else "about its validators"
        raise UsageError(
            f"{target.name}: there is no claim {what} that needs no other target; name one with"
            " --against"
        )
    return asked


def _about(
    target: Target, others: tuple[Target, ...], name: str, bounds: Bounds, laws: Sequence[str]
) -> Iterator[Question]:
    limits = bounds.longest, bounds.pairs, bounds.atom
    shapes: Sequence[Shape | None] = shapes_of(target, name) or (None,)
    if bounds.shape is not None:
        shapes = [_chosen(target, name, bounds.shape)]
    for other in others:
        yield compare(target, other, name, *limits)
    if others:
        return
    claims = [] if laws else [claim for kind in KINDS for claim in kind(target, name)]
    if not claims:
        claims += law_claims(Subject(target, name, bounds.pairs, bounds.atom), laws)
    for shape in shapes:
        for claim in claims:
            yield make_question(claim, (target,), name, *limits, shape)


def _chosen(target: Target, name: str, number: int) -> Shape:
    """The shape with this number, from 1. Raises `UsageError`."""
    shapes = shapes_of(target, name)
    if not 1 <= number <= len(shapes):
        known = f"{counted(len(shapes), 'shape')}" if shapes else "no shapes"
        raise UsageError(f"{target.name}: {name} has {known}, so --shape {number} is none of them")
    return shapes[number - 1]
