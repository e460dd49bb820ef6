"""Evidence of a challenger, and the extra conditions under which it slashes.

A validator whose result has more than three elements says: this move is legal unless a slash meets
these conditions. The slash emits them in front of its payout, so the chain decides. Off chain
only one kind can be checked: AGG_SIG_UNSAFE, `(49 key message)`, is met by a signature of exactly
that message. Nothing else is known before the slash is on chain (the coin, the height, other
spends), so every other condition counts

- as not met for a challenger: no peer relies on a slash that may fail, and plays on;
- as met for a mover: no peer makes a move that such a slash might take.

`unchecked` names such conditions, and whoever judges a move reports them.

Source: spec/validator.md, "Results", "Evidence" and "Extra conditions".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

import msgspec

from channelsim.clsp.programs import Program
from channelsim.clsp.run import ProgramRaised, evaluate
from channelsim.clsp.values import NIL, Value, int_to_atom, serialize, to_list
from channelsim.games.amounts import counted
from channelsim.games.verdicts import Slash, Valid, Verdict

AGG_SIG_UNSAFE = int_to_atom(49)

MOST_CONDITIONS = 16
"""The most extra conditions of one verdict."""

KEY_SIZE, SIGNATURE_SIZE = 48, 96
LONGEST_MESSAGE = 1024
"""The most bytes of a signed message that a node accepts."""

_VERIFY = b"\x3b"
"""The CLVM operator `bls_verify`: `(bls_verify signature key message ...)`, which raises."""


class Evidence(msgspec.Struct, frozen=True):
    """A value that a challenger shows a validator, and a signature for the bundle of its slash.

    `signature` (96 bytes, or none) is the sum of the BLS signatures that meet the extra
    conditions, in the augmented scheme.
    """

    value: Value
    signature: bytes = b""


Candidate: TypeAlias = Value | Evidence
"""Evidence as a player returns it: a plain value where no signature goes with it."""


def as_evidence(candidate: Candidate) -> Evidence:
    """A player's candidate as evidence.

    >>> as_evidence(b"\\x01")
    Evidence(value=b'\\x01', signature=b'')
    """
    return candidate if isinstance(candidate, Evidence) else Evidence(candidate)


def met(conditions: Sequence[Value], signature: bytes) -> bool:
    """True if this signature is known to meet all of these extra conditions.

    False for no conditions, and for conditions of any other kind than AGG_SIG_UNSAFE.
    """
    asked = _asked(conditions)
    return bool(asked) and len(signature) == SIGNATURE_SIZE and _verify(asked, signature)


def unchecked(conditions: Sequence[Value]) -> str:
    """The reason why these conditions cannot be checked off chain; empty if they can.

    >>> unchecked([to_list([b"1", bytes(48), b"message"])])
    ''
    >>> unchecked([to_list([b"R", b"\\x10"])])
    'condition 0x52 cannot be checked off chain'
    """
    if len(conditions) > MOST_CONDITIONS:
        return f"{counted(len(conditions), 'condition')}, more than {MOST_CONDITIONS}"
    codes = sorted(set(map(_code, conditions)) - {AGG_SIG_UNSAFE})
    if not codes:
        return ""
    listed = ", ".join(f"0x{code[:4].hex()}" for code in codes)
    return f"condition {listed} cannot be checked off chain"


def for_challenger(verdict: Verdict, signature: bytes) -> Verdict:
    """The verdict for a challenger with this signature: Slash if it meets the extra conditions."""
    if isinstance(verdict, Valid) and met(verdict.conditions, signature):
        return Slash(verdict.rule)
    return verdict


def _asked(conditions: Sequence[Value]) -> tuple[tuple[bytes, bytes], ...]:
    """The key and message of each condition; none where one is something else."""
    if len(conditions) > MOST_CONDITIONS:
        return ()
    asked = []
    for condition in conditions:
        match condition:
            case (code, (bytes(key), (bytes(message), b""))) if code == AGG_SIG_UNSAFE:
                if len(key) != KEY_SIZE or len(message) > LONGEST_MESSAGE:
                    return ()
                asked.append((key, message))
            case _:
                return ()
    return tuple(asked)


@lru_cache(maxsize=1024)
def _verify(asked: tuple[tuple[bytes, bytes], ...], signature: bytes) -> bool:
    # Takes about a millisecond, and a fuzzer asks the same again and again.
    atoms = (signature, *(atom for pair in asked for atom in pair))
    quoted: list[Value] = [(b"\x01", atom) for atom in atoms]
    try:
        evaluate(Program(serialize((_VERIFY, to_list(quoted)))), NIL)
    except ProgramRaised:
        return False
    return True


def _code(condition: Value) -> bytes:
    """The code of a condition; empty for what is none."""
    match condition:
        case (bytes(code), _):
            return code
        case _:
            return NIL
