"""A call at a site in the format of conformance vectors, its expectation from the rules."""

from __future__ import annotations

from channelsim.channel.findings.finding import CaseCall
from channelsim.channel.lab.sites.site import Call, Site
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.values import NotAList, Value, atom_to_int, from_list, is_minimal, serialize
from channelsim.games.contract import Slash, Valid, Verdict
from channelsim.games.vectors import Case, Expect, NextRecord

SHORT = 9
"""The longest atoms, in bytes, that are written as integers where that gives the same bytes."""


def vector(
    target: Target,
    site: Site,
    call: Call,
    verdict: Verdict,
    tag: str,
    number: int = 0,
) -> Case:
    """A call (move, share, evidence) at this site, as a case that expects `verdict`."""
    move, share, evidence = call
    name = target.rules or target.name
    expect: Expect = "slash" if isinstance(verdict, Slash) else "raise"
    record = None
    conditions: tuple[Value, ...] = ()
    if isinstance(verdict, Valid):
        expect, conditions = "valid", verdict.conditions
        if verdict.next is not None:
            step = verdict.next
            state = described_value(step.state.value(), target, move)
            record = NextRecord(step.validator, state, step.max_move_size)
    return Case(
        id=f"{name}-{site.validator}-{number:05}",
        tag=tag,
        game=name,
        validator=site.validator,
        amount=site.amount,
        mover_share=share,
        max_move_size=site.before.max_move_size,
        move=move.hex(),
        state=described_value(site.state, target),
        evidence=described_value(evidence, target),
        expect=expect,
        next=record,
        conditions=[described_value(condition, target) for condition in conditions],
        signature=_signature(site, move, evidence).hex(),
    )


def _signature(site: Site, move: bytes, evidence: Value) -> bytes:
    """The signature that the opponent's logic holds with this evidence; empty if it has none."""
    if not site.natural:
        return b""
    candidates = (*site.candidates(move), *site.candidates(site.play.move))
    return next(
        (candidate.signature for candidate in candidates if candidate.value == evidence), b""
    )


def described_value(value: Value, target: Target, move: bytes = b"") -> object:
    """A value in the notation of conformance cases.

    The hash of a program that is in the move as well is written as bytes, as the move is: it stays
    the same whatever the program compiles to.
    """
    if isinstance(value, tuple):
        try:
            return [described_value(item, target, move) for item in from_list(value)]
        except NotAList:
            return {"pair": [described_value(side, target, move) for side in value]}
    for name, program_hash in target.hashes.items():
        if value == program_hash and program_hash not in move:
            return {"program": name}
    if 0 < len(value) <= SHORT and is_minimal(value):
        return atom_to_int(value)
    return f"0x{value.hex()}"


def described_call(call: Call) -> CaseCall:
    """A call as a finding holds it."""
    move, share, evidence = call
    return CaseCall(move.hex(), share, serialize(evidence).hex())


def described_run(program: bytes, environment: bytes) -> dict[str, str]:
    """A run in hex, as `brun` takes it."""
    return {"program": program.hex(), "environment": environment.hex()}
