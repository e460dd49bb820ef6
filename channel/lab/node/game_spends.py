"""Honest and wrong spends of game coins, each with the prediction of the referee's Python model.

The coins come from generated hands and their mutated moves; the model is `games.referee` with the
game's Python rules in the place of its validators. The model runs no program; only what serves a
cheat best is asked of the target's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import msgspec

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.lab.cases.trial import Trial
from channelsim.channel.lab.crosscheck.chunks import chunks
from channelsim.channel.lab.referee.referee_runs import LIE, Commitment
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.values import atom_of
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.values import NIL, Value, atom_to_int, int_to_atom, to_list
from channelsim.games.contract import Raise, Slash, Valid
from channelsim.games.evidence import unchecked
from channelsim.games.judge import result_value
from channelsim.games.referee import FIRST, GameCoin, RefereeRefusal
from channelsim.games.referee_paths import ValidatorRaised, conditions_of, path_of

ADDRESSES = (b"\x0a" * 32, b"\x0b" * 32)
"""The payout addresses of the mover and the waiter."""


@dataclass
class SpendDraft:
    """A spend in the making: its solution is the list of `items` that ends in `tail`."""

    coin: GameCoin
    items: list[Value]
    age: int
    signs: bool = True
    tail: Value = NIL

    def solution(self) -> Value:
        """The solution of the spend."""
        return to_list(self.items, self.tail)


Fault = Callable[[SpendDraft, FastChance], None]
"""Makes a draft wrong in one way, or another one right: the model says which."""


def _item(at: int, *values: Value) -> Fault:
    """Another item in this place."""

    def change(draft: SpendDraft, chance: FastChance) -> None:
        """Put one of these values there."""
        draft.items[at] = chance.pick(values)

    return change


def _other_coin(**fields: Any) -> Fault:
    """A coin with other fields."""

    def change(draft: SpendDraft, chance: FastChance) -> None:
        """Give the coin these fields."""
        draft.coin = msgspec.structs.replace(draft.coin, **fields)

    return change


def _paired(at: int) -> Fault:
    """A pair where an atom belongs, or a pair of what belongs there and something."""

    def change(draft: SpendDraft, chance: FastChance) -> None:
        """Put a pair there."""
        draft.items[at] = (draft.items[at], NIL)

    return change


def _too_long(draft: SpendDraft, chance: FastChance) -> None:
    draft.items[0] = bytes(draft.coin.max_move_size + chance.between(1, 3))


def _too_much(draft: SpendDraft, chance: FastChance) -> None:
    draft.items[2] = int_to_atom(draft.coin.amount + chance.between(1, 300))


def _more_bytes(draft: SpendDraft, chance: FastChance) -> None:
    at = chance.pick((2, 3))
    draft.items[at] = b"\x00" + atom_of(draft.items[at])


def _late(draft: SpendDraft, chance: FastChance) -> None:
    draft.age = draft.coin.timeout + chance.between(0, 2)


def _early(draft: SpendDraft, chance: FastChance) -> None:
    draft.age = chance.between(0, draft.coin.timeout - 1)


def _unsigned(draft: SpendDraft, chance: FastChance) -> None:
    draft.signs = False


def _one_more(draft: SpendDraft, chance: FastChance) -> None:
    draft.items.append(chance.pick((NIL, b"\x01", (NIL, NIL))))


def _one_less(draft: SpendDraft, chance: FastChance) -> None:
    draft.items.pop()


def _no_list(draft: SpendDraft, chance: FastChance) -> None:
    draft.tail = b"\x01"


def _other_address(draft: SpendDraft, chance: FastChance) -> None:
    """An address for no payout, or a payout without one."""
    at = chance.pick((0, 1))
    draft.items[at] = NIL if draft.items[at] else ADDRESSES[at]


_SHAPE: tuple[Fault, ...] = (_one_more, _one_less, _no_list, _unsigned)

WRONG_MOVES: tuple[Fault, ...] = (
    *_SHAPE,
    *(_too_long, _too_much, _more_bytes, _other_coin(infohash_b=b""), _late),
    *(_paired(0), _paired(1), _paired(2), _paired(3)),
    _item(1, b"\x00", LIE[:31], LIE + b"\xee"),
    _item(2, b"\xff", b"\x80"),
    _item(3, b"\xff", b"\x80\x00"),
    _item(3, b"\x01\x00\x00", b"\x00\x80\x00"),
)
WRONG_TIMEOUTS: tuple[Fault, ...] = (
    *_SHAPE,
    *(_early, _early, _other_address, _other_address),
    *(_paired(0), _paired(1)),
)
WRONG_SLASHES: tuple[Fault, ...] = (
    *_SHAPE,
    *(_paired(0), _item(1, (b"\x01", NIL), (b"\x08", NIL)), _other_coin(infohash_a=FIRST)),
    *(_paired(3), _item(3, NIL)),
)


KEYS = tuple(SecretKeys.derive(derive(b"positions", "player", seat)).referee for seat in (0, 1))
"""The referee keys of both players."""

PUBLIC = tuple(bytes(key.get_g1()) for key in KEYS)

LONGEST_TIMEOUT = 12

AT_A_SITE = 2
"""The number of spends of each path that are made at one site."""

CHUNK = 512
"""Cases are made in chunks of this many: many hands, few changes of each move."""

RAISED = "the validator raises"


@dataclass(frozen=True)
class GameSpend:
    """A game coin, a spend of it `age` blocks after it was made, and who signs.

    `asked` are the conditions of the model, or None where it refuses, by `rule`. `signs` says
    for each signature that is asked for whether it is made by the key that must. `known` are
    the signatures of others that a slash may use.
    """

    number: int
    coin: GameCoin
    solution: Value
    age: int
    signs: bool
    asked: Value | None
    rule: str
    known: tuple[bytes, ...] = ()

    @property
    def path(self) -> str:
        """The path of the referee that it takes."""
        return path_of(self.solution)

    def __repr__(self) -> str:
        return f"position {self.number}: a {self.path} at age {self.age} of {self.coin.timeout}"


def game_spends(target: Target, seed: str) -> Iterator[GameSpend]:
    """Spends without end, the same for the same seed; no two coins are alike (by their nonce).

    About half of them are wrong in one way. Raises `UsageError` for a target without rules.
    """
    _ = target.game  # raises `UsageError` without rules
    chance = FastChance(derive(seed.encode(), "positions"))
    numbers = count()
    for trial in chunks(target, seed, CHUNK):
        site = trial.site
        if not (site.natural and site.fits(site.play.move, site.play.share)):
            continue  # no coin comes of it: a longer secret was put behind the commitment
        maker = _Maker(trial, chance)
        for make in (maker.move, maker.timeout, maker.slash):
            for _ in range(AT_A_SITE):
                draft = make()
                if not maker.unpredictable(draft):
                    yield maker.judged(next(numbers), draft)


class _Maker:
    """The spends of one place."""

    def __init__(self, trial: Trial, chance: FastChance) -> None:
        self._trial = trial
        self._chance = chance
        self._before = msgspec.structs.replace(
            trial.runner.coin(trial.site),
            mover_key=PUBLIC[0],
            waiter_key=PUBLIC[1],
            timeout=chance.between(1, LONGEST_TIMEOUT),
            infohash_a=chance.bytes(32),
        )

    # --- predictions of the model ---

    def unpredictable(self, draft: SpendDraft) -> bool:
        """True if the slash asks for conditions that no model can predict."""
        coin, trial = draft.coin, self._trial
        match draft.items:
            case [_, tuple(), evidence, *_]:
                verdict = trial.site.rules_say(trial.target, coin.move, coin.mover_share, evidence)
                return isinstance(verdict, Valid) and bool(unchecked(verdict.conditions))
            case _:
                return False

    def judged(self, number: int, draft: SpendDraft) -> GameSpend:
        """The spend with the model's prediction."""
        coin, solution = msgspec.structs.replace(draft.coin, nonce=number), draft.solution()
        asked: Value | None = None
        rule = ""
        try:
            asked = conditions_of(coin, solution, lambda *called: self._run(coin, *called))
        except RefereeRefusal as refusal:
            rule = refusal.rule
        except ValidatorRaised:
            rule = RAISED
        known = self._trial.site.signatures(coin.move)
        return GameSpend(number, coin, solution, draft.age, draft.signs, asked, rule, known)

    def _run(self, coin: GameCoin, _program: Value, _state: Value, evidence: Value) -> Value:
        trial = self._trial
        verdict = trial.site.rules_say(trial.target, coin.move, coin.mover_share, evidence)
        match verdict:
            case Valid(step, conditions):
                return result_value(step, trial.target.hashes, conditions)
            case Slash():
                return NIL
            case Raise():
                raise ValidatorRaised

    # --- moves ---

    def move(self) -> SpendDraft:
        """A move by the mover of the place's coin."""
        move, share, commitment, size = self._declared(lies=0.3)
        items: list[Value] = [move, commitment, int_to_atom(share), int_to_atom(size)]
        draft = SpendDraft(self._before, items, self._chance.between(0, self._before.timeout - 1))
        return self._perhaps_wrong(draft, 0.5, WRONG_MOVES)

    def _declared(self, lies: float) -> tuple[bytes, int, bytes, int]:
        """A move of the place, honest or changed, its share, commitment and size limit: one that
        the referee takes."""
        trial, site, pick = self._trial, self._trial.site, self._chance.pick
        fits = [
            (case.move, case.share, case.arguments)
            for case in trial.cases
            if site.fits(case.move, case.share)
        ]
        move, share, arguments = pick(fits or [(site.play.move, site.play.share, b"")])
        verdict, _ = trial.site.ruling(trial.target, move, share)
        lie = self._chance.random() < lies
        if isinstance(verdict, Valid):
            commitment = atom_of(trial.runner.honest(verdict.next).infohash)
            size = verdict.next.max_move_size if verdict.next else 0
            if lie:
                commitment, size = pick((commitment, b"", LIE)), pick((0, size, size + 1))
        elif lie or not arguments:
            commitment, size = pick((b"", LIE)), pick((0, 17, 32, 300))
        else:
            match trial.runner.best_cheat(site, arguments):
                case Commitment(infohash=bytes(commitment), size=bytes(written)):
                    size = atom_to_int(written)
                    size = size if 0 <= size < 1 << 15 else 0
                case _:
                    commitment, size = LIE, 0
        return move, share, commitment, size

    # --- timeouts ---

    def timeout(self) -> SpendDraft:
        """The end of a coin before the place's move, or after it."""
        coin = self._before
        if self._chance.random() < 0.5:
            move, share, commitment, size = self._declared(lies=0.2)
            coin = coin.after(move, commitment, share, size)
        lot = self._chance.random()
        if lot < 0.4:
            coin = msgspec.structs.replace(coin, mover_share=0 if lot < 0.2 else coin.amount)
        items: list[Value] = [
            address if share else NIL
            for address, share in zip(ADDRESSES, (coin.mover_share, coin.waiter_share), strict=True)
        ]
        draft = SpendDraft(coin, items, coin.timeout + self._chance.between(0, 2))
        return self._perhaps_wrong(draft, 0.5, WRONG_TIMEOUTS)

    # --- slashes ---

    def slash(self) -> SpendDraft:
        """The slash of a coin that a move of the place made."""
        trial, site = self._trial, self._trial.site
        move, share, commitment, size = self._declared(lies=0.5)
        coin = self._before.after(move, commitment, share, size)
        evidence: Value = self._chance.pick(trial.site.evidence(move))
        if self._chance.random() < 0.3:
            evidence = self._chance.pick(trial.cases).evidence
        program = trial.target.programs[site.validator].value
        items: list[Value] = [site.state, program, evidence, ADDRESSES[0]]
        draft = SpendDraft(coin, items, self._chance.between(0, coin.timeout + 2))
        return self._perhaps_wrong(draft, 0.3, WRONG_SLASHES)

    # --- choices ---

    def _perhaps_wrong(
        self, draft: SpendDraft, share: float, wrongs: tuple[Fault, ...]
    ) -> SpendDraft:
        if self._chance.random() < share:
            self._chance.pick(wrongs)(draft, self._chance)
        return draft
