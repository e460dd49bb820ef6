"""Sites: positions at which a move is judged, from hands, and their variants.

A site has its argument bytes prepared: a case patches the move, the share and the evidence in.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TypeAlias

import msgspec

from channelsim.channel.errors import InvariantError
from channelsim.channel.findings.finding import Reach
from channelsim.channel.lab.sites.commitments import special_secrets
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.values import leaves, with_leaf
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.values import NIL, Value, int_to_atom, serialize, serialize_atom
from channelsim.games.contract import Play, Player, Position, RawState, Slash, State, Valid, Verdict
from channelsim.games.errors import BadState
from channelsim.games.evidence import Evidence, as_evidence, for_challenger
from channelsim.games.judge import NO_ADDRESS
from channelsim.games.referee import FIRST

HEADS = (16, 17, 32, 48)
"""The lengths in bytes of the parts of moves that may open a commitment."""

KEYS = (b"\xaa" * 48, b"\xbb" * 48)
"""The mover's and the waiter's referee key on every coin."""

TIMEOUT = 15
NONCE = 4


Call: TypeAlias = tuple[bytes, int, Value]
"""A move, the share that it declares, and the evidence against it."""


class Site(msgspec.Struct, frozen=True):
    """A validator about to judge a move, and an honest move there.

    `before` is the position, `state` its state as a value, and `held` is what the receiver's own
    logic holds against the honest move. `natural`: play can reach it, so the receiver's logic may
    be asked; elsewhere rules and program are only compared. `known` is what the honest move
    leads to where no rules can tell. `base` is the place of a hand that this is a variant of.
    `guessed`: play can reach it, but the receiver's evidence is only assumed, so that the laws
    that need all of it are not tried. `others` are moves of the same hand, made at other places.
    `lie` says what a player did in the hand before that no honest player does; empty if nothing.
    `led` are the places of the hand before this one, in order, each with its move.
    The arguments of a case are `opening` MOVE `between` SHARE `rest` EVIDENCE `END`.
    """

    validator: str
    before: Position
    state: Value
    play: Play
    amount: int
    receiver: Player
    held: tuple[Value, ...]
    natural: bool
    opening: bytes
    between: bytes
    rest: bytes
    known: Valid | None = None
    base: Site | None = None
    guessed: bool = False
    others: tuple[Play, ...] = ()
    lie: str = ""
    led: tuple[tuple[Position, Play], ...] = ()

    @property
    def reach(self) -> Reach:
        """The way to this place: it was played, one player can bring it about, or nobody knows."""
        if not self.natural:
            return "nobody knows"
        return "one player's own choice" if self.lie or self.base is not None else "played"

    def environment(self, move: bytes, share: int, evidence: Value) -> bytes:
        """The validator's serialized environment for one call."""
        written = serialize_atom(move), serialize_atom(int_to_atom(share)), serialize(evidence)
        parts = (self.opening, written[0], self.between, written[1], self.rest, written[2], END)
        return b"".join(parts)

    def fits(self, move: bytes, share: int) -> bool:
        """True if the referee takes a move of this size and a share of this amount."""
        return len(move) <= self.before.max_move_size and 0 <= share <= self.amount

    def candidates(self, move: bytes) -> tuple[Evidence, ...]:
        """The evidence that the receiver's own logic holds against a move, `()` first."""
        return tuple(map(as_evidence, (NIL, *self.receiver.evidence(self.before, move))))

    def evidence(self, move: bytes) -> tuple[Value, ...]:
        """The values of this evidence."""
        return tuple(candidate.value for candidate in self.candidates(move))

    def signatures(self, move: bytes) -> tuple[bytes, ...]:
        """The known signatures: those of the evidence against this move or the honest one."""
        known = (*self.candidates(move), *self.candidates(self.play.move))
        return tuple(filter(None, dict.fromkeys(evidence.signature for evidence in known)))

    def rules_say(self, target: Target, move: bytes, share: int, evidence: Value) -> Verdict:
        """The verdict of the target's rules on a call at this site."""
        judge = target.judge(self.validator)
        if judge is None:
            raise InvariantError(f"there are no rules for {self.validator}")
        return judge(self.before.state, move, share, self.amount, evidence, target.hashes)

    def ruling(self, target: Target, move: bytes, share: int) -> tuple[Slash | Valid | None, Value]:
        """The rules' verdict for an opponent with its own evidence, and the evidence that decides.

        A move whose extra conditions the evidence meets is slashed. None where the rules raise on
        all of the evidence, or where there are no rules and no record says that this move is legal.
        """
        if target.judge(self.validator) is None:
            honest = (move, share) == (self.play.move, self.play.share)
            return (self.known if honest else None), self.play.evidence
        legal: tuple[Valid | None, Value] = (None, NIL)
        for evidence in self.candidates(move):
            said = self.rules_say(target, move, share, evidence.value)
            verdict = for_challenger(said, evidence.signature)
            if isinstance(verdict, Slash):
                return verdict, evidence.value
            if isinstance(verdict, Valid):
                legal = verdict, evidence.value
        return legal


