"""The target's referee, run for real: whether it lets a move through, and whether a slash pays.

No model of the referee decides anything here; the coin is the one that its move path makes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import msgspec
from chia_rs import tree_hash as hash_of_bytes

from channelsim.channel.lab.sites.site import KEYS, NONCE, TIMEOUT, Site
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.curry import curry
from channelsim.clsp.programs import Program
from channelsim.clsp.run import (
    CostExceeded,
    Outcome,
    ProgramValid,
    run_serialized,
)
from channelsim.clsp.values import (
    NIL,
    NotAList,
    Value,
    atom_to_int,
    from_list,
    int_to_atom,
    serialize,
    to_list,
    tree_hash,
)
from channelsim.games.contract import Next
from channelsim.games.evidence import met
from channelsim.games.judge import commitment
from channelsim.games.referee import (
    AGG_SIG_ME,
    AGG_SIG_UNSAFE,
    CREATE_COIN,
    FIRST,
    GameCoin,
    infohash,
)

ADDRESS = b"\x0a" * 32
"""The payout address of the challenger."""

_ADDRESS = serialize(ADDRESS)

_CREATE, _SIGNED = int_to_atom(CREATE_COIN), {int_to_atom(AGG_SIG_ME), int_to_atom(AGG_SIG_UNSAFE)}


LIE = b"\xee" * 32
"""A commitment to nothing that any move leads to."""


class SlashResult(Enum):
    """The outcome of a slash."""

    PAYS = "pays"
    FAILS = "fails"
    TOO_COSTLY = "costs more than a block"


class Commitment(msgspec.Struct, frozen=True):
    """Commitment of a move to the next one, raw, since a cheat may choose every byte."""

    infohash: Value
    size: Value


UNKNOWN_COST = 5_000_000
"""The assumed cost of a run that raised: the interpreter does not report it."""

SEEN = 256
"""The most different runs that are remembered."""


@dataclass
class RefereeRunner:
    """Runs of one target's referee. `spent` adds up what they cost; `seen` has a solution, with
    the coin's fields, for each different way in which one ended."""

    target: Target
    spent: int = 0
    seen: dict[tuple[str, int], tuple[Value, bytes]] = field(default_factory=dict)

    def coin(self, site: Site) -> GameCoin:
        """The coin that the site's mover spends."""
        program, before = self.target.programs[site.validator], site.before
        return GameCoin(
            mover_key=KEYS[1],
            waiter_key=KEYS[0],
            timeout=TIMEOUT,
            amount=site.amount,
            mod_hash=self.target.referee.hash,
            nonce=NONCE,
            move=before.move,
            max_move_size=before.max_move_size,
            infohash_b=infohash(program.hash, tree_hash(site.state)),
            mover_share=before.mover_share,
            infohash_a=FIRST,
        )

    def after(
        self, site: Site, move: Value, share: Value, declared: Commitment
    ) -> tuple[Value, ...]:
        """The eleven fields of the coin that a move makes."""
        coin = self.coin(site)
        mover, waiter, *same = coin.atoms()[:6]
        other = (move, declared.size, declared.infohash, share, coin.infohash_b)
        return (waiter, mover, *same, *other)

    def puzzle(self, fields: tuple[Value, ...]) -> Program:
        """The whole puzzle of a coin with these fields."""
        return curry(self.target.referee, to_list(fields))

    def move(self, site: Site, fields: tuple[Value, ...]) -> Outcome:
        """Spend the site's coin by a move, to the coin with these fields."""
        move, size, commits, share = fields[6:10]
        solution = serialize(to_list((move, commits, share, size)))
        return self.spend(self.coin(site).atoms(), solution)

    def passes(self, site: Site, fields: tuple[Value, ...]) -> bool:
        """True if the move path makes exactly this coin."""
        outcome = self.move(site, fields)
        coins = [coin for code, *coin in conditions(outcome) if code == _CREATE]
        puzzle_hash = hash_of_bytes(self.puzzle(fields).serialized)
        return coins == [[puzzle_hash, int_to_atom(site.amount)]]

    def slash(self, site: Site, fields: tuple[Value, ...], evidence: Value) -> SlashResult:
        """Try to slash the coin with these fields, as its mover."""
        return self.ended(site, fields, self.spend(fields, self.slash_solution(site, evidence)))

    def slash_run(
        self, site: Site, fields: tuple[Value, ...], evidence: Value
    ) -> tuple[bytes, bytes]:
        """The puzzle and the solution of such a slash, serialized."""
        return self.puzzle(fields).serialized, self.slash_solution(site, evidence)

    def slash_solution(self, site: Site, evidence: Value) -> bytes:
        """The solution of a slash of the site's move, serialized."""
        program = self.target.programs[site.validator].serialized
        state, proof = serialize(site.state), serialize(evidence)
        # As `games.referee.slash_solution`, without reading the program to write it again.
        return b"\xff%b\xff%b\xff%b\xff%b\x80" % (state, program, proof, _ADDRESS)

    def ended(self, site: Site, fields: tuple[Value, ...], outcome: Outcome) -> SlashResult:
        """The outcome of a slash: it pays when everything goes to the challenger, and no signature
        is asked for that the challenger does not have."""
        if isinstance(outcome, CostExceeded):
            return SlashResult.TOO_COSTLY
        everything = (_CREATE, ADDRESS, int_to_atom(site.amount))
        if everything not in conditions(outcome):
            return SlashResult.FAILS
        pays = self.signature(site, fields, outcome) is not None
        return SlashResult.PAYS if pays else SlashResult.FAILS

    def signature(self, site: Site, fields: tuple[Value, ...], outcome: Outcome) -> bytes | None:
        """The signature of others that a slash needs, out of those that go with the evidence.

        Empty if it needs none, None if no known one meets its conditions.
        """
        asked = [
            to_list((code, key, message))
            for code, key, message in conditions(outcome)
            if code in _SIGNED and key != fields[0]
        ]
        if not asked:
            return b""
        move = fields[6]
        known = site.signatures(move) if isinstance(move, bytes) else ()
        return next((signature for signature in known if met(asked, signature)), None)

    def spend(self, fields: tuple[Value, ...], solution: bytes) -> Outcome:
        """Spend the coin with these fields by a serialized solution."""
        outcome = run_serialized(self.puzzle(fields).serialized, solution)
        cost = getattr(outcome, "cost", 0)
        self.spent += cost or UNKNOWN_COST
        how = (type(outcome).__name__, cost)
        if how not in self.seen and len(self.seen) < SEEN:
            self.seen[how] = (to_list(fields), solution)
        return outcome

    def honest(self, step: Next | None) -> Commitment:
        """The commitment of an honest mover to a legal move that leads to `step`."""
        size = int_to_atom(step.max_move_size) if step else NIL
        return Commitment(commitment(step, self.target.hashes), size)

    def best_cheat(self, site: Site, arguments: bytes) -> Commitment:
        """The best commitment for a cheat: the program's own result where it accepts the move."""
        outcome = run_serialized(self.target.programs[site.validator].serialized, arguments)
        if isinstance(outcome, ProgramValid):
            match outcome.value:
                case (bytes(program), (state, (bytes(size), _))) if program:
                    return Commitment(infohash(program, tree_hash(state)), size)
        return Commitment(NIL, NIL)


def conditions(outcome: Outcome) -> list[tuple[Value, Value, Value]]:
    """The code and the first two arguments of each condition; none of a run that failed."""
    if not isinstance(outcome, ProgramValid):
        return []
    try:
        listed = [from_list(condition) for condition in from_list(outcome.value)]
    except NotAList:
        return []
    padded = [[*condition, NIL, NIL, NIL] for condition in listed]
    return [(code, first, second) for code, first, second, *_ in padded]


def paid(outcome: Outcome) -> dict[Value, int]:
    """The payouts of a spend, by address."""
    return {
        address: atom_to_int(amount)
        for code, address, amount in conditions(outcome)
        if code == _CREATE and isinstance(amount, bytes)
    }
