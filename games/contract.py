"""The contract of a game: all that the engine knows of it, and all that an author writes.

A game is a chain of *validators*, each judging one kind of move (`games.verdicts`), and the
*player* logic of one seat: its choices, its moves, its evidence (`games.players`,
`games.choices`). `Game` puts them together; `games.story` says how a hand is shown. All of
their names can be imported from here. Three pieces fit most small games: `PlainState` (states by
their fields), `PlainPlayer` (a player by its moves) and `even_terms` (one amount, even stakes).

`examples/ticks` is the smallest game; `channelsim new-game` writes a good start for another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from channelsim.clsp.programs import Program, load
from channelsim.clsp.programs import names as ours
from channelsim.clsp.values import Value, serialize
from channelsim.games.amounts import read_amount
from channelsim.games.chance import Chance
from channelsim.games.choices import (
    Action,
    Amount,
    Choice,
    Forced,
    OneOf,
    Plain,
    choose,
    random_action,
)
from channelsim.games.errors import BadState, BadTerms, IllegalAction
from channelsim.games.even_stakes import even_stakes, even_terms
from channelsim.games.evidence import Candidate, Evidence
from channelsim.games.forms import (
    Atom,
    ByteIn,
    Form,
    Hashes,
    HashOf,
    Integer,
    ListOf,
    Opaque,
    Optional,
    Pair,
    Record,
    parts,
)
from channelsim.games.hidden import Hidden
from channelsim.games.lemma import Check, Lemma
from channelsim.games.names import quoted
from channelsim.games.pack import Pack, Rank
from channelsim.games.plain_player import Moves, PlainPlayer, Taken
from channelsim.games.players import (
    Initial,
    Parameters,
    Play,
    Player,
    Policy,
    Position,
    RememberingPlayer,
    Seat,
    Settle,
    SharedDeck,
    Terms,
    check_entropy,
)
from channelsim.games.states import Bytes16, Bytes32, Mojos, PlainState, RawState
from channelsim.games.story import Hand, Line, PlainStory, Span, Step, Story, plain_summary
from channelsim.games.verdicts import (
    Judge,
    Next,
    Raise,
    Slash,
    State,
    Valid,
    Validator,
    Verdict,
    by_name,
)

__all__ = [
    "Action",
    "Amount",
    "Atom",
    "BadState",
    "BadTerms",
    "Benchmark",
    "ByteIn",
    "Bytes16",
    "Bytes32",
    "Candidate",
    "Carry",
    "Choice",
    "Evidence",
    "Forced",
    "Form",
    "Game",
    "Hand",
    "HandsShown",
    "HashOf",
    "Hashes",
    "Hidden",
    "Initial",
    "Integer",
    "Judge",
    "Line",
    "ListOf",
    "Mojos",
    "Moves",
    "Next",
    "OneOf",
    "Opaque",
    "Optional",
    "Pack",
    "Pair",
    "Parameters",
    "Plain",
    "PlainPlayer",
    "PlainState",
    "Play",
    "Player",
    "Policy",
    "Position",
    "Raise",
    "Rank",
    "RawState",
    "Record",
    "RememberingPlayer",
    "Seat",
    "Settle",
    "SharedDeck",
    "Showdown",
    "Slash",
    "Span",
    "State",
    "Step",
    "Story",
    "Taken",
    "Terms",
    "Valid",
    "Validator",
    "Verdict",
    "by_name",
    "check_entropy",
    "even_stakes",
    "even_terms",
]

Showdown: TypeAlias = Callable[[State, bytes, Value], tuple[Rank, Rank] | None]
"""The ranks of the mover's and the waiter's hand that a validator compares, in this state, for this
move and this evidence; None where it compares none."""

HandsShown: TypeAlias = Callable[[State, bytes, Value], tuple[str, str] | None]
"""The hands of a `Showdown` in words, with their cards."""


@dataclass(frozen=True, slots=True)
class Carry:
    """Money that a hand leaves to the next one, as if it had stayed in the middle of the table.

    `left(terms, before, after)` is what each player leaves, in mojos, when the last move of a hand
    led from one position to the other. `add(parameters, mojos)` are the parameters of a hand in
    which each player puts in that much more, or as much of it as its stake allows.
    """

    left: Callable[[Terms, Position, Position], int]
    add: Callable[[Parameters, int], Parameters]


Benchmark: TypeAlias = Callable[[], Callable[[], int] | None]
"""Prepares a measurement: returns a function that does some work and returns how often.

