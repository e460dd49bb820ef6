"""A finding of any checking command, from the trial that shows it to the page about it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from channelsim.channel.findings.sentence import sentence
from channelsim.games.amounts import counted

FORMAT = "channelsim finding 2"

THEFT = "theft"
UNSLASHABLE = "unslashable cheat"
GRIEFING = "griefing"
BROKEN_PROMISE = "broken promise"
EXCEPTION = "exception"
DISAGREEMENT = "disagreement"
SURVIVOR = "surviving mutant"
FAILED_CHECK = "failed check"

SEVERITIES = (
    *(THEFT, UNSLASHABLE, GRIEFING, BROKEN_PROMISE, EXCEPTION),
    *(DISAGREEMENT, SURVIVOR, FAILED_CHECK),
)
"""All severities, the worst first."""

MOVER, OPPONENT = "the mover", "its opponent"
"""The sides of a move."""

NOBODY = ""
"""The taker of mojos that are lost to both sides."""

Outcome: TypeAlias = Literal["found", "proved", "undecided"]
"""How a finding is known: a case shows it, it is proved for all cases, or neither could be done."""

Reach: TypeAlias = Literal["played", "one player's own choice", "nobody knows"]
"""How play comes to the case: it was played, one player alone can bring it about, or unknown."""

PLAYED: Reach = "played"
OWN_CHOICE: Reach = "one player's own choice"
NOBODY_KNOWS: Reach = "nobody knows"

Figure: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]


class Loss(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The mojos that one side takes from the other in the case shown; the taker may be `NOBODY`."""

    taker: str
    loser: str
    amount: Figure


class CaseCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The call that shows a finding; bytes are hex, and the evidence is serialized."""

    move: str
    share: int
    evidence: str


class ComparedPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One part of the result of a call: what is expected, and what the program returns."""

    part: str
    expected: str
    actual: str


class Finding(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="format",
    tag=FORMAT,
):
    """One thing that is wrong, in memory and in files.

    `rule` is what is broken: a law, a promise or a check; `place` is the validator, or the
    adversary and its games. `text` says what happens, and is the same for all findings of one
    cause; `cause` names what is wrong, alike for all laws: a rule's id, or what is not bound.
    `times` is how often it was found.

    `vector` is a conformance case, None where the format cannot say it (evidence that is a pair but
    no list), and `call` its call; `scenario` is a dispute. `brun` is the deciding run: program and
    environment in hex, and its result; in memory only where it is not the validator's run.
    `order_only`: no side loses, because only the order differs in which evidence and rules are
    looked at.

    What the fuzzer adds: `differs` says in what the case is not honest play, a line each; `fields`
    how many fields were not, before and after shrinking; `probe` the shrunk case beside honest
    play. `compared` is the expected and the actual result, `source_line` the `file:line` of the
    author's Chialisp that decides it, `missing_check` why no line does, with the line of the
    `last_test` that passed, `follows` the cause, if any, from which this one follows, and `also`
    are the findings from the same mistake. `pytest` is a test function that fails until this is
    fixed, `replay` the command that tries it again.
    Findings with the same `mistake` share a file. `target` is the target's name, and `source` the
    game or file that it was.
    """

    rule: str
    place: str
    severity: str
    text: str
    cause: str = ""
    outcome: Outcome = "found"
    reach: Reach = "played"
    loss: Loss | None = None
    times: Figure = 1
    order_only: bool = False
    vector: dict[str, Any] | None = None
    call: CaseCall | None = None
    scenario: dict[str, Any] | None = None
    brun: dict[str, str] = {}
    target: str = ""
    source: str = ""
    source_line: str = ""
    missing_check: str = ""
    last_test: str = ""
    compared: tuple[ComparedPart, ...] = ()
    differs: tuple[str, ...] = ()
    fields: tuple[int, int] = (0, 0)
    probe: dict[str, Any] = {}
    follows: str = ""
    also: tuple[str, ...] = ()
    mistake: str = ""
    pytest: str = ""
    replay: str = ""

    @property
    def lost(self) -> int:
        """The mojos that one side loses in the case shown."""
        return 0 if self.loss is None else self.loss.amount

    @property
    def rank(self) -> int:
        """The place of its severity among all, 0 for the worst."""
        known = self.severity in SEVERITIES
        return SEVERITIES.index(self.severity) if known else len(SEVERITIES)

    @property
    def line(self) -> str:
        """The severity, the place, and the sentence that says who takes what from whom."""
        head = "" if self.severity == FAILED_CHECK else f"{self.severity}: "
        loss_sentence = sentence(self)
        return f"{head}{self.place}: {loss_sentence}" if self.place else f"{head}{loss_sentence}"

    def believable(self) -> Finding:
        """Downgrade a theft if no side loses money in the case that shows it."""
        if self.severity != THEFT or self.lost:
            return self
        text = f"{self.text}; in the cases found no side loses money by it"
        return msgspec.structs.replace(self, severity=DISAGREEMENT, text=text)


def summary(findings: Iterable[Finding]) -> str:
    """The number of findings and the worst of them: the sentence that every command prints.

    >>> summary([])
    '0 findings'
    >>> few = [Finding(rule="r", place="e", severity=one, text="") for one in (GRIEFING, THEFT)]
    >>> summary(few)
    '2 findings (worst: theft)'
    """
    known = list(findings)
    number = counted(len(known), "finding")
    return f"{number} (worst: {min(known, key=_rank).severity})" if known else number


def _rank(finding: Finding) -> int:
    return finding.rank
