"""Proofs as a campaign: each part is one size of the move, of one claim about one validator.

Every part is given the same work, so a result does not depend on the number of workers. The sizes
of moves in play come first; where one of these breaks a claim, its other sizes are left out. Shapes
of states come one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from itertools import accumulate, groupby, pairwise
from time import thread_time

import msgspec
import z3

from channelsim.channel import __version__
from channelsim.channel.campaign import engine
from channelsim.channel.campaign.campaign import Place
from channelsim.channel.campaign.engine import CampaignRun
from channelsim.channel.campaign.job import Counts, ShardWork
from channelsim.channel.campaign.shards import Configuration, Plan, Shard
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import Finding
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.lab.targets.target_inputs import check_inputs, target_inputs
from channelsim.channel.prove.bounded import within
from channelsim.channel.prove.checked import Checked
from channelsim.channel.prove.counterexample import Counterexample
from channelsim.channel.prove.in_play import in_play
from channelsim.channel.prove.lemma_checks import own_sources
from channelsim.channel.prove.lemma_counts import with_checks
from channelsim.channel.prove.proof import PartResult, Proof, Question, examine
from channelsim.channel.prove.result import ProofResult

SECOND = "against "
"""Begins the names of the inputs that belong to the second target."""


@dataclass(frozen=True)
class ProofReport:
    """The proofs of a campaign, and the findings: one for each claim that is broken.

    `lost` are the parts whose processes ended. `digest` is the SHA-256 of configuration and
    results; None if it was interrupted.
    """

    targets: tuple[Target, ...]
    proofs: tuple[Proof, ...]
    findings: tuple[Finding, ...]
    results: tuple[ProofResult, ...]
    parts: int
    seconds: float
    interrupted: bool = False
    lost: tuple[Shard, ...] = ()
    digest: str | None = None

    @property
    def left_open(self) -> list[Proof]:
        """The proofs that are undecided for another reason than an interrupt."""
        return [proof for proof in self.proofs if proof.left_open]


@dataclass(frozen=True)
class ProofCampaign:
    """The campaign: so many seconds of work for each part of some questions.

    `broken` are the places of the questions of which no more parts are examined.
    """

    questions: tuple[Question, ...]
    configuration: Configuration
    broken: frozenset[int] = field(default=frozenset())

    returns_early = False
    unit, units = "part", "parts"

    @cached_property
    def parts(self) -> tuple[tuple[int, int], ...]:
        """The place of the question, and the size of the move, of each part: shape by shape, those
        of moves in play first."""
        return tuple(part for parts in _by_round(self.questions) for part in parts)

    @property
    def rounds(self) -> tuple[range, ...]:
        """The parts of moves in play, and all others, of each shape."""
        ends = accumulate(map(len, _by_round(self.questions)), initial=0)
        return tuple(range(first, end) for first, end in pairwise(ends))

    @property
    def plan(self) -> Plan:
        """A shard for each part."""
        return Plan(self.configuration.digest, len(self.parts), unit=1)

    def worker(self) -> ShardWork:
        """Check that targets and solver here are those of the command. Raises `UsageError`."""
        inputs, options = self.configuration.inputs, self.configuration.options
        if (solver := options["z3"]) != z3.get_version_string():
            raise UsageError(
                f"a worker has z3 {z3.get_version_string()}, this command {solver}: install the"
                " same version on all"
            )
        if options["code"] != own_sources():
            raise UsageError(
                "a worker has other code of channelsim than this command: install the same on all"
            )
        for target, own in zip(self.questions[0].targets, _inputs_by_target(inputs), strict=False):
            check_inputs(target, own)
        return self._examine

    def _examine(self, shard: Shard) -> bytes:
        seconds = self.configuration.options["seconds"]
        place, size = self.parts[shard.first]
        if place in self.broken:
            return msgspec.json.encode(PartResult(size, left_out=True))
        question = self.questions[place]

        def work() -> bytes:
            return msgspec.json.encode(examine(question, size, thread_time() + seconds))

        if isinstance(question.claim, Checked):
            return work()
        done = within(seconds, work)
        if isinstance(done, bytes):
            return done
        return msgspec.json.encode(PartResult(size, undecided=((done, "", 1),)))

    def decode(self, data: bytes) -> PartResult:
        """The result of a part."""
        return msgspec.json.decode(data, type=PartResult)

    def run(self, place: Place) -> ProofReport:
        """Examine all parts; an interrupt ends it early and keeps the results so far."""
        proofs = tuple(map(Proof, self.questions))
        findings: dict[int, Finding] = {}
        run: CampaignRun[PartResult] = CampaignRun()
        seconds, lost = 0.0, list[Shard]()
        for seeds in filter(None, self.rounds):
            campaign = replace(self, broken=frozenset(findings))
            run = engine.run(
                campaign,
                self.plan,
                place.workers(),
                place.directory,
                _Counter(findings),
                place.on_status,
                run.results,
                seeds,
            )
            seconds += run.seconds
            lost += run.lost
            for number, proof in enumerate(proofs):
                proof.parts = [
                    result
                    for shard, result in sorted(run.results.items(), key=_first)
                    if self.parts[shard.first][0] == number
                ]
                if proof.broken and number not in findings:
                    findings[number] = _finding(proof, run)
            place.files.write(findings.values())
            if run.interrupted:
                break
        for shard in lost:
            proofs[self.parts[shard.first][0]].lost += 1
        for proof in proofs:
            proof.interrupted = run.interrupted
        results = with_checks(proofs)
        data = self.configuration.digest.encode() + msgspec.json.encode(results)
        return ProofReport(
            targets=self.questions[0].targets,
            proofs=proofs,
            findings=tuple(findings[number] for number in sorted(findings)),
            results=results,
            parts=len(self.parts),
            seconds=seconds,
            interrupted=run.interrupted,
            lost=tuple(lost),
            digest=None if run.interrupted else sha256(data).hexdigest(),
        )


def _by_round(questions: Iterable[Question]) -> list[list[tuple[int, int]]]:
    """The parts of each round: two for the questions about one shape."""
    rounds: list[list[tuple[int, int]]] = []
    for _, group in groupby(enumerate(questions), key=lambda numbered: numbered[1].shape):
        in_play: list[tuple[int, int]] = []
        others: list[tuple[int, int]] = []
        for place, question in group:
            parts = [(place, size) for size in question.sizes]
            in_play += parts[: len(question.played)]
            others += parts[len(question.played) :]
        rounds += (in_play, others)
    return rounds


def _finding(proof: Proof, run: CampaignRun[PartResult]) -> Finding:
    """The finding of a broken claim, at a place of play unless the user cannot wait for that."""
    counterexample = Counterexample.of(proof)
    if not run.interrupted:
        try:
            return in_play(counterexample)
        except KeyboardInterrupt:
            run.interrupted = True
    return counterexample.finding()


def _first(done: tuple[Shard, PartResult]) -> int:
    return done[0].first


class _Counter:
    """Counts the parts that break a claim, as they come."""

    def __init__(self, findings: Mapping[int, Finding]) -> None:
        self._broken = len(findings)

    def __call__(self, shard: Shard, result: PartResult) -> Counts:
        """Count a part."""
        self._broken += bool(result.counterexample)
        return {"broken": self._broken}


def proof_campaign(questions: Sequence[Question], seconds: float) -> ProofCampaign:
    """The campaign of some questions about the same targets, with so many seconds for each part."""
    target, *others = questions[0].targets
    inputs = target_inputs(target)
    for other in others:
        inputs |= {f"{SECOND}{name}": digest for name, digest in target_inputs(other).items()}
    asked = [
        [
            *(question.claim.name, question.validator),
            *(question.longest, question.pairs, question.atom),
            *([] if question.shape is None else [question.shape.name]),
            *([len(question.sizes)] if isinstance(question.claim, Checked) else []),
        ]
        for question in questions
    ]
    options = {
        "seconds": seconds,
        "questions": asked,
        "parts": sha256(msgspec.json.encode(_by_round(questions))).hexdigest(),
        "z3": z3.get_version_string(),
        # Between releases, the version alone does not say what proved the parts of a campaign.
        "code": own_sources(),
    }
    if others:
        options["against"] = others[0].name
    configuration = Configuration("prove", __version__, target.name, "", inputs, options)
    return ProofCampaign(tuple(questions), configuration)


def _inputs_by_target(inputs: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The inputs of the first target, and those of the second, under their own names."""
    first = {name: digest for name, digest in inputs.items() if not name.startswith(SECOND)}
    second = {
        name.removeprefix(SECOND): digest
        for name, digest in inputs.items()
        if name.startswith(SECOND)
    }
    return first, {**first, **second}
