"""The page of all games, from their registry and stored vectors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from inspect import getdoc

from channelsim.clsp.run import ProgramValid, run_serialized
from channelsim.games import registry
from channelsim.games.amounts import counted
from channelsim.games.chance import Chance
from channelsim.games.contract import Game
from channelsim.games.dealing import deal
from channelsim.games.forms import (
    Atom,
    ByteIn,
    Form,
    HashOf,
    Integer,
    ListOf,
    Opaque,
    Optional,
    Pair,
    Record,
    length,
    parts,
)
from channelsim.games.vectors import arguments, read
from scripts.tools import VECTORS, table


def family_section(games: tuple[Game, ...]) -> str:
    """A section about games that share their programs."""
    titles = [game.title.partition(": ")[0] for game in games]
    texts = {rule: text for game in games for rule, text in game.rules.items()}
    sections = [
        f"## {titles[0] if len(games) == 1 else games[0].family.capitalize()}",
        *(
            f"`{game.name}`: {game.title.partition(': ')[2] if len(games) == 1 else game.title}."
            " Policies: "
            + ", ".join(f"`{name}`" for name in game.policies)
            + f". A player needs {game.entropy_size} secret bytes."
            for game in games
        ),
        f"[The specification](../spec/{games[0].family}.md) says what each field means.",
        table(
            ("validator", "state", "move", "bytes", "limit", "share", "highest cost"),
            _validators(games),
        ),
        "The limit is MAX_MOVE_SIZE. Bytes and costs are those of the legal moves among the stored"
        " conformance vectors; a cost is that of the program alone.",
        "The states, and the records inside of them:",
        table(("record", "field", "form"), _records(games)),
        table(("rule", ""), ((f"`{rule}`", text) for rule, text in texts.items())),
    ]
    return "\n\n".join(sections)


def _validators(games: tuple[Game, ...]) -> Iterator[tuple[str, ...]]:
    """Each validator with its state, and the moves and costs of the stored vectors."""
    limits: dict[str, set[int]] = defaultdict(set)
    sizes: dict[str, set[int]] = defaultdict(set)
    costs: dict[str, int] = defaultdict(int)
    for game in games:
        terms, _ = deal(game, game.terms(game.default_parameters(100, 20)), Chance(b""))
        first = game.initial(terms)
        limits[first.validator].add(first.max_move_size)
        _measure(game, limits, sizes, costs)
    for name, validator in registry.validators_of(games).items():
        judge = validator.judge
        state = judge.__annotations__["state"]
        described = getdoc(getattr(import_module(judge.__module__), state)) or ""
        yield (
            f"`{name}`",
            described.partition("\n\n")[0],
            (getdoc(judge) or "").partition("\n\n")[0],
            _range(sizes[name]),
            _range(limits[name]),
            _share_rule(games, name),
            f"{costs[name]:,}",
        )


def _records(games: tuple[Game, ...]) -> Iterator[tuple[str, ...]]:
    """The forms of the fields of each state, then of the records inside of states."""
    validators = registry.validators_of(games)
    states = {
        name: validator.form
        for name, validator in validators.items()
        if isinstance(validator.form, Record)
    }
    inner = [part for form in states.values() for part in parts(form) if isinstance(part, Record)]
    records = {part.kind.__name__: part for part in inner if part not in states.values()}
    for name, record in (*states.items(), *records.items()):
        for field, form in record.fields:
            yield f"`{name}`", f"`{field}`", form_text(form)
        if record.checked:
            yield f"`{name}`", "", "checked as a whole"


def form_text(form: Form) -> str:
    """A form in words."""
    match form:
        case Atom(size):
            return counted(size, "byte")
        case Integer(least, most):
            return f"an integer from {_number(least)} to {_number(most)}"
        case ByteIn(_, noun):
            return f"a byte that is {noun}"
        case HashOf(validator):
            return f"the hash of the program {validator}"
        case Pair(first, second):
            return f"a pair of {form_text(first)} and {form_text(second)}"
        case Optional(inner):
            return f"{form_text(inner)}, or ()"
        case ListOf(inner, _, _, ascending):
            order = ", ascending" if ascending else ""
            return f"a list of {length(form)}{order}: {form_text(inner)}"
        case Record(kind, _, checked):
            return f"{kind.__name__}{', checked as a whole' if checked else ''}"
        case Opaque(_, _, text):
            return text


def _number(number: int) -> str:
    """A bound; a great power of two, or one less, is shown as such."""
    for less in (0, 1):
        power = number + less
        if power >= 1 << 16 and power.bit_count() == 1:
            return f"2^{power.bit_length() - 1}{' - 1' if less else ''}"
    return f"{number:,}"


def _measure(
    game: Game, limits: dict[str, set[int]], sizes: dict[str, set[int]], costs: dict[str, int]
) -> None:
    """Add the limits, sizes and costs of the stored vectors of a game."""
    with (VECTORS / f"{game.name}.jsonl").open("rb") as lines:
        for case in read(lines):
            program = game.programs[case.validator].serialized
            outcome = run_serialized(program, arguments(case, game.name, game.programs))
            if isinstance(outcome, ProgramValid) and case.expect == "valid":
                sizes[case.validator].add(len(case.move) // 2)
                costs[case.validator] = max(costs[case.validator], outcome.cost)
                if case.next is not None:
                    limits[case.next.validator].add(case.next.max_move_size)


def _range(numbers: set[int]) -> str:
    few, many = min(numbers), max(numbers)
    return f"{few}" if few == many else f"{few} to {many}"


def _share_rule(games: tuple[Game, ...], validator: str) -> str:
    """The rule about the share that a move declares, if there is one."""
    part = validator.upper().removesuffix("_ROUND")
    texts = (
        text
        for game in games
        for rule, text in game.rules.items()
        if rule.split("-")[1] == part and "share" in text.lower()
    )
    return next(texts, "any")
