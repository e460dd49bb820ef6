"""The directory of a campaign: everything needed to resume it, and to view it later.

| file | contents |
|---|---|
| `campaign.json` | the configuration and the plan (`CampaignFile`); written once |
| `shards.jsonl` | a line for each shard that is done (`ShardLine`), durable once it is there |
| `progress.jsonl` | a line for each shard as it came (`ProgressLine`): counts over time |
| `findings/NAME.json` | a finding each, written when found |
| `corpus/VALIDATOR.jsonl` | cases that reached new code, as conformance cases |
| `summary.json` | the document of the command (`--json`), once the campaign is done |
| `prepared` | a campaign that comes before this one, in a directory of its own (of `mutants`) |

`campaign.json` and `shards.jsonl` decide everything; the other files follow from them. One process
at a time may write to a directory; anyone may read it meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from channelsim.channel.campaign.engine import CampaignStatus, ProgressLine, Seconds
from channelsim.channel.campaign.job import Job, ShardResult
from channelsim.channel.campaign.shards import FORMAT, Configuration, Plan, Shard
from channelsim.channel.errors import UsageError
from channelsim.channel.system.durable_files import replace_file, write_once
from channelsim.channel.system.input_files import MB, complete_lines, is_missing, read
from channelsim.channel.system.input_files import opened as opened_file
from channelsim.channel.system.line_log import LineLog
from channelsim.games.amounts import counted
from channelsim.games.names import quoted

R = TypeVar("R")
L = TypeVar("L")

CAMPAIGN, SHARDS, PROGRESS = "campaign.json", "shards.jsonl", "progress.jsonl"
FINDINGS, CORPUS, SUMMARY = "findings", "corpus", "summary.json"
PREPARED = "prepared"

SHARDS_HEADER = b'{"format":"channelsim shards 1"}'
PROGRESS_HEADER = b'{"format":"channelsim progress 1"}'
"""The first lines of the files of lines."""

MOST = 1 << 36
"""The most bytes of a file that is read, line by line."""

NAMED = 20
"""Damaged lines that are named; of more, only their number."""


class CampaignFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The description of a campaign. `unit` names its unit of work in the plural (`cases`)."""

    format: str
    configuration: Configuration
    plan: Plan
    unit: str


class ShardLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A shard that is done: its result as the command writes it, and the processor seconds it took.

    `digest` is the SHA-256 of the result's JSON.
    """

    shard: Shard
    seconds: Seconds
    digest: str
    result: msgspec.Raw


_shard_decoder = msgspec.json.Decoder(ShardLine)
_progress_decoder = msgspec.json.Decoder(ProgressLine)


class CampaignDirectory(Generic[R]):
    """An open directory of a campaign; the journal of its engine.

    `complaints` are lines on what could not be used, for the user.
    """

    def __init__(
        self,
        path: Path,
        file: CampaignFile,
        shards: LineLog,
        progress: LineLog,
        notes: Sequence[str] = (),
    ) -> None:
        self.path, self._file = path, file
        self._shards, self._progress = shards, progress
        self.complaints: list[str] = list(notes)
        self._notes = notes

    @property
    def findings(self) -> Path:
        """The folder of findings."""
        return self.path / FINDINGS

    @property
    def corpus(self) -> Path:
        """The folder of the corpus."""
        return self.path / CORPUS

    def stored(self, job: Job[R]) -> dict[Shard, R]:
        """The results of the shards that are done. Shards of damaged lines count as not done.

        Raises `UsageError` for two results of one shard, of which nobody can say which is right.
        """
        file = self.path / SHARDS
        results: dict[Shard, R] = {}
        damaged: list[str] = []
        for number, line in enumerate(self._shards.lines(), 2):
            try:
                done = _shard_line(line)
                if not self._file.plan.covers(done.shard):
                    raise ValueError("of another campaign")
                result = job.decode(bytes(done.result))
            except (ValueError, RecursionError) as error:
                damaged.append(
                    f"{file}: line {number} is damaged; its shard is done again"
                    f" ({ascii(str(error)[:100])[1:-1]})"
                )
                continue
            if results.setdefault(done.shard, result) != result:
                raise UsageError(
                    f"{file}: line {number} has another result of a shard than a line before;"
                    " start again in another directory"
                )
        # A campaign in rounds asks for them again in each.
        self.complaints = [*self._notes, *damaged[:NAMED]]
        if len(damaged) > NAMED:
            more = counted(len(damaged) - NAMED, "more line")
            self.complaints.append(f"{file}: {more} damaged; their shards are done again")
        if self._shards.torn:
            self.complaints.append(f"{file}: the last line is incomplete; its shard is done again")
        return results

    def record(self, shard: Shard, result: ShardResult) -> None:
        """Store the result of a shard; it is on disk when this returns."""
        line = ShardLine(
            shard, round(result.seconds, 3), _digest(result.data), msgspec.Raw(result.data)
        )
        self._shards.append([msgspec.json.encode(line)])

    def note(self, status: CampaignStatus) -> None:
        """Add a line about the campaign's progress."""
        fields = {name: getattr(status, name) for name in ProgressLine.__struct_fields__}
        line = ProgressLine(**fields | {"seconds": round(status.seconds, 3)})
        self._progress.append([msgspec.json.encode(line)], sync=False)

    def write_summary(self, document: object) -> None:
        """Write the document of a campaign that is done. Raises `UsageError`."""
        self._write(Path(SUMMARY), document)

    def _write(self, name: Path, document: object) -> Path:
        path = self.path / name
        data = msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
        try:
            path.parent.mkdir(exist_ok=True)
            replace_file(path, data, sync=True)
        except OSError as error:
            raise _unwritable(path, error) from None
        return path


