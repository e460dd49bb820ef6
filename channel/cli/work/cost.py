"""The work of `channelsim cost`."""

from __future__ import annotations

from pathlib import Path

from channelsim.channel.cli.check_reports import Checked, CheckReport, report_files
from channelsim.channel.cli.commands.cost import CASES, SEED, CostOptions
from channelsim.channel.cli.messages import complain, unfinished_output, untried
from channelsim.channel.documents.cost import CostDocument
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.costs import bundles, costs, snapshot
from channelsim.channel.lab.costs.bundles import Bundles
from channelsim.channel.lab.costs.costs import share_text
from channelsim.channel.lab.costs.snapshot import Changes, Snapshot
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.report.progress import progress
from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console, print_json, say
from channelsim.channel.system.interrupt import exit_code, finishing
from channelsim.channel.system.output import opened
from channelsim.clsp.run import MAX_COST
from channelsim.games.amounts import counted

ABOUT = "The node takes every spend, and none costs more than is stored."

MORE = 10
"""The factor of the cases to try if a validator was never tried."""


def measure_costs(options: CostOptions) -> int:
    """Measure the costs of validators and whole spends, and compare them with stored ones."""
    cases = options.cases
    seed = options.seed
    check = options.check
    # An interrupted measurement is printed, but neither written nor compared.
    reference = snapshot.read(check) if check else None
    cases, seed = _measured_as(check, reference, cases, seed)
    with opened("--write", options.write) as file, report_files(options.reports) as write_report:
        with progress("cost", "case", shown=not options.quiet) as bar:
            tried = load(options.target)
            measured = costs.measure(tried, cases, seed, bar)
            bar.phase("whole spends, on a node")
            spends = bundles.measure(measured)
        with finishing():
            now = Snapshot(tried.name, measured.cases, seed, measured.figures(), spends.costs)
            changes = None
            if not spends.interrupted:
                if reference and not reference.lines().keys() & now.lines().keys():
                    raise UsageError(f"{check}: has none of the figures of {tried.name}")
                changes = (
                    snapshot.compare(reference, now, options.tolerance or 0) if reference else None
                )
                file.write(snapshot.text(now).encode())
                file.finish()
            printed = CostDocument(
                target=tried.name,
                dealer=tried.dealer,
                interrupted=spends.interrupted,
                costs=now,
                block=MAX_COST,
                refused=spends.refused,
                left_out=spends.left_out,
                check=changes,
            )
            if options.json:
                print_json(printed)
            else:
                _print(now, spends, tried.cards)
                if changes:
                    _print_changes(changes, check)
                if spends.interrupted:
                    _print_interrupted(options.write, check)
                if changes or spends.refused:
                    say(console(), printed.summary)
            left = untried(tried.programs, now.validators, f"try --cases {MORE * cases}")
            if spends.interrupted:
                left = "interrupted: not all was measured"
            elif left:
                complain(f"{tried.name}: {left}")
            write_report(_check_report(tried, printed, left))
    failed = bool(printed.every_finding()) or bool(left and not spends.interrupted)
    return exit_code(spends.interrupted, failed)


def _check_report(target: Target, printed: CostDocument, incomplete: str) -> CheckReport:
    """One check of all costs."""
    return CheckReport(
        command="cost",
        target=target.name,
        source=target.source,
        checks=[Checked("cost", printed.every_finding(), about=ABOUT)],
        summary=printed.summary,
        incomplete=incomplete,
    )


def _measured_as(
    check: Path | None, reference: Snapshot | None, cases: int | None, seed: str | None
) -> tuple[int, str]:
    """The number of cases and the seed: as given, else as in the snapshot."""
    if reference is None:
        return (CASES if cases is None else cases), (SEED if seed is None else seed)
    if reference.cases < 1:
        raise UsageError(f"{check}: cases: {reference.cases} is not at least 1")
    if cases not in (None, reference.cases) or seed not in (None, reference.seed):
        raise UsageError(
            f"{check}: was measured with --cases {reference.cases} --seed {reference.seed};"
            " leave these options out, or write a new one"
        )
    return reference.cases, reference.seed


def _print(now: Snapshot, spends: Bundles, cards: str) -> None:
    out = console()
    rows: list[tuple[str, ...]] = []
    for name, paths in now.validators.items():
        for path, figures in paths.items():
            numbers = (figures.runs, figures.least, figures.mean, figures.median, figures.most)
            cells = [f"{number:,}" for number in numbers]
            rows.append((name, path, *cells, share_text(figures.most)))
        rows.append(())
    headings = ("validator", "path", "runs", "least", "mean", "median", "most", "of a block")
    title = f"{now.target}: CLVM cost of validators, and of the referee's paths{cards}"
    show_table(out, headings, rows[:-1], title=title, left=2)
    rows = []
    for name, cost in now.bundles.items():
        cells = [f"{part:,}" for part in (cost.clvm, cost.conditions, cost.size, cost.total)]
        rows.append((name, *cells, share_text(cost.total)))
    if rows:
        parts = ("bundle", "CLVM", "conditions", "bytes", "total", "of a block")
        say(out)
        show_table(out, parts, rows, title="whole spends in a block: CLVM, conditions, bytes")
    for name, error in spends.refused.items():
        say(out, f"refused by the node: {name}: {error}")
    for name in spends.left_out:
        say(out, f"left out: {name}: more mojos than a wallet of the node")
    say(out, f"{counted(now.cases, 'case')}, seed {now.seed}; a block holds {MAX_COST:,}")


def _print_interrupted(write: Path | None, check: Path | None) -> None:
    undone = [unfinished_output(write)] if write else []
    undone += [f"nothing is compared with {check}"] if check else []
    print("; ".join(("interrupted: not all was measured", *undone)))


def _print_changes(changes: Changes, check: Path | None) -> None:
    out = console()
    for change in changes.risen:
        say(out, f"higher: {change}")
    for name in changes.gone:
        say(out, f"gone: {name} was not measured")
    for change in changes.fallen:
        say(out, f"lower: {change}")
    for name in changes.new:
        say(out, f"new: {name} is not in {check}")
    if changes.failed:
        say(out, f"{check}: {len(changes.risen)} higher, {len(changes.gone)} gone")
    else:
        say(out, f"{check}: holds; {len(changes.fallen)} lower, {len(changes.new)} new")