None where it cannot be measured here (a library to compare with is not installed).
"""


def any_action(player: Player, chance: Chance) -> Action:
    """Any legal action, every choice and every number alike."""
    return random_action(chance.pick(player.choices()), chance)


def read_verb(player: Player, text: str) -> Action:
    """Read an action written as a verb, with a number where it takes one of several.

    A number alone is enough where only one choice takes any.
    """
    verb, _, number = text.strip().lower().partition(" ")
    if not verb:
        raise IllegalAction("nothing was written")
    choices = player.choices()
    numbered = [choice.verb for choice in choices if isinstance(choice, Amount | OneOf)]
    if len(numbered) == 1 and verb[0].isdigit() and not number:
        verb, number = numbered[0], verb
    amount = next((c for c in choices if isinstance(c, Amount) and c.verb == verb), None)
    if number:
        mojos = read_amount(number.strip(), amount.unit if amount else 1)
    else:
        mojos = amount.least if amount and amount.least == amount.most else 0
    action = Action(verb[:40], mojos)
    choose(choices, action)
    return action


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Game:
    """A game that can be played: one object per game, registered under its name.

    Required:

    - `name`, in commands, proposals and conformance cases;
    - `validators` by name, in the order of play (`channelsim.games.verdicts.by_name`);
    - `rules`, one sentence for each rule id that a validator or `terms` names;
    - `terms` checks the parameters of a proposal, and raises `BadTerms` with the reason;
    - `initial` is the record that both sides build for the first coin;
    - `player` is a player at the start of a game, from `entropy_size` or more secret bytes that
      are used for this game and seat only; in a game with `hidden` its fourth argument is what it
      hides, bytes by name. Only `channelsim.games.hidden.seated` calls it.

    Optional:

    - `programs`, the compiled validators by the same names, or some of them; a game without them
      can be played, but not taken to the chain (`missing` names those that it lacks);
    - `family`, the name under which the programs lie if several games share them; its own name by
      default;
    - `title` for people: a name, and one line about the game after a colon;
    - `total`, whether rules and programs are to agree in every state that `read_state` accepts,
      also in states that no play reaches; the lab then tries such states too;
    - `entropy_size`, the least number of secret bytes that a player needs; with a deck there are no
      fewer than `channelsim.games.dealing.secret_size`;
    - `deck_positions`, the positions of a prepared deck that a hand uses. `terms` leaves the deck
      out, whoever deals fills it in, and `initial` raises `BadTerms` without it. A player's secret
      bytes are then the scalars of its own locks, 32 bytes for each position, and 32 fresh bytes
      (`channelsim.games.dealing`);
    - `reveals`, whether some move reveals what its answer depends on (such games have longer
      timeouts);
    - `default_parameters(unit, stack)`, in which each player stakes `stack` units of `unit` mojos;
    - `limits`, betting structures by name, as changes of the default parameters; people choose one
      by `--limit`;
    - `button`, the seat that has the button, for sessions in which it passes from hand to hand;
    - `carry`, if a hand may leave money to the next one, or take what an earlier one left;
    - `variations`, changes of the default parameters by which the lab plays too (other betting
      structures);
    - `read_action` reads an action as people write it (`raise 2`), and raises `IllegalAction`;
    - `policies`, ways to play by name; the first is the default;
    - `story` and `summary` show a hand, in lines and as JSON data (keys `cards`, `actions`,
      `best_hands`, `result`, `payouts`);
    - `parts` of a hand (streets) in the order of play, and `part`, the one that a move at a
      position belongs to; by default the validators;
    - `benchmarks`, what else is worth measuring; each is reported as `<name>_per_second`;
    - `slash_costs`, the cost of the costliest slash by validator, as the game's design measured it:
      `scripts/bench` compares;
    - `showdown` ranks the hands that a call compares, so that the lab has every class of hands meet
      every other;
    - `pack` says what a deal of cards makes the game compare, so that the lab can choose deals in
      which rare hands meet (`Pack`); of a game with a prepared deck it then stacks the deck;
    - `hidden` declares what players commit to before the rules can see it (`Hidden`): what is
      legal, and what a cheat could hide;
    - `lemmas` are functions that programs and rules compute by other means (`Lemma`), for proofs;
    - `checks` are functions that programs and rules compute, which proofs only compare (`Check`).
    """

    name: str
    validators: Mapping[str, Validator]
    rules: Mapping[str, str]
    terms: Callable[[Parameters], Terms]
    initial: Callable[[Terms], Initial]
    player: Callable[..., Player]

    programs: Mapping[str, Program] = field(default_factory=dict)
    family: str = ""
    title: str = ""
    total: bool = False
    entropy_size: int = 32
    deck_positions: int = 0
    reveals: bool = True
    default_parameters: Callable[[int, int], Parameters] = even_stakes
    limits: Mapping[str, Parameters] = field(default_factory=dict)
    button: Seat = Seat.ALICE
    carry: Carry | None = None
    variations: tuple[Parameters, ...] = ()
    read_action: Callable[[Player, str], Action] = read_verb
    policies: Mapping[str, Policy] = field(default_factory=lambda: {"random": any_action})
    story: Story = field(default_factory=PlainStory)
    summary: Callable[[Hand, Seat | None], dict[str, Any]] = plain_summary
    parts: tuple[str, ...] = ()
    part: Callable[[Position], str] = lambda position: position.validator or ""
    benchmarks: Mapping[str, Benchmark] = field(default_factory=dict)
    slash_costs: Mapping[str, int] = field(default_factory=dict)
    showdown: Showdown | None = None
    hands_shown: HandsShown | None = None
    pack: Pack | None = None
    hidden: tuple[Hidden, ...] = ()
    lemmas: tuple[Lemma, ...] = ()
    checks: tuple[Check, ...] = ()
    missing: tuple[str, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        if not self.family:
            object.__setattr__(self, "family", self.name)
        own = {name: f"{self.family}/{name}" for name in self.validators}
        given = self.programs or {name: load(own[name]) for name in own if own[name] in ours()}
        if unknown := set(given) - set(own):
            raise ValueError(f"no validator is called {quoted(min(map(str, unknown)))}")
        for name, validator in self.validators.items():
            hashed = {part.validator for part in parts(validator.form) if isinstance(part, HashOf)}
            if unknown := hashed - set(own):
                raise ValueError(
                    f"the state of {name} has the hash of {quoted(min(unknown))}, which is no"
                    " validator"
                )
        programs = {name: given.get(name, _stand_in(own[name])) for name in own}
        missing = tuple(name for name in own if programs[name] == _stand_in(own[name]))
        object.__setattr__(self, "programs", programs)
        object.__setattr__(self, "missing", missing)
        if not self.title:
            object.__setattr__(self, "title", self.name)
        if not self.parts:
            object.__setattr__(self, "parts", tuple(self.validators))

    def __repr__(self) -> str:
        return f"Game({self.name!r})"


def _stand_in(name: str) -> Program:
    """A program in place of one that is not there: it only gives the validator a hash."""
    return Program(serialize((b"\x01", f"there is no program {name}".encode())))
