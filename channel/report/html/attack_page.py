"""Make the page of the script of an attack: its session is run again, and shown in three lanes."""

from __future__ import annotations

from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.kinds import KINDS, LANDMARKS, OF_BOTH
from channelsim.channel.attack.monitors import MONITORS
from channelsim.channel.attack.session import Observer
from channelsim.channel.attack.sides import scenario_of
from channelsim.channel.attack.world import run_observed
from channelsim.channel.findings.sentence import NO_LOSS
from channelsim.channel.report.html.page import Glance
from channelsim.channel.report.html.session_data import CHAIN, LANES, PagePromise, SessionPage
from channelsim.channel.report.html.session_log import SessionLog
from channelsim.channel.report.html.session_page import page_of_log
from channelsim.channel.report.html.session_story import games_text
from channelsim.channel.session.setup import NAMES
from channelsim.games.amounts import counted

PROMISES_KEPT = {
    monitor: (sentence, "looked at after each event, after each restart, or at the end")
    for monitor, sentence in MONITORS.items()
}
"""What is promised, and how each promise is checked, of a session that monitors judge."""


def attack_page(attack: Attack, command: str = "") -> SessionPage:
    """The page of a script, with what each monitor says now; `command` runs it again."""
    scenario = scenario_of(attack)
    balances = (scenario.balance, scenario.balance)
    log = SessionLog((0, 1), balances, scenario.unroll_timeout, follow_hands=True)

    def on_fault(side: int | None, text: str) -> None:
        """Show a fault in the lane of a side, or of the chain."""
        log.fault(CHAIN if side is None else side, text)

    session, run = run_observed(attack, Observer(log, on_fault))
    log.finish()
    broken = list(dict.fromkeys(violation.monitor for violation in session.violations))
    ends = "settled on chain" if session.on_chain else "closed by both sides"
    how = ends if session.funded else "not opened"
    told = [
        f"Both players want to play {counted(attack.hands, 'hand')} of {games_text(attack.games)}.",
        *map(_told, session.done),
        *(f"The {NAMES[side]} ran {counted(session.lives[side], 'time')}." for side in (0, 1)),
        f"The channel was {how} after {counted(session.blocks, 'block')}.",
        *(f"{violation.monitor}: {violation.text}." for violation in session.violations),
    ]
    return page_of_log(
        log,
        run.chain,
        title=f"Attack on a session of {games_text(attack.games)}",
        glance=Glance(
            not broken,
            f"broken: {', '.join(broken)}" if broken else f"every monitor holds ({how})",
            "; ".join(violation.text for violation in session.violations) or NO_LOSS,
            "this runs it again:" if command else "nothing to do",
            (command,) if command else (),
        ),
        facts=(
            ("games", ", ".join(attack.games)),
            ("seed", attack.seed),
            ("actions", "; ".join(action.text for action in attack.actions) or "none"),
            ("events between two snapshots", str(attack.snapshots)),
            ("watcher", "while a side is down" if attack.watched else "none"),
            ("blocks", str(session.blocks)),
            ("digest", session.digest),
        ),
        lanes=LANES,
        story=tuple(told),
        promises=tuple(
            PagePromise(
                monitor,
                *PROMISES_KEPT[monitor],
                tuple(each.text for each in session.violations if each.monitor == monitor),
            )
            for monitor in MONITORS
        ),
    )


def _told(action: Action) -> str:
    """An action as a sentence.

    >>> _told(Action("drop", 0, 3, since="link"))
    "At the initiator's message 3 since it uses a new connection: a message is lost, and the..."
    """
    kind = KINDS[action.kind]
    since = f" since {LANDMARKS[action.since][0]}" if action.since else ""
    whose = "" if kind.counter in OF_BOTH else f"the {NAMES[action.side].lower()}'s "
    name = f" ({action.name})" if action.name else ""
    return f"At {whose}{kind.counter} {action.at:,}{since}: {kind.about}{name}."
