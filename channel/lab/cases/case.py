"""A case: a call at a site. And the fields in which it differs from honest play."""

from __future__ import annotations

from collections.abc import Set
from typing import TypeAlias

import msgspec

from channelsim.channel.lab.sites.site import Call, Site
from channelsim.channel.lab.sites.values import leaves
from channelsim.clsp.values import Value
from channelsim.games.amounts import counted

Field: TypeAlias = tuple[str, int]
"""A kind of field, and which one: `("move", 3)` is byte 3 of the move."""

PLACE: Field = ("place", 0)
"""The variant of a hand's place that the case is at, as one field of its own."""


class SiteCase(msgspec.Struct, frozen=True, gc=False):
    """A case: the position of its site, and a move with its share and the evidence against it.

    `tag` says how it was made. `arguments` are the whole environment of the validator in bytes.
    """

    site: Site
    tag: str
    move: bytes
    share: int
    evidence: Value
    arguments: bytes

    @property
    def call(self) -> Call:
        """The move, its share and the evidence."""
        return self.move, self.share, self.evidence


def make_case(site: Site, tag: str, move: bytes, share: int, evidence: Value) -> SiteCase:
    """Make a case, with its argument bytes."""
    return SiteCase(site, tag, move, share, evidence, site.environment(move, share, evidence))


def fields(case: SiteCase) -> tuple[Field, ...]:
    """List the fields that differ from honest play at the case's site.

    These are bytes of the move that differ, each additional byte, the share, evidence that the
    opponent does not hold, the amount, and atoms of the state.
    """
    site, honest = case.site, case.site.play.move
    differing: list[Field] = [
        ("move", at)
        for at, (mine, theirs) in enumerate(zip(case.move, honest, strict=False))
        if mine != theirs
    ]
    differing += [("extra", at) for at in range(len(honest), len(case.move))]
    differing += [("short", at) for at in range(len(case.move), len(honest))]
    if case.share != site.play.share:
        differing.append(("share", 0))
    if case.evidence not in site.held:
        differing.append(("evidence", 0))
    if site.base is not None:
        if site.amount != site.base.amount:
            differing.append(("amount", 0))
        theirs_and_mine = zip(leaves(site.base.state), leaves(site.state), strict=False)
        differing += [("state", at) for at, (a, b) in enumerate(theirs_and_mine) if a != b]
    return tuple(differing)


def keeping(case: SiteCase, kept: Set[Field]) -> SiteCase:
    """Keep only these fields of a case, and restore the others to honest play.

    `PLACE` among them keeps the place; without it the case moves to the hand's own place.
    """
    site, honest = case.site, case.site.play.move
    if site.base is not None and PLACE not in kept:
        site = site.base
    move = bytearray()
    for at in range(max(len(case.move), len(honest))):
        mine, theirs = case.move[at : at + 1], site.play.move[at : at + 1]
        if at < len(case.move) and at < len(honest):
            move += mine if ("move", at) in kept else theirs
        elif at >= len(honest):
            move += mine if ("extra", at) in kept else b""
        else:
            move += b"" if ("short", at) in kept else theirs
    share = case.share if ("share", 0) in kept else site.play.share
    evidence: Value = case.evidence if ("evidence", 0) in kept else site.held[0]
    return make_case(site, case.tag, bytes(move), share, evidence)


def differences(case: SiteCase) -> tuple[str, ...]:
    """Describe each difference from honest play in a line.

    Money is in mojos; of bytes the first few are shown.
    """
    site = case.site
    honest, lines = site.play.move, []
    if case.share != site.play.share:
        lines.append(f"share: {case.share:,} instead of {site.play.share:,} of {site.amount:,}")
    if len(case.move) != len(honest):
        lines.append(f"move: {counted(len(case.move), 'byte')} instead of {len(honest)}")
    changed = [at for kind, at in fields(case) if kind in ("move", "extra")]
    if changed and len(changed) <= 8:
        bytes_ = ", ".join(
            f"{at}: {case.move[at]:02x}" + (f" for {honest[at]:02x}" if at < len(honest) else "")
            for at in changed
        )
        lines.append(f"move, byte {bytes_}")
    elif changed:
        lines.append(f"move: {len(changed)} of its bytes are others")
    if case.evidence not in site.held:
        lines.append(f"evidence: {_short(case.evidence)} instead of {_short(site.held[0])}")
    if site.base is not None:
        if site.amount != site.base.amount:
            lines.append(f"amount: {site.amount:,} instead of {site.base.amount:,}")
        if site.state != site.base.state:
            lines.append("state: " + ("another secret" if site.natural else "not of a hand"))
    if site.lie:
        lines.append(f"before: {site.lie}")
    return tuple(lines)


def _short(value: Value) -> str:
    if isinstance(value, tuple):
        return "a pair"
    if not value:
        return "()"
    return "0x" + (value.hex() if len(value) <= 8 else value[:6].hex() + "…")