END = b"\xff" + serialize(NO_ADDRESS) + b"\x80"
_BETWEEN = b"\xff" + serialize(NIL) + b"\xff" + serialize(NIL) + b"\xff"


def make_site(
    target: Target,
    before: Position,
    play: Play,
    amount: int,
    receiver: Player,
    natural: bool = True,
    known: Valid | None = None,
    base: Site | None = None,
    guessed: bool = False,
    others: tuple[Play, ...] = (),
    lie: str = "",
) -> Site:
    """Make a site, with the constant parts of its arguments serialized."""
    if before.validator is None or before.state is None:
        raise InvariantError("a site after the end of a game")
    program, state = target.programs[before.validator], before.state.value()
    timeout, mojos, nonce = map(int_to_atom, (TIMEOUT, amount, NONCE))
    fields = (*KEYS, timeout, mojos, target.referee.hash, nonce)
    items = b"".join(b"\xff" + serialize(field) for field in fields)
    offered = receiver.evidence(before, play.move) if natural else ()
    values = tuple(as_evidence(evidence).value for evidence in offered)
    return Site(
        validator=before.validator,
        before=before,
        state=state,
        play=play,
        amount=amount,
        receiver=receiver,
        held=values or (play.evidence,),
        natural=natural,
        opening=b"\xff%b\xff%b\xff" % (serialize(program.hash), items),
        between=_BETWEEN,
        rest=b"\xff%b\x80\xff%b\xff%b\xff"
        % (serialize(FIRST), serialize(state), program.serialized),
        known=known,
        base=base,
        guessed=guessed,
        others=others,
        lie=lie,
    )


def recommitted(target: Target, site: Site, chance: FastChance, fresh: bool = False) -> Site | None:
    """The same site, but its mover committed to another value, and opens that one.

    This tries other cards and masks, and secrets that nobody draws, without playing another hand.
    None where the move opens no commitment. `fresh`: the value is always a random one of the right
    length.
    """
    atoms = [atom for atom in leaves(site.state) if len(atom) == 32]
    move = site.play.move
    for size in (*HEADS, len(move)):
        if size > len(move) or (image := sha256(move[:size]).digest()) not in atoms:
            continue
        changed = bytearray(move[:size])
        known = [atom for atom in leaves(site.state) if len(atom) == size and atom != image]
        lot = 0.9 if fresh else chance.random()
        if lot < 0.3 and known:
            # The opponent's revealed secret as the mover's own: equal cards, equal tosses.
            changed = bytearray(chance.pick(known))
        elif lot < 0.6 and size:
            changed[-1] = chance.below(256)
        elif lot < 0.64:
            # Something of another length: nothing but a rule about lengths refuses it.
            other = (*HEADS, max(size - 1, 0), size + 1)[int(chance.random() * (len(HEADS) + 2))]
            if other + len(move) - size > site.before.max_move_size:
                other = size
            changed = bytearray(chance.bytes(other))
        elif lot < 0.84:
            changed = bytearray(chance.pick(special_secrets(move[:size], known)))
        elif lot < 0.97:
            changed = bytearray(chance.bytes(size))
        committed = bytearray(sha256(changed).digest())
        if lot >= 0.97:
            # A commitment that nothing opens, one bit away from that of the honest secret: what
            # another secret shows may break other rules.
            committed[chance.below(len(committed))] ^= 1 << chance.below(8)
        at = list(leaves(site.state)).index(image)
        state = with_leaf(site.state, at, bytes(committed))
        play = msgspec.structs.replace(site.play, move=bytes(changed) + move[size:])
        return elsewhere(target, site, state, site.amount, play, natural=True)
    return None


def typed(target: Target, validator: str, state: Value) -> State | None:
    """The state as the validator's reader has it; None if that refuses it."""
    if target.rules is None:
        return RawState(state)
    try:
        return target.game.validators[validator].read_state(state, target.hashes)
    except BadState:
        return None


def elsewhere(
    target: Target, site: Site, state: Value, amount: int, play: Play, natural: bool
) -> Site | None:
    """The site with another state, amount and move; None where the reader refuses the state."""
    read = typed(target, site.validator, state)
    if read is None:
        return None
    before = msgspec.structs.replace(site.before, state=read)
    base = site.base or site
    return make_site(
        *(target, before, play, amount, site.receiver, natural),
        base=base,
        guessed=site.guessed,
        others=site.others,
        lie=site.lie,
    )
