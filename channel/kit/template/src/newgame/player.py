"""The player: what a seat may do in each state, and the move that does it."""

from __future__ import annotations

from hashlib import sha256

from channelsim.games.contract import Forced, Moves, Plain, PlainPlayer, Play, Seat, Terms

from newgame.rules import Ending, Revealing, alices_share, initial


def player(seat: Seat, terms: Terms, entropy: bytes) -> PlainPlayer:
    """A player at the start of a hand."""
    return PlainPlayer(seat, terms, initial(terms).position, entropy[:16], moves)


def moves(player: PlainPlayer) -> Moves:
    """The choices of a player: whether its number is odd is its only decision.

    A move leaves the opponent nothing before the end (a share of 0), so who stops loses the pot.
    """
    match player.position.state:
        case Revealing(alice=commitment):
            return {Forced("reveal"): Play(opening(player, commitment), 0)}
        case Ending(bob=commitment, odd=odd):
            secret = opening(player, commitment)
            share = alices_share(odd, secret, player.terms.amount)
            return {Forced("reveal"): Play(secret, share)}
        case _:
            return {
                Plain("even"): Play(sha256(numbered(player.secret, 0)).digest(), 0),
                Plain("odd"): Play(sha256(numbered(player.secret, 1)).digest(), 0),
            }


def numbered(secret: bytes, number: int) -> bytes:
    """The secret whose last byte is this number; the others keep it from being guessed."""
    return secret[:-1] + bytes([number])


def opening(player: PlainPlayer, commitment: bytes) -> bytes:
    """The secret that the player committed to."""
    even, odd = numbered(player.secret, 0), numbered(player.secret, 1)
    return even if sha256(even).digest() == commitment else odd
