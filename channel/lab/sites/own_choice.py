"""States that one player brings about by its own choice: a changed state, made by changed moves.

A state that is made by its form may be one that no play leads to, or one that a player reaches by
moves that the rules allow, and that it merely never makes.
"""

from __future__ import annotations

from collections.abc import Callable

from channelsim.channel.lab.sites.commitments import in_bytes
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.sites.values import leaves
from channelsim.channel.lab.targets.target import Target
from channelsim.games.contract import Valid
from channelsim.games.judge import position_after


def is_own_choice(target: Target, site: Site) -> bool:
    """True if the moves before the site's, with what differs in its state replaced, are legal and
    lead to that state."""
    base = site.base
    if base is None or not base.led or site.amount != base.amount:
        return False
    old, new = list(leaves(base.state)), list(leaves(site.state))
    if len(old) != len(new):
        return False
    words = {one: other for one, other in zip(old, new, strict=True) if one != other}
    inside = {word: other for word, other in words.items() if word}
    return _leads(target, site, lambda move: words.get(move, move)) or _leads(
        target, site, lambda move: in_bytes(move, inside)
    )


def _leads(target: Target, site: Site, changed: Callable[[bytes], bytes]) -> bool:
    """True if the moves before the site's, once changed, are legal and lead to its state."""
    base = site.base or site
    position = base.led[0][0]
    for _, play in base.led:
        judge = target.judge(position.validator or "")
        if judge is None:
            return False
        move = changed(play.move)
        verdict = judge(position.state, move, play.share, base.amount, play.evidence, target.hashes)
        if not isinstance(verdict, Valid) or verdict.next is None or verdict.conditions:
            return False
        position = position_after(position, verdict.next, move, play.share)
    made = position.state.value() if position.state is not None else None
    return position.validator == site.validator and made == site.state
