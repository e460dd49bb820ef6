"""The questions of a command: every claim that there is about the validators of targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.checked import checks_of
from channelsim.channel.prove.claims import Claim
from channelsim.channel.prove.inputs import ATOM, PAIRS
from channelsim.channel.prove.laws import Subject, law_claims, named
from channelsim.channel.prove.proof import Question, compare, make_question
from channelsim.channel.prove.rules.claim import claims_of_rules
from channelsim.channel.prove.shapes import Shape, shapes_of
from channelsim.channel.prove.showdowns import showdown_checks
from channelsim.games.amounts import counted

ClaimsOf = Callable[[Target, str], Iterable[Claim]]
"""The claims of one kind about a validator of a target."""

KINDS: tuple[ClaimsOf, ...] = (claims_of_rules,)
"""All kinds of claims about a single target."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of the inputs: the longest move in bytes, by default as play allows, and the
    pairs and the bytes of an atom of evidence; the number of the only shape of the state.

    `checks`: the most inputs of each check by real runs; 0 for none. `only_checks`: nothing else.
    `named`: only checks with one of these texts in their name; all, if there are none.
    """

    longest: int | None = None
    pairs: int = PAIRS
    atom: int = ATOM
    shape: int | None = None
    checks: int = 0
    only_checks: bool = False
    named: tuple[str, ...] = ()


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
    if bounds.checks and (laws or others):
        raise UsageError(
            "--checks, --check, --inputs: they are about rules; leave --against and --law out"
        )
    shared = [name for name in target.present if all(name in other.present for other in others)]
    names = shared if validator is None else [validator]
    if not names:
        raise UsageError(f"{target.name}: has no validator that {others[0].name} has, too")
    asked = [
        question for name in names for question in _about(target, tuple(others), name, bounds, laws)
    ]
    if not asked and bounds.only_checks:
        known = dict.fromkeys(
            check.name for name in names for check in _checks(target, name, bounds.checks)
        )
        reason = "there is nothing that its game has checked"
        if known:
            texts = ", ".join(map(repr, bounds.named))
            reason = f"no check has {texts} in its name; known: {', '.join(map(repr, known))}"
        raise UsageError(f"{target.name}: {', '.join(names)}: {reason}")
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
    ruled = next((each for each in (target, *others) if each.rules is not None), target)
    shapes: Sequence[Shape | None] = shapes_of(ruled, name) or (None,)
    if bounds.shape is not None:
        shapes = [_chosen(ruled, name, bounds.shape)]
    for other in others:
        for shape in shapes:
            yield compare(target, other, name, *limits, shape)
    if others:
        return
    claims = [] if laws else [claim for kind in KINDS for claim in kind(target, name)]
    if not claims:
        claims += law_claims(Subject(target, name, bounds.pairs, bounds.atom), laws)
    for shape in () if bounds.only_checks else shapes:
        for claim in claims:
            yield make_question(claim, (target,), name, *limits, shape)
    for check in _checks(target, name, bounds.checks):
        if not bounds.named or any(part in check.name for part in bounds.named):
            yield make_question(check, (target,), name)


def _checks(target: Target, name: str, inputs: int) -> Iterator[Claim]:
    """The checks about a validator, of so many inputs at most; showdowns in so many deals."""
    if inputs:
        yield from checks_of(target, name, inputs)
        yield from showdown_checks(target, name, inputs)


def _chosen(target: Target, name: str, number: int) -> Shape:
    """The shape with this number, from 1. Raises `UsageError`."""
    shapes = shapes_of(target, name)
    if not 1 <= number <= len(shapes):
        known = f"{counted(len(shapes), 'shape')}" if shapes else "no shapes"
        raise UsageError(f"{target.name}: {name} has {known}, so --shape {number} is none of them")
    return shapes[number - 1]
