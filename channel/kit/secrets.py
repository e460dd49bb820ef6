"""The check that rules bind secrets: what a move shows must be what was committed to.

A rule that is missing in the Python rules and in the program alike is no difference between them.
No honest player shows another secret than its own, so no other check notices that it is missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from channelsim.channel.documents.conform import CheckResult
from channelsim.channel.kit.conformance import Subject, failed_check
from channelsim.channel.lab.sites.commitments import opened_locks, opening
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.sites.values import leaves
from channelsim.channel.lab.targets.target import Target
from channelsim.games.amounts import counted
from channelsim.games.contract import Valid
from channelsim.games.deck.group import SCALAR_SIZE

SECRETS = "secrets are bound"
"""The name of the check."""

HANDS, MOVES = 48, 12
"""The generated hands, and the most moves of a validator that show a secret and are changed."""

NEEDS_GAME = "needs a game: moves of its players are changed, and judged by its rules"

NOTHING_SHOWN = "no move has bytes of which the state has the hash, nor a scalar of its locks"


class _Secret(NamedTuple):
    """A part of an honest move that opens something in the state: the first byte, the end, and the
    bytes of it that are changed."""

    start: int
    end: int
    changed: tuple[int, ...]


class _Showing(NamedTuple):
    """An honest move at a place, and the secrets in it."""

    site: Site
    secrets: tuple[_Secret, ...]


def secrets(subject: Subject) -> CheckResult:
    """Change bytes of the secrets that honest moves show: no such move may be legal."""
    target = subject.target
    if target.rules is None:
        return CheckResult(SECRETS, unchecked=NEEDS_GAME)
    shown = _shown(target, subject.effort.seed)
    if not shown:
        return CheckResult(SECRETS, unchecked=NOTHING_SHOWN)
    failures = tuple(
        failed_check(SECRETS, text, name)
        for name, moves in shown.items()
        for text in islice(_unbound(target, moves), 1)
    )
    opened = (showing.secrets for moves in shown.values() for showing in moves)
    changed = sum(len(secret.changed) for parts in opened for secret in parts)
    judge = "judges" if len(shown) == 1 else "judge"
    tried = f"{counted(changed, 'byte')} of secrets that {', '.join(shown)} {judge}"
    return CheckResult(SECRETS, tried, failures)


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
            opened = tuple(_secrets(move, frozenset(leaves(state.value()))))
            if not opened:
                optional.add((name, len(move)))
            elif len(shown[name]) < MOVES:
                shown[name].append(_Showing(site_of(target, turn), opened))
    due = {
        name: [showing for showing in moves if (name, len(showing.site.play.move)) not in optional]
        for name, moves in shown.items()
    }
    return {name: moves for name, moves in due.items() if moves}


def _secrets(move: bytes, atoms: frozenset[bytes]) -> Iterator[_Secret]:
    """The secrets in a move: bytes of which the state has the hash, and scalars of its locks."""
    opened = opening(move, atoms)
    if opened is not None:
        yield _Secret(*opened, tuple(range(*opened)))
    for start in opened_locks(move, atoms):
        # Its rules multiply points, which takes longer than to hash.
        yield _Secret(
            start, start + SCALAR_SIZE, (start, start + SCALAR_SIZE // 2, start + SCALAR_SIZE - 1)
        )


def _unbound(target: Target, moves: Sequence[_Showing]) -> Iterator[str]:
    """Find a byte of a secret that may be another one."""
    for site, opened in moves:
        for secret in opened:
            for at in secret.changed:
                if _may_be_another(target, site, at):
                    yield (
                        f"the rules of {site.validator} do not bind a secret: byte {at} of the move"
                        f" 0x{site.play.move[:6].hex()}… may be another one, though the state"
                        f" commits to bytes {secret.start} to {secret.end - 1}"
                    )


def _may_be_another(target: Target, site: Site, at: int) -> bool:
    """True if the honest move is legal with another byte at this place, too."""
    move = site.play.move
    other = move[:at] + bytes([move[at] ^ 1]) + move[at + 1 :]
    verdict, _ = site.ruling(target, other, site.play.share)
    return isinstance(verdict, Valid)
