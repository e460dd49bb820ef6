"""Run a session and report it, at a terminal as it goes or as one document at the end."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.cli.messages import complain
from channelsim.channel.cli.prompt import Prompt
from channelsim.channel.cli.session_files import Display
from channelsim.channel.report.narrator import Narrator
from channelsim.channel.report.progress import progress
from channelsim.channel.report.session_document import SessionProgress, document, unfinished
from channelsim.channel.report.terminal import console
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.session import Session, SessionBroken, node_of
from channelsim.channel.session.session_events import Listener
from channelsim.channel.session.setup import ASK, NAMES, Setup
from channelsim.channel.session.transcript import Recorder, Sink, Transcript, choices_of
from channelsim.channel.system.interrupt import exit_code

if TYPE_CHECKING:
    from channelsim.channel.simulation.session_processes import SessionProcesses


def run_session(
    setup: Setup,
    sink: Sink,
    finish: Callable[[], None],
    display: Display,
    *,
    script: Path | None = None,
    recorded: Transcript | None = None,
    processes: bool = False,
) -> int:
    """Run a session and report it; the exit code.

    `sink` receives each line of the transcript, and `finish` is called after the last one.
    Decisions of a person come from the terminal, or from the `recorded` session. `script` is the
    file of the setup's script. With `processes`, peers and node are
    processes of their own.
    """
    as_json, quiet, show, page = display
    asks = ASK in setup.policies and recorded is None
    # A person who plays needs the terminal even when the document goes to standard output.
    out = console(stderr=as_json)
    person = setup.policies.index(ASK) if ASK in setup.policies else 0
    viewer = NAMES[person] if ASK in setup.policies else None
    narrator = Narrator(setup, out, viewer=viewer, quiet=quiet)
    if recorded is None:
        prompt = Prompt(out, NAMES[person], NAMES[1 - person], setup.games)
        name = "script" if script is None else str(script)
        deciders = Deciders(
            setup,
            prompt.decide,
            prompt.another,
            script_name=name,
            person_chooses=prompt.choose,
        )
    else:
        deciders = Deciders(setup, recorded=choices_of(recorded, NAMES[person]))
    recorder, so_far = Recorder(setup, sink), SessionProgress(setup)
    listeners: list[Listener] = [recorder, so_far]
    if asks or not as_json:
        listeners.append(narrator)
    if page is not None:
        # Few sessions have a page, and it needs a template engine and all of the simulation.
        from channelsim.channel.report.html.session_page import (
            session_html,
            session_log,
            session_page,
        )

        log = session_log(setup, viewer)
        listeners.append(log)
    try:
        # The narration itself shows how far the session is.
        narrated = asks or not (as_json or quiet)
        with progress("session", "hand", shown=not (narrated or quiet)) as bar:
            listeners.append(lambda event: bar(len(so_far.hands), setup.hands))
            with _processes(setup) if processes else nullcontext() as apart:
                chain: FarmableChain = apart.chain if apart else node_of(setup)
                session = Session(
                    deciders,
                    listeners,
                    chain,
                    apart.wrap if apart else lambda peer: peer,
                    delivery=apart.delivery if apart else None,
                )
                result = session.run()
                digest = recorder.finish(result)
                if page is not None:
                    page(session_html(session_page(setup, log, chain, result, digest)))
    except KeyboardInterrupt:
        if as_json:
            show(unfinished(setup, so_far, viewer))
        else:
            narrator.stop(so_far)
        return exit_code()
    except SessionBroken as broken:
        complain(f"the {broken.name} breaks off: {broken}{_doubt(setup, broken)}")
        return 1
    finish()
    if as_json:
        show(document(setup, result, digest, viewer))
    else:
        narrator.finish(result, digest)
    if not (result.hands or so_far.declined):
        complain(f"no hand was played: {result.reason}")
        return 1
    checks = result.checks
    return 0 if checks.python_clvm_agree and checks.conserved and result.excused else 1


def _doubt(setup: Setup, broken: SessionBroken) -> str:
    """Advice for an author whose honest move a peer refuses."""
    if broken.news.blame.step != "play":
        return ""
    commands = " and ".join(
        f"`channelsim crosscheck {game}`" for game in dict.fromkeys(setup.games)
    )
    return f"; both sides are honest, so compare rules and programs by {commands}"


def _processes(setup: Setup) -> AbstractContextManager[SessionProcesses]:
    """The processes of one session. They need the network, which no other session imports."""
    from channelsim.channel.simulation.session_processes import session_processes

    return session_processes(setup.seed, setup.script, mixed=setup.mixed)
