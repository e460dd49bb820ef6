"""`channelsim play` and `channelsim replay`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from channel.cli.ask import Asker
from channel.cli.dispute import replay_dispute
from channel.cli.files import transcript_file
from channel.cli.options import complain
from channel.crypto.hkdf import fresh_seed
from channel.errors import UsageError
from channel.report.course import Course
from channel.report.document import document, unfinished
from channel.report.narrator import Narrator
from channel.report.progress import progress
from channel.report.terminal import console, print_json
from channel.session import setup as setups
from channel.session.deciders import Deciders
from channel.session.script import read as read_script
from channel.session.session import Result, Session, SessionBroken
from channel.session.session_events import Listener
from channel.session.setup import ASK, NAMES, Setup
from channel.session.transcript import Comparer, Recorder, Sink, choices_of, of_lines, unbroken
from channel.simulation.transcript import DISPUTE
from channel.system.interrupt import exit_code


def play(
    *,
    game: str,
    hands: int | None,
    seed: str | None,
    unit: int | None,
    stack: int | None,
    balance: int | None,
    policy: str | None,
    script: Path | None,
    as_json: bool,
    transcript: Path | None,
    quiet: bool,
) -> int:
    """Play a session as the options say; the exit code."""
    scripted = read_script(script) if script else None
    unit = _first(unit, scripted.unit if scripted else None, setups.DEFAULT_UNIT)
    stack = _first(stack, scripted.stack if scripted else None, setups.DEFAULT_STACK)
    games = tuple(name.strip() for name in game.split(",")) if game.strip() else ()
    default_hands = len(scripted.hand) if scripted and scripted.hand else setups.DEFAULT_HANDS
    setup = setups.check(
        Setup(
            games=games,
            seed=_first_seed(seed, scripted.seed if scripted else None),
            hands=_first(hands, None, default_hands),
            unit=unit,
            stack=stack,
            balance=_first(
                balance,
                scripted.balance if scripted else None,
                unit * stack * setups.DEFAULT_STAKES,
            ),
            policies=_policies(policy, games),
            script=scripted,
        )
    )
    output = _Output(setup, as_json=as_json, quiet=quiet)
    with transcript_file(transcript) as file:
        return output.run(Deciders(setup, *output.person()), file.write, finish=file.finish)


def replay(file: Path, data: bytes, *, as_json: bool, quiet: bool) -> int:
    """Play a transcript again, whose file was read; the exit code."""
    lines, records = unbroken(file, data)
    if records[0].get("format") == DISPUTE:
        return replay_dispute(file, lines, records[0], as_json=as_json, quiet=quiet)
    transcript = of_lines(file, lines, records)
    comparer = Comparer(file, lines)
    deciders = Deciders(transcript.setup, recorded=choices_of(transcript, NAMES[0]))
    output = _Output(transcript.setup, as_json=as_json, quiet=quiet, again=True)
    return output.run(deciders, comparer, finish=comparer.finish)


class _Output:
    """Where a session is told: on the terminal as it goes, or as one document at the end."""

    def __init__(self, setup: Setup, *, as_json: bool, quiet: bool, again: bool = False) -> None:
        self.setup = setup
        self._json = as_json
        asks = ASK in setup.policies and not again
        # A person who plays is talked to even when the document goes elsewhere.
        self._console = console(stderr=self._json)
        self._viewer = NAMES[0] if ASK in setup.policies else None
        self._narrator = Narrator(setup, self._console, viewer=self._viewer, quiet=quiet)
        self._told = not self._json or asks
        self._watched = asks or not (self._json or quiet)

    def person(self) -> tuple[Asker, Callable[[int], bool]]:
        """Who is asked for Alice's decisions, if anybody is."""
        asker = Asker(self._console)
        return asker, asker.another

    def run(self, deciders: Deciders, sink: Sink, finish: Callable[[], None]) -> int:
        """Play, tell, and give the exit code."""
        recorder, course = Recorder(self.setup, sink), Course(self.setup)
        listeners: list[Listener] = [recorder, deciders, course]
        if self._told:
            listeners.append(self._narrator)
        try:
            # Who is told of the session as it goes sees how far it is.
            with progress("session", "hands", shown=not self._watched) as bar:
                listeners.append(lambda told: bar(len(course.hands), self.setup.hands))
                result = Session(self.setup, deciders.decide, deciders.answer, listeners).run()
        except KeyboardInterrupt:
            self._stop(course)
            return exit_code()
        except SessionBroken as broken:
            complain(f"{broken.name} breaks off: {broken}")
            return 1
        digest = recorder.finish(result)
        finish()
        self._finish(result, digest)
        checks = result.checks
        return 0 if checks.python_clvm_agree and checks.conserved else 1

    def _finish(self, result: Result, digest: str) -> None:
        if self._json:
            print_json(document(self.setup, result, digest, self._viewer))
        else:
            self._narrator.finish(result, digest)

    def _stop(self, course: Course) -> None:
        """Tell how far an interrupted session came."""
        if self._json:
            print_json(unfinished(self.setup, course, self._viewer))
        else:
            self._narrator.stop(course)


def _policies(text: str | None, games: tuple[str, ...]) -> tuple[str, str]:
    """Alice's and Bob's policies; what is not said is the first game's first policy."""
    default = setups.default_policy(games)
    names = [name.strip() for name in (default if text is None else text).split(",")]
    if len(names) > 2 or not all(names):
        raise UsageError(f"--policy {text}: one for Alice and one for Bob, as in `ask,random`")
    if len(names) == 1:
        return names[0], default if names[0] == ASK else names[0]
    return names[0], names[1]


def _first_seed(*candidates: str | None) -> str:
    """The first seed that was given, be it empty, else a fresh one."""
    given = [candidate for candidate in candidates if candidate is not None]
    return given[0] if given else fresh_seed()


def _first(*candidates: int | None) -> int:
    return next(candidate for candidate in candidates if candidate is not None)
