"""Hidden values: what a player commits to before the rules can see it, such as a board of ships.

A game declares them (`Game.hidden`): what is legal, and what a player could hide instead. The
engine draws them from a player's secret bytes before it builds the player, so the bytes and the
lies reproduce them anywhere: after a restart, in another process, in an old copy of a store.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias

from channelsim.games.chance import Chance
from channelsim.games.errors import BadLie
from channelsim.games.names import quoted
from channelsim.games.players import Player, Seat, Terms
from channelsim.plugins import called

if TYPE_CHECKING:
    from channelsim.games.contract import Game

LARGEST = 1 << 16
"""The most bytes of a hidden value."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """A value that a player of these seats hides at the start of a game, in bytes of your own form.

    `legal` draws one that the rules allow. `possible` takes such a value too, and draws what a
    cheat could hide in its place: half of the draws one change away from it (one ship more, one
    cell moved), the others anything that its commitment can hold. Both return at most 65,536
    bytes, and the same for the same chance.
    """

    name: str
    legal: Callable[[Chance], bytes]
    possible: Callable[[Chance, bytes], bytes]
    seats: tuple[Seat, ...] = (Seat.ALICE, Seat.BOB)


Lies: TypeAlias = tuple[tuple[str, bytes], ...]
"""The hidden values about which a player lies, by name, each with the seed of what it hides."""


def seated(game: Game, seat: Seat, terms: Terms, entropy: bytes, lies: Lies = ()) -> Player:
    """Build the player of a seat at the start of a game, with the values that it hides.

    Raises `BadLie`, as `hidden_values` does.
    """
    values = hidden_values(game, seat, entropy, lies)
    if not game.hidden:
        return game.player(seat, terms, entropy)
    return game.player(seat, terms, entropy, values)


def hidden_values(game: Game, seat: Seat, entropy: bytes, lies: Lies = ()) -> dict[str, bytes]:
    """Draw the values that a seat hides, by name, from its secret bytes and the seeds of its lies.

    Raises `BadLie` for two lies about one value, and for one about a value that the game does not
    declare or the seat does not hide.
    """
    seeds = dict(lies)
    hiding = {hidden.name: hidden for hidden in game.hidden if seat in hidden.seats}
    if len(seeds) < len(lies):
        raise BadLie("two lies are about one hidden value")
    if unknown := sorted(set(seeds) - set(hiding)):
        where = f"{seat.name.capitalize()} of the game {game.name}"
        known = ", ".join(hiding) or "nothing"
        raise BadLie(f"{where} hides {known}, not {quoted(unknown[0])}")
    values = {}
    for name, hidden in hiding.items():
        drawn = Chance(sha256(b"hidden/" + name.encode() + entropy).digest())
        value = legal_value(game.name, hidden, drawn)
        if name in seeds:
            value = possible_value(game.name, hidden, Chance(seeds[name]), value)
        values[name] = value
    return values


def legal_value(game: str, hidden: Hidden, chance: Chance) -> bytes:
    """Draw a legal value that a player of this game hides."""
    return called(hidden.legal, _case(game, hidden), _value_problem)(chance)


def possible_value(game: str, hidden: Hidden, chance: Chance, value: bytes) -> bytes:
    """Draw what a cheat in this game could hide in the place of a legal value."""
    return called(hidden.possible, _case(game, hidden), _value_problem)(chance, value)


def _case(game: str, hidden: Hidden) -> str:
    return f"the hidden value {hidden.name} of the game {game}"


def _value_problem(value: object) -> str:
    """What is wrong with a hidden value."""
    if not isinstance(value, bytes):
        return "not bytes"
    return "" if len(value) <= LARGEST else f"more than {LARGEST:,} bytes"
