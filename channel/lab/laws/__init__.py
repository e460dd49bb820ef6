"""The laws that every game's programs must obey, each in its own file of this package.

Every module here has a `LAW`; plug-ins add laws in the group `channelsim.laws`. It imports
`lab.cases` and the packages before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Protocol

from channelsim.channel.findings.finding import Finding
from channelsim.channel.lab.cases.trial import Trial
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.targets.target import Target
from channelsim.plugins import Group, wrong_answer


class Needs(Enum):
    """The targets to which a law applies."""

    RULES = "a game to play and to hold the programs against"
    JUDGE = "rules of some validator, a game's or in a file of the author's own"
    NO_RULES = "a target without rules, of which only honest play is known"
    HIDDEN = "a target without rules, with a declaration of what players hide"
    RECORDS = "a file of honest play"
    NOTHING = "either"


class Law(Protocol):
    """One law, with its name in reports and the targets that it is for.

    It is tried at one site in `every`, according to its cost: a referee hashes the whole validator
    in CLVM, so a slash costs as much as a hundred calls. A law that runs no validator's program
    says `without_programs = True`.
    """

    name: str
    every: int
    needs: Needs

    def check(self, trial: Trial) -> Iterator[Finding]:
        """Try the law at a site, and yield each violation."""
        ...


@cache
def laws() -> tuple[Law, ...]:
    """All laws, those that are tried on every case first.

    >>> [law.name for law in laws() if law.every == 1][-1]
    'verdicts agree'
    """
    all_laws = (*_built_in(), *_PLUGINS.working().values())
    return tuple(sorted(all_laws, key=lambda law: (law.every, law.name)))


def laws_for(target: Target) -> tuple[Law, ...]:
    """The laws that apply to this target."""
    given = {
        Needs.RULES: target.rules is not None,
        Needs.JUDGE: target.rules is not None or target.rules_file is not None,
        Needs.NO_RULES: target.rules is None,
        Needs.HIDDEN: target.rules is None and bool(target.hidden),
        Needs.RECORDS: bool(target.honest),
        Needs.NOTHING: True,
    }
    return tuple(law for law in laws() if given[law.needs])


def applies(law: Law, target: Target, validator: str) -> bool:
    """True if a law of `laws_for` can be tried at a validator: most need its program."""
    return validator not in target.missing or getattr(law, "without_programs", False)


def tried(
    trial: Trial, laws: Iterable[Law], chance: FastChance, often: Callable[[], int], *, first: bool
) -> Iterator[tuple[Law, Finding]]:
    """Try laws at one site: `often` times at as many sites as they say, and all at a `first` one.

    `often` is asked before each law: it may depend on what the laws before have shown.
    """
    site = trial.site
    for law in laws:
        if not applies(law, trial.target, site.validator):
            continue
        # Slashes of a runaway would take seconds each, and it is found out already.
        if law.every > 1 and (site.guessed or site.validator in trial.tally.runaway):
            continue
        if first or chance.random() * law.every < often():
            for finding in law.check(trial):
                yield law, finding


def unchecked(target: Target) -> dict[str, str]:
    """The laws that are not tried, or not at every validator, each with what is missing."""
    reasons = {}
    no_rules = [name for name in target.programs if target.judge(name) is None]
    for law in laws():
        if law.needs is Needs.RULES and target.rules is None:
            reasons[law.name] = f"without {law.needs.value}"
        elif law.needs is Needs.JUDGE and no_rules:
            reasons[law.name] = f"no rules of {', '.join(no_rules)}"
        elif law in laws_for(target) and any(not applies(law, target, n) for n in target.missing):
            reasons[law.name] = f"no program of {', '.join(target.missing)}"
    return reasons


@cache
def _built_in() -> tuple[Law, ...]:
    return tuple(
        import_module(f"{__name__}.{module.name}").LAW for module in iter_modules(__path__)
    )


def _entry(law: Law) -> str:
    """The name of a law's entry point."""
    return law.name.replace(" ", "-")


def _check(name: str, plugin: Any) -> Law:
    match (
        getattr(plugin, "name", None),
        getattr(plugin, "every", None),
        getattr(plugin, "needs", None),
    ):
        case str(), int(every), Needs() if every > 0 and callable(getattr(plugin, "check", None)):
            pass
        case _:
            raise ValueError("it is no law, which has `name`, `every`, `needs` and `check`")
    law: Law = plugin
    if _entry(law) != name:
        raise ValueError(f"its law is called {law.name!r}")
    return _Checked(law, law.name, law.every, law.needs, getattr(law, "without_programs", False))


@dataclass(eq=False)
class _Checked:
    """A law of a plug-in; a call ends the command if it yields something else than findings."""

    law: Law
    name: str
    every: int
    needs: Needs
    without_programs: bool

    def check(self, trial: Trial) -> Iterator[Finding]:
        findings: object = self.law.check(trial)
        if not isinstance(findings, Iterable):
            raise wrong_answer(self.law.check, findings, "not findings to iterate over")
        for finding in findings:
            if not isinstance(finding, Finding):
                raise wrong_answer(
                    self.law.check, finding, "not a finding, as `trial.finding` makes one"
                )
            yield finding


_PLUGINS = Group("laws", "the law", _check, lambda name: name in map(_entry, _built_in()))
