"""Cases beside honest play as JSON data, so that a finding can be tried again on other programs.

Values are written as in conformance cases. In findings they stand under the key `probe`.
"""

from __future__ import annotations

from itertools import starmap
from typing import Any

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.cases.case import SiteCase, make_case
from channelsim.channel.lab.cases.describe import described_value
from channelsim.channel.lab.sites.honest_play import Recorded
from channelsim.channel.lab.sites.site import make_site
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.values import NIL, Value
from channelsim.games.contract import Next, Play, Position, RawState, Seat, Valid
from channelsim.games.errors import BadState
from channelsim.games.evidence import Evidence, as_evidence
from channelsim.games.vectors import BadCase, NextRecord
from channelsim.games.vectors import read_value as read_case_value


class CaseRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A case and the honest play beside it. Bytes are hex; money in mojos.

    `held` is the evidence against the move, and `signatures` go with it; none if all are empty.
    `lie` says what a player did before that no honest player does.
    """

    validator: str
    amount: int
    state: Any
    mover_share: int
    max_move_size: int
    natural: bool
    move: str
    share: int
    evidence: Any
    honest_move: str
    honest_share: int
    held: list[Any]
    signatures: list[str] = []
    honest_next: dict[str, Any] | None = None
    lie: str = ""


def record_of(target: Target, case: SiteCase) -> dict[str, Any]:
    """A case as JSON data."""
    site = case.site
    offered = site.receiver.evidence(site.before, case.move) if site.natural else ()
    candidates = [as_evidence(evidence) for evidence in offered or site.held]
    known: dict[str, Any] | None = None
    if site.known is not None:
        step = site.known.next
        known = {"validator": None}
        if step is not None:
            state = described_value(step.state.value(), target)
            record = NextRecord(step.validator, state, step.max_move_size)
            known = msgspec.to_builtins(record)
    signatures = [candidate.signature.hex() for candidate in candidates]
    written: dict[str, Any] = msgspec.to_builtins(
        CaseRecord(
            validator=site.validator,
            amount=site.amount,
            state=described_value(site.state, target),
            mover_share=site.before.mover_share,
            max_move_size=site.before.max_move_size,
            natural=site.natural,
            move=case.move.hex(),
            share=case.share,
            evidence=described_value(case.evidence, target),
            honest_move=site.play.move.hex(),
            honest_share=site.play.share,
            held=[described_value(candidate.value, target) for candidate in candidates],
            signatures=signatures if any(signatures) else [],
            honest_next=known,
            lie=site.lie,
        )
    )
    return written


def read(target: Target, data: Any) -> SiteCase:
    """Read a case for this target's programs. Raises `UsageError` naming what does not fit."""
    try:
        record = msgspec.convert(data, CaseRecord)
        state = read_value(record.state, target)
        held = [read_value(evidence, target) for evidence in record.held]
        signatures = [bytes.fromhex(signature) for signature in record.signatures] or [b""] * len(
            held
        )
        candidates = tuple(starmap(Evidence, zip(held, signatures, strict=True)))
        evidence = read_value(record.evidence, target)
        move, honest_move = bytes.fromhex(record.move), bytes.fromhex(record.honest_move)
        known = _known(target, record.honest_next)
    except (msgspec.ValidationError, ValueError) as error:
        raise UsageError(f"the finding's probe: {error}") from None
    except RecursionError:
        raise UsageError("the finding's probe: nested too deep") from None
    if record.validator not in target.programs:
        raise UsageError(f"the finding is about {record.validator!r}, which {target.name} lacks")
    try:
        typed = (
            target.game.validators[record.validator].read_state(state, target.hashes)
            if target.rules
            else RawState(state)
        )
    except BadState as error:
        raise UsageError(f"the finding's state: {error}") from None
    before = Position(record.validator, typed, Seat.ALICE, record.mover_share, record.max_move_size)
    play = Play(honest_move, record.honest_share, held[0] if held else NIL)
    site = make_site(
        *(target, before, play, record.amount, Recorded(before, candidates), record.natural, known),
        lie=record.lie,
    )
    return make_case(site, "replayed", move, record.share, evidence)


def _known(target: Target, data: dict[str, Any] | None) -> Valid | None:
    """The result of the honest move; None where rules can tell."""
    if target.rules or data is None:
        return None
    if data.get("validator") is None:
        return Valid(None)
    step = msgspec.convert(data, NextRecord)
    if step.validator not in target.programs:
        raise ValueError(f"no program {step.validator!r}")
    state = RawState(read_value(step.state, target))
    return Valid(Next(step.validator, state, step.max_move_size))


def read_value(data: Any, target: Target) -> Value:
    """The value of such data. Raises `BadCase`.

    >>> from channelsim.channel.lab.targets.target import of_game
    >>> from channelsim.games import registry
    >>> read_value({"pair": ["0x00", [2]]}, of_game(registry.get(registry.names()[0])))
    (b'\\x00', (b'\\x02', b''))
    """
    return read_case_value(data, "probe", lambda name: _hash(target, name))


def _hash(target: Target, name: str) -> bytes:
    if name not in target.hashes:
        raise BadCase(f"no program {name!r}")
    return target.hashes[name]
