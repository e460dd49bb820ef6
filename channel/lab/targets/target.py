"""A target: the programs that the lab tests, with what is known of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.targets.own_hidden import load as load_own_hidden
from channelsim.channel.lab.targets.own_rules import OwnRules
from channelsim.channel.lab.targets.own_rules import load as load_own_rules
from channelsim.channel.lab.targets.source_lines import (
    find_expression,
    find_line,
    find_mentions,
    rule_near,
)
from channelsim.channel.lab.targets.sources import Sources
from channelsim.clsp.analysis.code import MAIN
from channelsim.clsp.analysis.operands import OperandLog
from channelsim.clsp.analysis.tracer import TooDeep, Tracer
from channelsim.clsp.programs import Program, source_of, with_symbols
from channelsim.games import registry
from channelsim.games.contract import Game, Hashes, Judge, Opaque, RawState, Validator
from channelsim.games.dealing import dealer
from channelsim.games.hidden import Hidden
from channelsim.games.referee import referee
from channelsim.games.vectors import Case

REFEREE = "referee"
"""The referee, where programs are named."""

RAW = Opaque(RawState.value, lambda value, name: RawState(value))
"""The form of a state of which only the value is known."""


@dataclass(frozen=True)
class Target:
    """Programs to try, by validator; the rules that they should obey, if any were named.

        `rules` is an installed game's name: a target travels between processes, a game does not.
        `source` is how the target was named: a game, or the file. `sources` are the files that its
    programs were compiled from, where they are known. `rules_file` is an author's file with
        rules for some of the validators (`own_rules`), and `hidden_file` one that declares what
        players hide, for a target without rules (`own_hidden`).
    """

    name: str
    programs: Mapping[str, Program]
    referee: Program
    rules: str | None = None
    honest: tuple[Case, ...] = ()
    source: str = ""
    sources: Sources | None = None
    rules_file: Path | None = None
    hidden_file: Path | None = None

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        """Show a target in Hypothesis without the bytes of its programs."""
        printer.text(f"<the target {self.name}>")

    @cached_property
    def strict(self) -> bool:
        """True if these programs must follow the rules even in states that no play reaches.

        Those are the installed game's own, if it says so (`Game.total`); other programs need not.
        """
        if self.rules is None or not self.game.total:
            return False
        return self.unchanged.issuperset(self.game.programs)

    @cached_property
    def unchanged(self) -> frozenset[str]:
        """The programs that are the installed ones, byte for byte: of validators, the referee."""
        installed = {REFEREE: referee(), **(self.game.programs if self.rules is not None else {})}
        mine = self.with_referee
        return frozenset(name for name, program in installed.items() if mine.get(name) == program)

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """The validators of which the installed game has no program; their programs do nothing."""
        if self.rules is None or self.rules != self.source:
            return ()
        return self.game.missing

    @property
    def present(self) -> tuple[str, ...]:
        """The validators of which there is a program."""
        return tuple(name for name in self.programs if name not in self.missing)

    @cached_property
    def hashes(self) -> Hashes:
        """The tree hash of each program, by validator."""
        return {name: program.hash for name, program in self.programs.items()}

    @cached_property
    def with_referee(self) -> dict[str, Program]:
        """All programs by name: the validators and the referee."""
        return {**self.programs, REFEREE: self.referee}

    @property
    def symbols(self) -> dict[str, Mapping[str, str]]:
        """The compiler's names for functions, by program; none of one that came as .hex."""
        return {name: program.symbols for name, program in self.with_referee.items()}

    @property
    def traceable(self) -> tuple[str, ...]:
        """The programs that there are, by name: of validators, and the referee."""
        return (*self.present, REFEREE)

    @property
    def hash_names(self) -> dict[bytes, str]:
        """The names of the programs' hashes in texts."""
        return {program_hash: f"{name}'s hash" for name, program_hash in self.hashes.items()}

    def tracer(self, name: str, log: OperandLog | None = None) -> Tracer:
        """A tracer of one program, which notes operands in `log`.

        Raises `UsageError` for a program that is nested too deep.
        """
        try:
            program = self.programs.get(name, self.referee)
            return Tracer(program, program.symbols, log=log)
        except TooDeep as error:
            raise UsageError(f"{self.name}: {name}: {error}") from None

    def source_line(self, name: str, function: str, expression: str = "") -> str:
        """The line of a program's source that has a function, or a disassembled expression of it.

        As `file:line`, the file relative to the target's; "" where that is not known. The
        function is `MAIN`, or the program's name, for the program itself.
        """
        own = MAIN if function == name else function
        written = self._as_compiled(expression)
        return self.shown_line(find_line(self.source_texts(name), own, written))

    def expression_place(
        self, name: str, function: str, expression: str
    ) -> tuple[Path, int] | None:
        """The file and line of a disassembled expression of a program, if one place alone reads
        like it; of a file of this package's libraries, the path is relative."""
        own = MAIN if function == name else function
        return find_expression(self.source_texts(name), own, self._as_compiled(expression))

    def _as_compiled(self, expression: str) -> str:
        """A disassembled expression with the hashes of programs instead of their names."""
        for program_hash, said in self.hash_names.items():
            expression = expression.replace(said, f"0x{program_hash.hex()}")
        return expression

    def rule_line(self, name: str, rule: str) -> str:
        """The only line of a program's source that mentions a rule; "" for none, or several."""
        lines = self.rule_lines(name, rule)
        return lines[0] if len(lines) == 1 else ""

    def rule_lines(self, name: str, rule: str) -> list[str]:
        """All lines of a program's source that mention a rule."""
        return [self.shown_line(place) for place in find_mentions(self.source_texts(name), rule)]

    def rule_at(self, name: str, line: str) -> str:
        """The rule that a line of a program's source is about, given as `source_line` gives it.

        That is the only one that the line mentions, or else the nearest line above it with a rule
        within `ABOVE` lines; "" where there is none.
        """
        file, _, number = line.rpartition(":")
        text = self.source_files(name).get(file) if file else None
        if text is None:
            return ""
        known = self.own_rules.sentences if self.rules is None else self.game.rules
        return rule_near(text, int(number), known)

    def source_files(self, name: str) -> dict[str, str]:
        """The texts of a program's sources, its own first, by their files as `source_line` names
        them."""
        texts = self.source_texts(name).items()
        return {self.shown_line((file, 0)).removesuffix(":0"): text for file, text in texts}

    @cached_property
    def _texts_read(self) -> dict[str, Mapping[Path, str]]:
        return {}

    def source_texts(self, name: str) -> Mapping[Path, str]:
        """The texts of a program's sources, read once."""
        if name not in self._texts_read:
            self._texts_read[name] = {} if self.sources is None else self.sources.texts(name)
        return self._texts_read[name]

    def shown_line(self, place: tuple[Path, int] | None) -> str:
        """A line as `file:line`, the file relative to the target's, or to the current folder."""
        if place is None:
            return ""
        file, line = place
        if file.is_absolute() and self.rules == self.source:
            file = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
        elif file.is_absolute():
            here = Path(self.source).parent
            file = here / os.path.relpath(file, here.resolve())
        return f"{file}:{line}"

    @property
    def against(self) -> str:
        """The rules or play that its programs are compared with, for a title."""
        if self.rules is not None:
            return f"the rules of {self.rules}{self.cards}"
        if self.rules_file is None:
            return "its honest play"
        return f"{self.rules_file.name} and its honest play"

    @cached_property
    def family(self) -> tuple[Target, ...]:
        """This target, then one for each other game that shares programs with its rules.

        There, this target's programs take the place of the game's of the same names.
        """
        if self.rules is None:
            return (self,)
        family = [self]
        for other in map(of_game, registry.sharing(self.game)[1:]):
            programs = {name: self.programs.get(name, its) for name, its in other.programs.items()}
            family.append(replace(other, programs=programs, referee=self.referee))
        return tuple(family)

    @cached_property
    def family_programs(self) -> dict[str, Program]:
        """The programs of the family by name: a case of another of its games may name them."""
        family = {name: its for other in self.family for name, its in other.programs.items()}
        return {**self.programs, **family}

    @cached_property
    def family_hashes(self) -> Hashes:
        """The tree hash of each of these programs, by name."""
        return {name: program.hash for name, program in self.family_programs.items()}

    @property
    def dealer(self) -> str | None:
        """The dealer of its hands, as outputs name it; None in a game without a deck."""
        return None if self.rules is None else dealer(self.game)

    @property
    def cards(self) -> str:
        """The end of a title that says who deals; empty for a game without a deck."""
        return f", with cards of the {self.dealer}" if self.dealer else ""

    def judge(self, validator: str) -> Judge | None:
        """The rules of a validator: the game's or the author's own; None where there are none."""
        if self.rules is not None:
            return self.game.validators[validator].judge
        return self.own_rules.judges.get(validator)

    def rules_of(self, validator: str) -> Validator | None:
        """The rules of a validator with the reader of its states; None where there are none."""
        if self.rules is not None:
            return self.game.validators[validator]
        judge = self.own_rules.judges.get(validator)
        return None if judge is None else Validator(validator, judge, RAW)

    def sentence(self, rule: str) -> str:
        """The sentence of a rule; empty where it is not known."""
        known = self.own_rules.sentences if self.rules is None else self.game.rules
        return known.get(rule, "").rstrip(".")

    @property
    def own_rules(self) -> OwnRules:
        """The rules in the author's own file; none without one. Raises `UsageError`."""
        if self.rules_file is None:
            return OwnRules({}, {})
        return load_own_rules(self.rules_file, tuple(self.programs))

    @property
    def hidden(self) -> tuple[Hidden, ...]:
        """The values that players hide, as the game or the author's own file declares them; none
        where neither does. Raises `UsageError`."""
        if self.rules is not None:
            return self.game.hidden
        return () if self.hidden_file is None else load_own_hidden(self.hidden_file)

    def check_programs(self) -> None:
        """Raises `UsageError` where no validator has a program."""
        if not self.present:
            raise UsageError(f"{self.name} has no programs")

    def check_playable(self) -> None:
        """Check that rules or honest moves say how it is played. Raises `UsageError`."""
        if not self.honest:
            _ = self.game  # raises `UsageError` without rules

    @property
    def game(self) -> Game:
        """The game whose rules these programs should obey. Raises `UsageError` without any."""
        if self.rules is None:
            games = ", ".join(registry.names())
            if self.honest:
                raise UsageError(
                    f"{self.name}: names no rules of a game that plays every move; this needs them:"
                    f' add `rules = "…"`, one of {games}'
                )
            raise UsageError(
                f"{self.name}: names no rules to check its programs against; add"
                f' `rules = "…"`, one of {games}, or `[play] honest`, a file of legal moves'
            )
        return registry.get(self.rules)


def of_game(game: Game) -> Target:
    """An installed game as a target, with our referee."""
    programs = {name: with_symbols(program) for name, program in game.programs.items()}
    given = {
        name: source_of(program) for name, program in (programs | {REFEREE: referee()}).items()
    }
    sources = Sources({name: path for name, path in given.items() if path is not None}, ())
    judge = with_symbols(referee())
    return Target(game.name, programs, judge, game.name, source=game.name, sources=sources)
