"""Rare states: those with an atom that is hardly ever written in such a way.

A number that is zero is the empty atom, one whose highest bit is set has a zero byte in front or
is negative, and the sum of two secrets may be shorter than either. Programs are wrong about these
long before anybody sees it, since hands with them come once in thousands. Here a player's secret is
drawn again and again, which costs little more than a run, and the state that it leads to is looked
at. Values that stay inside of a program show in the cost of its run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.honest_play import HELD, Recorded
from channelsim.channel.lab.sites.replays import in_bytes, in_value, program_step
from channelsim.channel.lab.sites.secret_draws import Draw, SecretDraws, encoding
from channelsim.channel.lab.sites.site import Site, make_site, moved
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.values import Value, serialize
from channelsim.games.chance import Chance
from channelsim.games.contract import Next, Play, any_action
from channelsim.games.errors import IllegalAction
from channelsim.games.judge import position_after

RARE = 1 / 64
"""An encoding is rare if it has no larger share of the draws of a validator."""

SELDOM = 2
"""The draws with one rare encoding that are tried."""

CHOSEN = 2
"""The most draws of one site that are tried."""

VARIED = 0.1
"""The most different costs, as a share of the draws, of which one that is rare tells something."""

Key: TypeAlias = tuple[str, str, int, int, str]
"""A validator, an atom of its result (or the secret, or the cost), and its encoding."""


class RareStates:
    """The encodings of the atoms in the states that were looked at, by validator and atom.

    Of the player whose secret is drawn again nothing is known: it is assumed to hold the evidence
    that the opponents of other hands held at the same validator (`learn`).
    """

    def __init__(self) -> None:
        self._seen: Counter[Key] = Counter()
        self._tried: Counter[Key] = Counter()
        self._drawn: Counter[str] = Counter()
        self._held: dict[str, dict[bytes, Value]] = {}

    def learn(self, site: Site) -> None:
        """Remember the evidence of the opponent at a place of a hand, the newest `HELD` pieces."""
        held = self._held.setdefault(site.validator, {})
        for one in site.held:
            written = serialize(one)
            held.pop(written, None)
            held[written] = one
        for oldest in list(held)[:-HELD]:
            del held[oldest]

    def rare(self, validator: str, draws: Sequence[Draw]) -> list[Draw]:
        """Of the draws at one site, the `CHOSEN` with the rarest encoding in the result.

        The cost counts as an encoding where it hardly ever differs from the usual one there.
        """
        costs = Counter(draw.cost for draw in draws)
        usual = costs.most_common(1)[0][0]
        regular = len(costs) <= len(draws) * VARIED
        every = []
        for draw in draws:
            keys = [(validator, f"{at}", *one) for at, one in enumerate(draw.encodings)]
            keys.append((validator, "secret", *encoding(draw.secret)))
            if regular:
                keys.append((validator, "cost", draw.cost - usual, 0, ""))
            self._seen.update(keys)
            every.append((draw, keys))
        self._drawn[validator] += len(draws)
        most = self._drawn[validator] * RARE
        found: list[tuple[int, int, Draw]] = []
        for number, (draw, keys) in enumerate(every):
            new = [self._seen[key] for key in keys if self._tried[key] < SELDOM]
            if new and min(new) <= most:
                found.append((min(new), number, draw))
        chosen = sorted(found, key=lambda one: one[:2])[:CHOSEN]
        for _, number, _ in chosen:
            self._tried.update(every[number][1])
        return [draw for *_, draw in chosen]

    def places(
        self, target: Target, draws: SecretDraws, secret: bytes, chance: FastChance
    ) -> Iterator[Site]:
        """The site with this secret, and the place after it, where the opponent plays on."""
        words = draws.words(secret)
        site = draws.site
        state, move = in_value(site.state, words), in_bytes(site.play.move, words)
        other = moved(target, site, state, move)
        if other is None:
            return
        yield other
        step = program_step(target, other)
        if step is None or step.validator not in self._held:
            return  # nothing is known yet of what an opponent holds there
        held = tuple(self._held[step.validator].values())
        following = _played_on(target, other, step, held, chance)
        if following is not None:
            yield following


def _played_on(
    target: Target, site: Site, step: Next, held: tuple[Value, ...], chance: FastChance
) -> Site | None:
    """The place after a move, with a move of the player that receives it; None if it settles.

    `held` is the evidence that is assumed against that move, besides its own.
    """
    after = position_after(site.before, step, site.play.move, site.play.share)
    player = site.receiver.moved(after)
    if not player.choices():
        return None
    try:
        play = player.act(any_action(player, Chance(chance.bytes(16))))
    except IllegalAction:
        return None
    if not isinstance(play, Play):
        return None
    receiver = Recorded(after, (play.evidence, *held), after.mover.other)
    return make_site(target, after, play, site.amount, receiver, guessed=True)
