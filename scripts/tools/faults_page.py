"""The page of faults: what can go wrong in attacked sessions, what must hold, and what was noticed.

The model of faults and the monitors are read from the code. The ledger is that of the campaign in
`tests/data/attack/campaign.json`, as `channelsim attack --json` prints it, and the table of planted
faults has the results in `tests/data/attack/faults.json`, as
`python -m scripts.tools.attack_faults --out` writes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

import msgspec

from channelsim.channel.attack.actions import Attack
from channelsim.channel.attack.kinds import (
    BLOCK,
    CALL,
    DEADLINE,
    EVENT,
    FILE,
    KINDS,
    MESSAGE,
    STATEMENT,
    STEP,
)
from channelsim.channel.attack.monitors import MONITORS
from channelsim.channel.documents.attack import AttackDocument
from channelsim.channel.documents.document_files import read_document
from channelsim.games.amounts import counted
from scripts.tools import ROOT, explore_faults, table
from scripts.tools.attack_faults.planting import PARTS, Fault
from scripts.tools.attack_faults.search import Result, Results
from scripts.tools.attack_faults.table import faults

DATA = ROOT / "tests" / "data" / "attack"
"""The folder of the stored results."""

_HEAD = """# Faults

[`channelsim attack`](disputes.md#sessions-under-attack) runs whole sessions in which something goes
wrong: at messages, connections, nodes, disks, files, processes, blocks, and in what players want.
This page has the model of faults, what must hold whatever goes wrong, what the last campaign
reached, and how soon faults that are planted in the product itself are noticed.

`python -m scripts.tools` writes it: the first two parts from the code, the ledger from the
campaign in `tests/data/attack/campaign.json` (`channelsim attack --json`), and the tables of
planted faults from `tests/data/attack/faults.json`
(`python -m scripts.tools.attack_faults --out FILE`) and
`tests/data/explore/faults.json` (`python -m scripts.tools.explore_faults --out FILE`)."""

COUNTERS = {
    MESSAGE: "a side's messages",
    EVENT: "the events of a side's peer",
    CALL: "the calls of a side's node",
    STATEMENT: "the statements of a side's store that write",
    FILE: "what is added to the file of a side's watcher",
    BLOCK: "the blocks of the chain",
    DEADLINE: "the blocks at whose height something ends or begins for a peer",
    STEP: "the messages that a hostile side's own peer makes",
}
"""What actions wait for, in words."""

_KINDS = """## The model of faults

A script has a few *actions*. Each is of a kind, and waits for a number on a counter. So a script
with fewer actions has the others at their places, and the same script gives the same bytes. A
*cause* may bring two honest sides on chain; all other kinds may not."""

_COVERED = """### What is covered

- Both sides are the processes that users run: the runner, the link with its frames and pauses, the
  player of `peer`, `close` or `recover`, their first and last lines, the store in SQLite, the
  watcher's files, and a watcher with a copy of these, which pays fees where its side does.
- In some sessions each side asks its node in the JSON of the RPC, or two nodes of which one fails
  at times; what is read is compared with what they have.
- One side may be hostile, with its real keys: it deviates as each adversary does, changes fields,
  says what would be right elsewhere, and spends what its signatures allow.
- A side may go on from an older copy of its files. Games with decks, and fees, are drawn, too.
- Other nodes of a side have its spends in pins, several of them, or say falsely what they pay.
- Several faults in one session, at any of their places, also a second one during a restart from
  the first.
- Faults last for 40 blocks. Then everything works, and both sides have to settle.

### What is not

- Sockets, TLS and threads are replaced by an event loop with virtual time: a test of two real
  processes has them (`tests/test_two_peers.py`), and `crash-test --processes` kills real ones.
- SQLite itself is believed: a statement is done, fails, or is done but not synchronised. Torn
  pages, bits that flip, and copies of its files that are not whole are tried in tests of the store
  (`tests/channel/store`), by themselves.
- A power loss takes what was not synchronised of the watcher's files; of the store it takes what
  was written since a synchronisation failed, until another one is done. Nothing that a process
  says may follow from that; a process that starts synchronises what it finds.
- Seconds of processor time and bytes of memory are not measured in sessions: they differ from
  machine to machine. Signatures, runs of programs, calls of the node, items that are kept, effects,
  watched coins, bytes to send and bytes on disk are counted.
- What a command asks at a terminal, and how it reads options, is tried by tests of the commands;
  its lines are printed in each session.
- Reorganisations replace no more blocks than both sides wait for (`confirmations`): deeper ones
  can take money from anybody. But a funding that both honest sides want is taken back however deep
  it is (`undo-funding`), with all that came of it."""

_MONITORS = """## Monitors

Each looks at every event of both sides, at every restart, at the files of every process that ended,
or at the end."""

_PLANTED = """## Planted faults

Each fault is planted in both sides, in one part of the product at a time, and nothing else changes.
The sessions are those of `attack` with a seed. Each is run once without any fault, to see which
faults it would *reach*: their code runs, or something would differ. A session that does not reach a
fault is as it was, so only the others are run with it.
*Noticed* is the number of the first session that breaks a monitor which the same session keeps
without the fault. Of faults that were not noticed, the table has the number of the sessions that
were looked at, and of those that reached the fault, all of which were run.
The search knows nothing of the table."""

EXTENT = "at most 40 with each fault, of the first 1,500, in fast mode"
"""The sessions of the results, but for those of other seeds."""

OTHERS = {
    "table-31": (
        "at most 120 with each fault, of the first 3,000, after policies, old copies and folds were"
        " drawn more widely, and some monitors were added"
    ),
    "table-33": (
        "at most 1,500 with each fault, of the first 3,000, after sessions with several games at"
        " once were drawn, and adversaries got games in which they can act"
    ),
    "table-35": (
        "at most 1,500 with each fault, of the first 3,000, after nodes refused pushes, and checks"
        " were added that single changes of the engine had shown to be missing"
    ),
    "table-36": (
        "at most 1,500 with each fault, of the first 3,000, after more pushes were refused where"
        " fees are due"
    ),
    "table-40": (
        "at most 1,500 with each fault, of the first 3,000, after nodes refused a spend for several"
        " blocks, and spends waited for a fee coin that is about to be heard of"
    ),
    "table-41": (
        "at most 1,500 with each fault, of the first 3,000, after watchers had coins for fees"
    ),
    **dict.fromkeys(
        ("table-42", "table-43", "table-44", "table-45"),
        "at most 1,500 with each fault, of the first 3,000, while the faults of two reviews were"
        " planted, and the checks that they showed to be missing were added",
    ),
    "table-50": (
        "at most 1,500 with each fault, of the first 3,000, after a third review, when nodes fell"
        " behind, decks were prepared falsely, and fees were worth their stakes"
    ),
    "table-51": "the same, of another half of these faults",
    "table-52": (
        "at most 600 with each fault, of the first 3,000, after those who prepare decks falsely got"
        " sessions of their own"
    ),
    "table-54": "at most 60, of the first 400, after watchers started again in one absence",
    "table-53": "at most 1,500 with each fault, of the first 3,000, while these checks were made",
    "table-56c": (
        "at most 600 with each fault, of the first 3,000, after nodes were asked by their RPC"
    ),
    "table-55": (
        "at most 1,500 with each fault, of the first 3,000, after watchers got copies of their own,"
        " and the lines of commands and declined hands were checked"
    ),
    "table-56b": (
        "at most 300 with each fault, of the first 1,500, after dealers chose games, several"
        " proposals waited, and orders, questions and true cards were checked"
    ),
    "table-56a": (
        "at most 300 with each fault, of the first 1,500, after sides failed by themselves, deep"
        " fundings were taken back, and other nodes had spends in pins"
    ),
    "table-60": (
        "at most 600 with each fault, of the first 3,000, of faults that no monitor had noticed"
        " before"
    ),
    "table-61": (
        "at most 600 with each fault, of the first 3,000, of faults that sessions of others, or a"
        " campaign, had shown to be missing"
    ),
    "table-57": (
        "at most 600 with each fault, of the first 3,000, of a fault of ours that a campaign had"
        " found, and of those that fewer sessions had not shown"
    ),
    "table-56aa": "at most 100, of the first 800, after pins with two spends of a side were drawn",
}
"""The sessions of other results, by their seeds."""


def page() -> str:
    """The page, as Markdown."""
    parts = (_HEAD, _KINDS, _kinds(), _COVERED, _MONITORS, _monitors(), _ledger(), *_planted())
    parts = (*parts, *_explored())
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _kinds() -> str:
    rows = (
        (
            f"`{kind.name}`",
            COUNTERS.get(kind.counter, kind.counter),
            kind.about,
            _yes(kind.is_cause),
        )
        for kind in KINDS.values()
    )
    return table(("kind", "waits for a number of", "the session in which …", "cause"), rows)


def _monitors() -> str:
    return table(("id", "what must hold"), ((f"`{name}`", MONITORS[name]) for name in MONITORS))


def _yes(value: bool) -> str:
    return "yes" if value else ""


# --- the ledger ----------------------------------------------------------------------------------


def _ledger() -> str:
    document = read_document(DATA / "campaign.json")
    assert isinstance(document, AttackDocument)
    counts: list[tuple[str, int]] = []
    ledgers: list[tuple[str, dict[str, int]]] = []
    for name in document.__struct_fields__:
        value = getattr(document, name)
        if isinstance(value, dict):
            ledgers.append((name, value))
        elif isinstance(value, int) and not isinstance(value, bool):
            counts.append((name.replace("_", " "), value))
    parts = [
        "## The last campaign",
        f"Games: {document.target}. Seed: `{document.seed}`. Digest: `{document.digest}`.",
        table(("figure", "number"), ((name, f"{count:,}") for name, count in counts)),
    ]
    for name, ledger in ledgers:
        head = name.replace("_", " ").capitalize()
        rows = ((f"`{key}`", f"{count:,}") for key, count in ledger.items())
        parts += [f"### {head}, by the number of sessions or actions", table(("", "times"), rows)]
    if document.findings:
        mended = {
            msgspec.json.decode(line, type=Attack)
            for line in (DATA / "mended.jsonl").read_bytes().splitlines()
        }
        found = (
            (finding.rule, finding.text, _yes(msgspec.convert(finding.scenario, Attack) in mended))
            for finding in document.findings
        )
        parts += [
            "### Findings",
            "What is mended has its script among those that the tests run again.",
            table(("monitor", "what was found", "mended"), found),
        ]
    return "\n\n".join(parts)


# --- planted faults ------------------------------------------------------------------------------


def _planted() -> Iterator[str]:
    results = msgspec.json.decode((DATA / "faults.json").read_bytes(), type=Results)
    planted = faults()
    found = {fault.name: results.results.get(fault.name, Result(fault.name)) for fault in planted}
    yield _PLANTED
    newer = [f"`{kind}`" for kind in KINDS if kind not in results.kinds]
    since = f" These kinds of actions came later: {', '.join(newer)}." if newer else ""
    yield f"Seed: `{results.seed}`, {EXTENT}. {_summary(planted, found)}{since}"
    for seed, how in OTHERS.items():
        others = sum(result.seed == seed for result in found.values())
        if others:
            are = "is" if others == 1 else "are"
            yield f"{counted(others, 'row')} {are} of the sessions of the seed `{seed}`: {how}."
    rows = [_counted(part, planted, found) for part in PARTS]
    yield table(
        ("part", "faults", "noticed", "argued", "reached, not noticed", "not reached"), rows
    )
    for part in PARTS:
        yield f"### In the {part}" if not part.endswith("s") else f"### In {part}"
        yield table(
            ("fault", "what is wrong", "noticed", "by", "seed"),
            (_row(fault, found[fault.name]) for fault in planted if fault.part == part),
        )
    argued = [fault for fault in planted if fault.argued]
    yield "### Argued"
    yield "No session can notice these, for the reason that is given; a unit test does."
    yield table(
        ("fault", "why", "test"),
        ((f"`{fault.name}`", fault.argued, f"`{fault.test}`") for fault in argued),
    )


def _summary(planted: Sequence[Fault], found: dict[str, Result]) -> str:
    noticed = [found[fault.name].noticed for fault in planted if found[fault.name].noticed]
    half = f", half of them within {counted(round(median(noticed)), 'session')}" if noticed else ""
    return f"{len(noticed)} of {len(planted)} faults were noticed{half}."


def _counted(part: str, planted: Sequence[Fault], found: dict[str, Result]) -> tuple[str, ...]:
    mine = [fault for fault in planted if fault.part == part]
    noticed = [fault for fault in mine if found[fault.name].noticed]
    argued = [fault for fault in mine if fault.argued and fault not in noticed]
    silent = [fault for fault in mine if fault not in noticed and fault not in argued]
    reached = sum(found[fault.name].reached > 0 for fault in silent)
    counts = (len(mine), len(noticed), len(argued), reached, len(silent) - reached)
    return (part, *map(str, counts))


def _row(fault: Fault, result: Result) -> tuple[str, ...]:
    noticed, by = f"{result.noticed}", f"`{result.monitor}`"
    if not result.noticed:
        noticed = f"not in {result.sessions}" if result.sessions else "not tried"
        by = "argued" if fault.argued else f"reached in {result.reached}"
    return f"`{fault.name}`", fault.what, noticed, by, f"`{result.seed}`" if result.seed else ""


def _explored() -> Iterator[str]:
    """The faults that were planted for `explore`."""
    stored = msgspec.json.decode(explore_faults.DATA.read_bytes(), type=explore_faults.Results)
    noticed = [result for result in stored.results if result.is_noticed]
    yield "## Faults and `explore`"
    yield (
        f"[`channelsim explore`](disputes.md#every-state-within-bounds) noticed {len(noticed)} of"
        f" {len(stored.results)} planted faults, within {stored.states:,} states of each search"
        f" ({stored.game}, seed `{stored.seed}`): the path breaks the promise with the fault, and"
        " none without it. *States* are those that were visited before."
    )
    rows = (
        (
            f"`{result.fault}`",
            result.what,
            f"{result.states:,}" if result.is_noticed else f"not in {result.states:,}",
            f"`{result.how.partition(':')[0]}`" if result.is_noticed else "",
            "; ".join(result.path),
        )
        for result in stored.results
    )
    yield table(("fault", "what is wrong", "states", "by", "path"), rows)
