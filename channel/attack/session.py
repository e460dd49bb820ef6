"""The record of an attacked session, and an observer of one that runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from channelsim.channel.attack.actions import Action, Attack, Place
from channelsim.channel.attack.monitors import Violation
from channelsim.channel.attack.situations import Noted
from channelsim.channel.session.session_events import SessionEvent


@dataclass(frozen=True, slots=True)
class Session:
    """An attacked session as it went: its log, its end, and what was broken.

    `done` are the actions that took place, in order, and `log` a line for each event. `events` are
    those of both sides with their actions, kills and restarts, and `situations` those reached,
    with where each began. `accused` is the rule that an honest side says its hostile counterparty
    broke; empty for none.
    """

    attack: Attack
    done: tuple[Action, ...]
    log: tuple[str, ...]
    violations: tuple[Violation, ...]
    blocks: int
    seconds: float
    lives: tuple[int, int]
    funded: bool
    on_chain: bool
    events: tuple[Noted, ...] = ()
    situations: Mapping[str, Place] = field(default_factory=dict)
    accused: str = ""

    @property
    def died_in_restart(self) -> bool:
        """True if a process started twice without a block in between."""
        starts = Counter[str]()
        for line in self.log:
            event = line.partition(" ")[2]
            if event.startswith("block "):
                starts.clear()
            elif event.endswith("starts again"):
                starts[event] += 1
                if starts[event] > 1:
                    return True
        return False

    @property
    def digest(self) -> str:
        """SHA-256 of the log in hex."""
        return sha256("\n".join(self.log).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Observer:
    """Hears of a session while it runs: of its events, each block once, and of faults in words.

    A fault is of a side, or of the chain (None).
    """

    on_event: Callable[[SessionEvent], None] = lambda event: None
    on_fault: Callable[[int | None, str], None] = lambda side, text: None


NOBODY = Observer()
