"""Moves of honest play, as arguments of their validator: what is known of a program without rules.

With rules they are those of hands that are played, else those of the file of honest play.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from channelsim.channel.lab.sites.commitments import opening
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.honest_play import recorded_sites
from channelsim.channel.lab.sites.site import Site, make_site
from channelsim.channel.lab.sites.values import leaves
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.arguments import (
    AMOUNT,
    EVIDENCE,
    MORE,
    STATE,
    Steps,
    coin_field,
    part,
    replaced,
)
from channelsim.channel.prove.inputs import Inputs
from channelsim.channel.prove.judged import Judged, Leads, judged_really
from channelsim.channel.prove.reruns import Run, plain
from channelsim.channel.prove.symbols import Condition
from channelsim.clsp.run import run_serialized
from channelsim.clsp.values import NIL, Value, atom_to_int, deserialize, to_list
from channelsim.games.amounts import counted

HANDS = 40
"""The hands that are played to find honest moves."""

MOST = 12
"""The most honest moves of one size that are looked at."""

PIECES = 3
"""The most pieces of evidence that are held against a move."""


@dataclass(frozen=True)
class HonestMove:
    """A move of honest play: its arguments, serialized, with the first evidence on which the
    program takes it; `pieces` are all that its opponent holds, `()` among them.

    `opened` are the bytes of the move, from and to, whose hash is in the state; `taken`: there is
    evidence on which the program takes it. `free`: play has the same move with other shares.
    """

    serialized: bytes
    size: int
    share: int
    pieces: tuple[Value, ...]
    opened: tuple[int, int] | None
    taken: bool
    free: bool

    @cached_property
    def arguments(self) -> Any:
        """The arguments as a value."""
        return deserialize(self.serialized)

    @property
    def state(self) -> Value:
        """The state in which it was made."""
        state: Value = part(self.arguments, STATE)
        return state

    @property
    def amount(self) -> int:
        """The mojos of the coin."""
        return atom_to_int(part(self.arguments, coin_field(AMOUNT)))

    @property
    def taken_with(self) -> Value:
        """The evidence among the arguments."""
        evidence: Value = part(self.arguments, EVIDENCE)
        return evidence


def honest_moves(target: Target, validator: str) -> tuple[HonestMove, ...]:
    """Different honest moves of a validator, at most `MOST` of each size."""
    sites = list(_sites(target, validator))
    counts: dict[int, int] = {}
    shares: dict[tuple[bytes, Value, int], set[int]] = {}
    for site in sites:
        key = site.play.move, site.state, site.amount
        shares.setdefault(key, set()).add(site.play.share)
    moves: dict[bytes, HonestMove] = {}
    for site in sites:
        size = len(site.play.move)
        move = _honest(target, site, len(shares[site.play.move, site.state, site.amount]) > 1)
        if move.serialized not in moves and counts.get(size, 0) < MOST:
            counts[size] = counts.get(size, 0) + 1
            moves[move.serialized] = move
    return tuple(moves.values())


def honest_inputs(
    inputs: Inputs,
    moves: Iterable[HonestMove],
    call: Callable[[HonestMove, int], tuple[Any, tuple[Condition, ...]]],
) -> Inputs:
    """The inputs that are a call made of one of these moves, and of its number; none without."""
    calls = [call(move, number) for number, move in enumerate(moves)]
    if not calls:
        return inputs.instead(inputs.environment, [False])
    return inputs.instead(inputs.choice("honest move", calls))


def with_pieces(environment: Any, move: HonestMove) -> Any:
    """The arguments with the evidence that its opponent holds behind them, as often as needed."""
    pieces = (*move.pieces, *move.pieces[:1] * PIECES)[:PIECES]
    return replaced(environment, MORE, to_list(pieces))


def runs_with_pieces(run: Callable[..., Run], wanted: Callable[[Judged], bool]) -> tuple[Run, ...]:
    """Runs with each piece of evidence behind the arguments, while they end as wanted.

    `run` makes one from its name, the change of the arguments, the run before, and `wanted`.
    """
    runs: list[Run] = []
    for number in range(PIECES):
        steps = (*MORE, *[1] * number, 0)

        def change(environment: Any, steps: Steps = steps) -> Any:
            return plain(replaced(environment, EVIDENCE, part(environment, steps)))

        name = f"evidence {number}" if number else ""
        runs.append(run(name, change, runs[-1] if runs else None, wanted))
    return tuple(runs)


def source(target: Target, moves: int) -> str:
    """Where the moves are from, in words."""
    kind = f"{HANDS} hands that were played" if target.rules is not None else "the file"
    return f"{counted(moves, 'honest move')} of {kind}"


def _sites(target: Target, validator: str) -> Iterator[Site]:
    if target.rules is None:
        yield from (site for site in recorded_sites(target) if site.validator == validator)
        return
    for _, hand in zip(range(HANDS), hands(target, b"prove"), strict=False):
        for turn in hand:
            if turn.before.validator == validator:
                yield make_site(target, turn.before, turn.play, turn.amount, turn.receiver)


def _honest(target: Target, site: Site, free: bool) -> HonestMove:
    play = site.play
    pieces = tuple(dict.fromkeys((NIL, play.evidence, *site.evidence(play.move))))[:PIECES]
    program = target.programs[site.validator].serialized
    working = (
        evidence
        for evidence in pieces
        if isinstance(
            ended := judged_really(
                run_serialized(program, site.environment(play.move, play.share, evidence))
            ),
            Leads,
        )
        and ended.conditions == NIL
    )
    evidence = next(working, None)
    chosen = pieces[0] if evidence is None else evidence
    return HonestMove(
        serialized=site.environment(play.move, play.share, chosen),
        size=len(play.move),
        share=play.share,
        pieces=pieces,
        opened=opening(play.move, frozenset(leaves(site.state))),
        taken=evidence is not None,
        free=free,
    )
