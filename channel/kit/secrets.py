"""The check that rules bind secrets: what a move shows must be what was committed to.

A rule that is missing in the Python rules and in the program alike is no difference between them.
No honest player shows another secret than its own, so that no other check misses such a rule.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from channelsim.channel.documents.conform import CheckResult
from channelsim.channel.kit.conformance import Subject, failed_check
from channelsim.channel.lab.sites.commitments import opening
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.sites.values import leaves
from channelsim.channel.lab.targets.target import Target
from channelsim.games.amounts import counted
from channelsim.games.contract import Valid

SECRETS = "secrets are bound"
"""The name of the check."""

HANDS, MOVES = 48, 12
"""The generated hands, and the most moves of a validator that show a secret and are changed."""

NEEDS_GAME = "needs a game: moves of its players are changed, and judged by its rules"


class _Showing(NamedTuple):
    """An honest move at a place, and the bytes in it of which the state has the hash."""

    site: Site
    start: int
    end: int


def secrets(subject: Subject) -> CheckResult:
    """Change each byte of the secrets that honest moves show: no such move may be legal."""
    target = subject.target
    if target.rules is None:
        return CheckResult(SECRETS, unchecked=NEEDS_GAME)
    shown = _shown(target, subject.effort.seed)
    failures = tuple(
        failed_check(SECRETS, text, name)
        for name, moves in shown.items()
        for text in islice(_unbound(target, moves), 1)
    )
    changed = sum(one.end - one.start for moves in shown.values() for one in moves)
    where = f" that {', '.join(shown)} judge{'s' if len(shown) == 1 else ''}" if shown else ""
    return CheckResult(SECRETS, f"{counted(changed, 'byte')} of secrets{where}", failures)


def _shown(target: Target, seed: str) -> dict[str, list[_Showing]]:
    """Honest moves that show secrets, by validators.

    Those are left out of whose size another move there shows none: it need not.
    """
    shown: dict[str, list[_Showing]] = defaultdict(list)
    optional: set[tuple[str, int]] = set()
    for hand in islice(hands(target, f"{SECRETS} {seed}".encode()), HANDS):
        for turn in hand:
            name, state, move = turn.before.validator, turn.before.state, turn.play.move
            if name is None or state is None or target.judge(name) is None:
                continue
            opened = opening(move, frozenset(leaves(state.value())))
            if opened is None:
                optional.add((name, len(move)))
            elif len(shown[name]) < MOVES:
                shown[name].append(_Showing(site_of(target, turn), *opened))
    due = {
        name: [one for one in moves if (name, len(one.site.play.move)) not in optional]
        for name, moves in shown.items()
    }
    return {name: moves for name, moves in due.items() if moves}


def _unbound(target: Target, moves: Sequence[_Showing]) -> Iterator[str]:
    """Find a byte of a secret that may be another one."""
    for site, start, end in moves:
        move = site.play.move
        for at in range(start, end):
            other = move[:at] + bytes([move[at] ^ 1]) + move[at + 1 :]
            verdict, _ = site.ruling(target, other, site.play.share)
            if isinstance(verdict, Valid):
                yield (
                    f"the rules of {site.validator} do not bind a secret: byte {at} of the move"
                    f" 0x{move[:6].hex()}… may be another one, though the state has the hash of"
                    f" bytes {start} to {end - 1}"
                )