@contextmanager
def opened(
    path: Path, configuration: Configuration, plan: Plan, unit: str, *, resume: bool
) -> Iterator[CampaignDirectory[Any]]:
    """Begin a campaign in a directory, or resume the one there (`resume`).

    Raises `UsageError`: another process uses the directory; it has a campaign and `resume` is
    False, or none or another one and `resume` is True; it has other files only.
    """
    file = CampaignFile(FORMAT, configuration, plan, unit)
    there = path / CAMPAIGN
    if resume and not there.exists():
        raise UsageError(f"--resume: {path} holds no campaign; start one without --resume")
    try:
        path.mkdir(parents=True, exist_ok=True)
        _check_own(path)
    except OSError as error:
        raise _unwritable(path, error) from None
    # The file of shards is also the lock.
    shards = LineLog(path / SHARDS, SHARDS_HEADER, MOST)
    try:
        _check_header(path / SHARDS, shards.first, SHARDS_HEADER)
        if there.exists():
            _check_same(path, read_campaign(path), file, resume=resume)
        elif any(True for _ in shards.lines()):
            raise UsageError(f"{path / SHARDS}: of a campaign, but {CAMPAIGN} is missing")
        else:
            try:
                write_once(there, msgspec.json.format(msgspec.json.encode(file)) + b"\n")
            except OSError as error:
                raise _unwritable(there, error) from None
        progress = LineLog(path / PROGRESS, PROGRESS_HEADER, MOST)
        notes: list[str] = []
        if progress.first != PROGRESS_HEADER:
            # It decides nothing, and is not synchronised: a power cut may damage it.
            progress.close()
            (path / PROGRESS).replace(path / f"{PROGRESS}.damaged")
            progress = LineLog(path / PROGRESS, PROGRESS_HEADER, MOST)
            notes.append(f"{path / PROGRESS}: damaged; put aside, and begun anew")
        try:
            yield CampaignDirectory(path, file, shards, progress, notes)
        finally:
            progress.close()
    finally:
        shards.close()


def _check_own(path: Path) -> None:
    """Refuse a folder that somebody uses for something else."""
    names = sorted(entry.name for entry in path.iterdir() if not entry.name.startswith("."))
    if names and not {CAMPAIGN, SHARDS, PREPARED} & set(names):
        raise UsageError(
            f"--out {path}: it holds no campaign, but {quoted(names[0])}; name an empty folder or"
            " a new one"
        )


def _check_header(path: Path, first: bytes, header: bytes) -> None:
    """Refuse a file of something else, or of another version, before anything is added to it."""
    if first != header:
        raise UsageError(f"{path}: its first line is not {header.decode()}: no file of a campaign")


def _check_same(path: Path, old: CampaignFile, new: CampaignFile, *, resume: bool) -> None:
    if not resume:
        raise UsageError(
            f"--out {path}: it already holds a campaign; resume it with --resume, or name"
            " another directory"
        )
    differences = new.configuration.differences(old.configuration)
    if not differences and new != old:
        differences = [f"the plan of the same configuration; {CAMPAIGN} was changed"]
    if differences:
        raise UsageError(f"--resume: not the campaign in {path}: {_first(differences)}")


def _first(differences: Sequence[str]) -> str:
    """The first difference, and how many follow: of another target, everything else differs too."""
    more = len(differences) - 1
    return f"{differences[0]}; and {counted(more, 'more difference')}" if more else differences[0]


# --- for readers ------------------------------------------------------------------------------


def is_campaign(path: Path) -> bool:
    """True if a directory holds a campaign."""
    return (path / CAMPAIGN).is_file()


def read_campaign(path: Path) -> CampaignFile:
    """Read the description of the campaign in a directory. Raises `UsageError`."""
    file = path / CAMPAIGN
    try:
        campaign = msgspec.json.decode(read(file, MB), type=CampaignFile)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = ascii(str(error)[:200])[1:-1]
        raise UsageError(f"{file}: not the configuration of a campaign ({reason})") from None
    if campaign.format != FORMAT:
        raise UsageError(f"{file}: its format is {campaign.format[:60]!a}, not {FORMAT!r}")
    if min(campaign.plan.total, campaign.plan.unit, campaign.plan.seeds_per_shard) < 1:
        raise UsageError(f"{file}: not the configuration of a campaign (an empty plan)")
    return campaign


def read_shards(path: Path) -> Iterator[ShardLine]:
    """The shards that are done, also of a campaign that runs. Leaves out damaged lines."""
    return _read(path / SHARDS, SHARDS_HEADER, _shard_line)


def read_progress(path: Path) -> Iterator[ProgressLine]:
    """Read the progress of the campaign over time, in order. Leaves out damaged lines."""
    return _read(path / PROGRESS, PROGRESS_HEADER, _progress_decoder.decode)


def _read(path: Path, header: bytes, decode: Callable[[bytes], L]) -> Iterator[L]:
    """The lines after the first, one by one; none if the file is still empty."""
    if is_missing(path):
        return
    with opened_file(path, MOST) as file:
        if header.startswith(file.read(len(header) + 1)):
            return
    lines = complete_lines(path, MOST)
    _check_header(path, next(lines, b""), header)
    for line in lines:
        try:
            yield decode(line)
        except (ValueError, RecursionError):
            continue


def _shard_line(line: bytes) -> ShardLine:
    """Raises `ValueError`."""
    shard_line = _shard_decoder.decode(line)
    if _digest(bytes(shard_line.result)) != shard_line.digest:
        raise ValueError("its result was changed")
    return shard_line


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def _unwritable(path: Path, error: OSError) -> UsageError:
    reason = "it is no folder" if isinstance(error, FileExistsError) else error.strerror or error
    return UsageError(f"{path}: cannot be written ({reason})")
