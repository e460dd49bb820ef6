"""The player: what a seat may do in each state, and the move that does it."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from channelsim.games.chance import Chance
from channelsim.games.contract import Forced, Moves, Plain, PlainPlayer, Play, Seat, Terms

from newgame.rules import Ending, Revealing, alices_share, initial


def legal_salt(chance: Chance) -> bytes:
    """Draw 15 bytes, which keep a number from being guessed: a secret is a salt and a number."""
    return chance.bytes(15)


def possible_salt(chance: Chance, salt: bytes) -> bytes:
    """Draw a salt that makes a secret of another length: by one byte, or by any."""
    return salt[:-1] if chance.chance(50) else salt[: chance.below(15)]


def player(seat: Seat, terms: Terms, entropy: bytes, hidden: Mapping[str, bytes]) -> PlainPlayer:
    """A player at the start of a hand, with what it hides: `legal_salt` drew it from `entropy`."""
    return PlainPlayer(seat, terms, initial(terms).position, entropy, moves, hidden=hidden)


def moves(player: PlainPlayer) -> Moves:
    """The choices of a player: whether its number is odd is its only decision.

    It hides its decision, and remembers it until it reveals. A move leaves the opponent nothing
    before the end (a share of 0), so who stops loses the pot.
    """
    secret = player.hidden["salt"] + player.memory
    match player.position.state:
        case Revealing():
            return {Forced("reveal"): Play(secret, 0)}
        case Ending(odd=odd):
            return {Forced("reveal"): Play(secret, alices_share(odd, secret, player.terms.amount))}
        case _:
            return {Plain("even"): committed(secret, 0), Plain("odd"): committed(secret, 1)}


def committed(salt: bytes, number: int) -> Play:
    """The move that commits to a number; `memory` gives the number back as `player.memory`."""
    memory = bytes([number])
    return Play(sha256(salt + memory).digest(), 0, memory=memory)
