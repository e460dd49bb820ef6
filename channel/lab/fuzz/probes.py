"""Probes as JSON data, so that a finding can be tried again on programs that have changed.

Values are written as in conformance cases.
"""

from __future__ import annotations

from typing import Any

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.cases.describe import described_value
from channelsim.channel.lab.cases.fields import Probe
from channelsim.channel.lab.cases.guided_mutator import make_case
from channelsim.channel.lab.sites.honest_play import Recorded
from channelsim.channel.lab.sites.site import make_site
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.values import NIL, Value
from channelsim.games.contract import Next, Play, Position, RawState, Seat, Valid
from channelsim.games.errors import BadState
from channelsim.games.evidence import Evidence, as_evidence
from channelsim.games.vectors import BadCase
from channelsim.games.vectors import read_value as read_case_value


class Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One call and the honest play beside it. Bytes are hex; money in mojos.

    `held` is the evidence against the move, and `signatures` go with it; none if all are empty.
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


def written(target: Target, probe: Probe) -> dict[str, Any]:
    """A probe as JSON data."""
    site, case = probe.site, probe.case
    offered = site.receiver.evidence(site.before, case.move) if site.natural else ()
    held = [as_evidence(one) for one in offered or site.held]
    known: dict[str, Any] | None = None
    if site.known is not None:
        step = site.known.next
        known = {"validator": None}
        if step is not None:
            known = {
                "validator": step.validator,
                "state": described_value(step.state.value(), target),
                "max_move_size": step.max_move_size,
            }
    signatures = [one.signature.hex() for one in held]
    made: dict[str, Any] = msgspec.to_builtins(
        Written(
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
            held=[described_value(one.value, target) for one in held],
            signatures=signatures if any(signatures) else [],
            honest_next=known,
        )
    )
    return made


def read(target: Target, data: Any) -> Probe:
    """Read a probe for this target's programs. Raises `UsageError` naming what does not fit."""
    try:
        probe = msgspec.convert(data, Written)
        state = read_value(probe.state, target)
        held = [read_value(one, target) for one in probe.held]
        signatures = [bytes.fromhex(one) for one in probe.signatures] or [b""] * len(held)
        candidates = tuple(Evidence(*one) for one in zip(held, signatures, strict=True))
        evidence = read_value(probe.evidence, target)
        move, honest_move = bytes.fromhex(probe.move), bytes.fromhex(probe.honest_move)
        known = _known(target, probe.honest_next)
    except (msgspec.ValidationError, ValueError) as error:
        raise UsageError(f"the finding's probe: {error}") from None
    except RecursionError:
        raise UsageError("the finding's probe: nested too deep") from None
    if probe.validator not in target.programs:
        raise UsageError(f"the finding is about {probe.validator!r}, which {target.name} lacks")
    try:
        typed = (
            target.game.validators[probe.validator].read_state(state, target.hashes)
            if target.rules
            else RawState(state)
        )
    except BadState as error:
        raise UsageError(f"the finding's state: {error}") from None
    before = Position(probe.validator, typed, Seat.ALICE, probe.mover_share, probe.max_move_size)
    play = Play(honest_move, probe.honest_share, held[0] if held else NIL)
    site = make_site(
        *(target, before, play, probe.amount, Recorded(before, candidates), probe.natural, known)
    )
    return Probe(site, make_case(site, "replayed", move, probe.share, evidence))


def _known(target: Target, data: dict[str, Any] | None) -> Valid | None:
    if target.rules or data is None:
        return None
    if data.get("validator") is None:
        return Valid(None)
    step = msgspec.convert(data, _Step)
    if step.validator not in target.programs:
        raise ValueError(f"no program {step.validator!r}")
    state = RawState(read_value(step.state, target))
    return Valid(Next(step.validator, state, step.max_move_size))


class _Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    validator: str
    state: Any
    max_move_size: int


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
