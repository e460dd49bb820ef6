"""The sentence of a finding: who takes what from whom, and why nobody can stop it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from channelsim.games.amounts import counted

if TYPE_CHECKING:
    from channelsim.channel.findings.finding import Finding

_WITHOUT_LOSS = {
    "griefing": "Money stays locked, and nobody gains by it",
    "disagreement": "Nobody is known to lose money by this",
    "broken promise": "An honest peer does not get what it is promised",
    "exception": "The code fails where it has to answer",
    "surviving mutant": "No test notices this",
}
"""The meaning of each severity where no side is known to take anything."""

MOST_TITLE = 100
"""Characters of a title."""

_ASIDE = re.compile(r" \([^()]*\)")

_OPPONENT = "the mover's opponent"
"""A side that is known only by the one who takes, where nothing before says whose it is."""

_TAKEN = ("theft", "unslashable cheat")


NO_LOSS = "nobody is known to lose money"
"""A loss in words, where there is none."""


def sentence(finding: Finding) -> str:
    """Say who takes what from whom, and why nobody can stop it, or what else a finding means.

    Every place that shows a finding shows this: terminal, JSON, JUnit, SARIF and pages.

    >>> from channelsim.channel.findings.finding import Finding, Loss
    >>> board = "her board is illegal, and no evidence slashes it"
    >>> loss = Loss("Alice", "Bob", 2000)
    >>> sentence(Finding(rule="a law", place="show", severity="theft", text=board, loss=loss))
    "Alice takes 2,000 mojos that are Bob's: her board is illegal, and no evidence slashes it"
    """
    loss = finding.loss
    if loss is not None and loss.amount and not loss.taker:
        return f"{lost(finding)}: {finding.text}"
    if loss is not None and loss.amount:
        taker = loss.taker[:1].upper() + loss.taker[1:]
        mojos = f"{counted(loss.amount, 'mojo')} that {'is' if loss.amount == 1 else 'are'}"
        return f"{taker} takes {mojos} {loss.loser}'s: {finding.text}"
    if finding.severity in _TAKEN:
        return f"One side takes what is the other's: {finding.text}"
    meaning = _WITHOUT_LOSS.get(finding.severity)
    return f"{meaning}: {finding.text}" if meaning else finding.text


def lost(finding: Finding) -> str:
    """The loss in words: a side and an amount, or that nobody is known to lose."""
    loss = finding.loss
    if loss is not None and loss.amount:
        loser = _OPPONENT if loss.loser == "its opponent" else loss.loser
        loser = loser[:1].upper() + loser[1:]
        mojos = counted(loss.amount, "mojo")
        whom = f" to {loss.taker}" if loss.taker else ", and nobody has them"
        return f"{loser} loses {mojos}{whom}"
    if finding.severity in _TAKEN:
        return "the other side loses money; how much is not known"
    return NO_LOSS


def headline(finding: Finding) -> str:
    """The sentence without what the fuzzer adds on the case shown."""
    return sentence(finding).partition(". ")[0].removesuffix(".")


def title(finding: Finding) -> str:
    """The finding as a short sentence: who takes what, and where.

    >>> from channelsim.channel.findings.finding import Finding, Loss
    >>> loss = Loss("Alice", "Bob", 2000)
    >>> few = {"rule": "a law", "text": "a text", "cause": "SB-SHOW-2: raise", "loss": loss}
    >>> title(Finding(place="show", severity="theft", **few))
    "Alice takes 2,000 mojos that are Bob's: show, SB-SHOW-2"
    """
    loss = finding.loss
    if loss is None or not loss.amount:
        return _shortened(finding.text.partition(". ")[0].removesuffix("."))
    rule = finding.cause.partition(":")[0]
    where = ", ".join(filter(None, (finding.place, rule)))
    return f"{sentence(finding).partition(':')[0]}: {where}"


def _shortened(text: str) -> str:
    """A text without what stands in parentheses, in at most `MOST_TITLE` characters."""
    text = _ASIDE.sub("", text)
    if text.partition(" ")[0].rstrip(":").isalpha():  # an id stays as it is
        text = text[:1].upper() + text[1:]
    return text if len(text) <= MOST_TITLE else f"{text[:MOST_TITLE].rsplit(' ', 1)[0]} …"
