"""The commands and their options."""

from __future__ import annotations

from inspect import getdoc
from pathlib import Path
from typing import Annotated

import typer
from typer.main import get_command

from channel import __version__
from channel.cli.options import (
    file_argument,
    file_option,
    json_wanted,
    real,
    refuse,
    seed_text,
    whole,
)
from games import registry

_GAME = registry.names()[-1]
"""The game of the examples: any that is installed."""

app = typer.Typer(
    name="channelsim",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="A two-party state-channel simulator for Chia. Every rule exists twice, as Python and"
    " as Chialisp, and the two are held against each other on every move."
    f"\n\nExample: channelsim play {_GAME} --hands 2 --seed demo",
)
vectors = typer.Typer(
    no_args_is_help=True,
    help="Conformance cases: JSON Lines, one call of one validator a line."
    "\n\nExample: channelsim vectors check cases.jsonl",
)
app.add_typer(vectors, name="vectors", short_help="Check conformance cases, or make some.")
dispute = typer.Typer(
    no_args_is_help=True,
    help="An honest peer against an adversary, on chain to the last payout."
    "\n\nExample: channelsim dispute run stale-oldest --at 9",
)
app.add_typer(
    dispute, name="dispute", short_help="Run disputes against adversaries, or list those."
)

MOST_MOJOS = 2_000_000_000_000
"""What a wallet of the embedded node holds."""
MOST_CASES = 1_000_000_000
MOST_SEEDS = 1_000_000
DAY = 86_400.0

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
InText = Annotated[
    bool, typer.Option("--text", help="Print text, in a pipe too (where JSON is the default).")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Tell only how it ended.")]
Cases = Annotated[int, whole(1, MOST_CASES, "How many cases.")]
Jobs = Annotated[int | None, whole(1, 256, "How many processes (one a core).")]
TargetName = Annotated[
    str, typer.Argument(help="An installed game, or a TOML file that names programs.")
]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"channelsim {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command(
    help="Play hands in a channel, from funding to clean shutdown."
    f"\n\nExample: channelsim play {_GAME} --seed 7 --policy ask,random"
)
def play(
    game: Annotated[
        str, typer.Argument(help="A game (see `channelsim games`), or several with commas.")
    ],
    hands: Annotated[int | None, whole(1, 100_000, "How many hands (3).")] = None,
    seed: Annotated[
        str | None, seed_text("Any text; the same seed plays the same session.")
    ] = None,
    unit: Annotated[int | None, whole(1, MOST_MOJOS, "A unit, in mojos (100).")] = None,
    stack: Annotated[int | None, whole(1, MOST_MOJOS, "A player's stake in units (10).")] = None,
    balance: Annotated[
        int | None,
        whole(1, MOST_MOJOS, "What each puts into the channel, in mojos (10 stakes)."),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            help="How Alice plays, and Bob: A or A,B (the game's first policy; a game without"
            " that policy plays its first one); `ask` lets you play Alice."
        ),
    ] = None,
    script: Annotated[
        Path | None, file_option("A TOML file that fixes entropy and actions.")
    ] = None,
    json: Json = False,
    text: InText = False,
    transcript: Annotated[Path | None, file_option("Write all that happens to this file.")] = None,
    quiet: Quiet = False,
    adversary: Annotated[
        str | None,
        typer.Option(
            help="Bob is this adversary (see `dispute list`): NAME, or NAME@STEP. One hand, unless"
            " --hands says more; several games are live at once."
        ),
    ] = None,
) -> None:
    """See `channel.cli.play`."""
    as_json = json_wanted(json, text)
    if adversary is not None:
        from channel.cli.dispute import play_against

        raise typer.Exit(
            play_against(
                adversary,
                game,
                seed=seed,
                hands=hands,
                unit=unit,
                stack=stack,
                balance=balance,
                policy=policy,
                as_json=as_json,
                transcript=transcript,
                quiet=quiet,
                script=script,
            )
        )
    from channel.cli.play import play as run

    raise typer.Exit(
        run(
            game=game,
            hands=hands,
            seed=seed,
            unit=unit,
            stack=stack,
            balance=balance,
            policy=policy,
            script=script,
            as_json=as_json,
            transcript=transcript,
            quiet=quiet,
        )
    )


@app.command()
def replay(
    file: Annotated[Path, file_argument("A transcript that `play` wrote, or a finding of `fuzz`.")],
    json: Json = False,
    text: InText = False,
    quiet: Quiet = False,
    target: Annotated[
        str | None,
        typer.Option(help="Of a finding: try it on this target (the one that it was found on)."),
    ] = None,
) -> None:
    """Play a transcript again, or try a finding again.

    Every line of a transcript, and its digest, must come out the same. Of a finding, exit code 1
    says that it still happens.

    Example: channelsim replay session.jsonl
    """
    from channel.system import input_files
    from channel.system.file_kinds import Kind, kind_of

    data = input_files.read(file, input_files.LINES)
    as_json = json_wanted(json, text)
    if target is not None or kind_of(data) is Kind.FINDING:
        from channel.cli.fuzz import replay as try_again

        refuse("is for a transcript, not for a finding", quiet=quiet)
        raise typer.Exit(try_again(file, data, target, json=json))
    from channel.cli.play import replay as run

    raise typer.Exit(run(file, data, as_json=as_json, quiet=quiet))


@app.command()
def games() -> None:
    """List what can be played, with each game's policies.

    Example: channelsim games
    """
    from channel.report.tables import show_table
    from channel.report.terminal import console
    from channel.session.setup import ASK

    rows = []
    for name in registry.names():
        game = registry.get(name)
        rows.append((name, game.title))
        rows.append(("", f"validators: {', '.join(game.validators)}"))
        rows.append(("", f"policies: {', '.join([*game.policies, ASK])}"))
    show_table(console(), (), rows, left=2)


@app.command()
def bench(
    json: Json = False,
    text: InText = False,
    seconds: Annotated[float, real(1, DAY, "Roughly how long to measure.")] = 20.0,
) -> None:
    """Measure a hand against its floor, and the Python rules against CLVM, in one run.

    Example: channelsim bench --json
    """
    from channel.bench.figures import main as run

    raise typer.Exit(run(seconds, as_json=json_wanted(json, text)))


@app.command()
def crosscheck(
    target: TargetName,
    cases: Cases = 50_000,
    seed: Annotated[str, seed_text("Any text; the same seed makes the same cases.")] = "crosscheck",
    jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Hold programs against the rules, on generated hands and mutated moves.

    Example: channelsim crosscheck my-validators.toml --cases 1000000
    """
    from channel.cli.lab import crosscheck as run

    raise typer.Exit(run(target, cases=cases, seed=seed, jobs=jobs, json=json))


@app.command(
    help="Change compiled programs one place at a time, and let the lab find out each."
    f"\n\nExample: channelsim mutants {_GAME} --seconds 60"
)
def mutants(
    game: TargetName,
    seconds: Annotated[
        float, real(0.001, DAY, "How long each mutant is hunted, in seconds of work.")
    ] = 60.0,
    seed: Annotated[str, seed_text("Any text; the same seed makes the same cases.")] = "mutants",
    jobs: Jobs = None,
    validator: Annotated[
        str | None, typer.Option(help="Only this validator's, or `referee` (all validators').")
    ] = None,
    argued: Annotated[
        bool, typer.Option("--argued", help="Hunt those too that have a stored reason.")
    ] = False,
    json: Json = False,
) -> None:
    """See `channel.cli.mutants`."""
    from channel.cli.mutants import mutants as run

    raise typer.Exit(
        run(
            game,
            seconds=seconds,
            seed=seed,
            jobs=jobs,
            validator=validator,
            argued_too=argued,
            json=json,
        )
    )


@app.command()
def cost(
    target: TargetName,
    cases: Annotated[int | None, whole(1, MOST_CASES, "How many cases (5000).")] = None,
    seed: Annotated[
        str | None, seed_text("Any text; the same seed costs the same cases (cost).")
    ] = None,
    write: Annotated[Path | None, file_option("Write the figures to this file.")] = None,
    check: Annotated[
        Path | None, file_option("Fail if a figure is higher than in this file.")
    ] = None,
    tolerance: Annotated[
        float | None, real(0, 1_000_000, "By so many percent figures may rise (0).")
    ] = None,
    json: Json = False,
) -> None:
    """Measure what validators, the referee's paths and whole spends cost, of a block.

    Example: channelsim cost my-validators.toml --check costs.toml --tolerance 1
    """
    from channel.cli.cost import cost as run

    raise typer.Exit(
        run(
            target,
            cases=cases,
            seed=seed,
            write=write,
            check=check,
            tolerance=tolerance,
            json=json,
        )
    )


@app.command()
def coverage(
    target: TargetName,
    corpus: Annotated[Path, file_option("A folder with a .jsonl of cases for each validator.")],
    html: Annotated[
        Path | None, file_option("Write a page with the code, marked, to this file.")
    ] = None,
    json: Json = False,
) -> None:
    """Show which nodes and branches of each program a corpus reaches, and which it never does.

    Example: channelsim coverage my-validators.toml --corpus cases --html page.html
    """
    from channel.cli.coverage import coverage as run

    raise typer.Exit(run(target, corpus=corpus, html=html, json=json))


@app.command()
def trace(
    file: Annotated[Path, file_argument("Conformance cases (.jsonl), or a finding (.json).")],
    case: Annotated[
        str | None, typer.Option(help="The id of a case in the file (the first one).")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="A TOML file: look at its programs instead of ours.")
    ] = None,
    verbose: Annotated[
        int, typer.Option("-v", count=True, help="-v: every operator; -vv: every node.")
    ] = 0,
) -> None:
    """Show the steps of one run, by function name, to the operator that decided.

    Example: channelsim trace cases.jsonl --case my-case
    """
    from channel.cli.trace import trace as run

    raise typer.Exit(run(file, target=target, case=case, verbosity=verbose))


@app.command()
def fuzz(
    target: TargetName,
    seconds: Annotated[float, real(0.1, 30 * DAY, "About how long.")] = 60.0,
    seed: Annotated[str, seed_text("Any text; the same seed and jobs find the same.")] = "fuzz",
    jobs: Jobs = None,
    corpus: Annotated[
        Path | None,
        file_option("A folder of cases to start from; what reaches more is added."),
    ] = None,
    out: Annotated[
        Path | None,
        file_option("Where findings are kept (.channelsim/NAME/findings); tried first."),
    ] = None,
    json: Json = False,
    junit: Annotated[Path | None, file_option("Write a JUnit report to this file.")] = None,
) -> None:
    """Look for moves that steal, and evidence that robs: guided by what the programs' runs reach.

    Exit code 0: nothing found; 1: findings, each kept in a file; 2: wrong use.

    Example: channelsim fuzz my-validators.toml --seconds 120
    """
    from channel.cli.fuzz import fuzz as run

    raise typer.Exit(
        run(
            target,
            seconds=seconds,
            seed=seed,
            jobs=jobs,
            corpus=corpus,
            out=out,
            json=json,
            junit=junit,
        )
    )


@dispute.command("list")
def dispute_list() -> None:
    """List the adversaries, with what each does.

    Example: channelsim dispute list
    """
    from channel.cli.dispute import list_adversaries

    raise typer.Exit(list_adversaries())


@dispute.command("run")
def dispute_run(
    name: Annotated[
        str | None, typer.Argument(help="An adversary (see `dispute list`): NAME, or NAME@STEP.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Run every adversary.")] = False,
    seeds: Annotated[int | None, whole(1, MOST_SEEDS, "With --all: how many seeds (1).")] = None,
    jobs: Annotated[
        int | None, whole(1, 256, "With --all: how many processes, at most one a seed (1).")
    ] = None,
    seed: Annotated[
        str | None, seed_text("Any text; the same seed runs the same (dispute).")
    ] = None,
    at: Annotated[
        int | None, whole(0, 999_999, "After how many of its messages it deviates (8).")
    ] = None,
    side: Annotated[
        str | None, typer.Option(help="Who the adversary is: alice or bob (bob).")
    ] = None,
    game: Annotated[
        str | None, typer.Option(help="A game, or several with commas, live at once.")
    ] = None,
    weather: Annotated[
        str | None, typer.Option(help="The chain: calm, reorgs, slow, full or cut-off (calm).")
    ] = None,
    fees: Annotated[
        int | None,
        whole(0, 1_000_000, "What the honest side pays for urgent spends, in mojos (0)."),
    ] = None,
    hands: Annotated[int | None, whole(1, 100, "How often the games are played (1).")] = None,
    staggered: Annotated[
        bool, typer.Option("--staggered", help="Each game by itself, the next some moves later.")
    ] = False,
    json: Json = False,
    text: InText = False,
    transcript: Annotated[Path | None, file_option("Write all that happens to this file.")] = None,
) -> None:
    """Run a dispute, or with --all every adversary; exit code 1 for a broken promise.

    Example: channelsim dispute run silent@7 --weather reorgs --seed 3
    """
    from channel.cli.dispute import run_everything, run_one
    from channel.errors import UsageError

    as_json = json_wanted(json, text)
    if everything == (name is not None):
        raise UsageError("dispute run: the name of an adversary, or --all")
    if everything:
        refuse(
            "--all tries every one of them; leave it out, or name an adversary instead",
            at=at,
            side=side,
            game=game,
            weather=weather,
            fees=fees,
            hands=hands,
            staggered=staggered,
        )
        refuse("is of one dispute: name an adversary instead of --all", transcript=transcript)
        raise typer.Exit(
            run_everything(seed=seed, seeds=seeds or 1, jobs=jobs or 1, as_json=as_json)
        )
    refuse("goes with --all; one dispute has one --seed", seeds=seeds)
    refuse("goes with --all; one dispute runs in one process", jobs=jobs)
    raise typer.Exit(
        run_one(
            name or "",
            seed=seed,
            step=at,
            side="bob" if side is None else side,
            games=game,
            weather="calm" if weather is None else weather,
            fees=fees or 0,
            hands=hands,
            staggered=staggered,
            as_json=as_json,
            transcript=transcript,
        )
    )


@dispute.command("faults")
def dispute_faults(
    names: Annotated[
        list[str] | None, typer.Argument(help="Faults by name, or a part of it (all).")
    ] = None,
    jobs: Annotated[int | None, whole(1, 256, "In how many processes (1).")] = None,
    seed: Annotated[
        str | None, seed_text("Any text; the same seed runs the same (faults).")
    ] = None,
    json: Json = False,
    text: InText = False,
) -> None:
    """Plant faults in the honest side, and tell which adversary and promise notices each.

    Every check of the engine is left out in turn, and much is done wrongly. Exit code 1: a fault
    went unnoticed.

    Example: channelsim dispute faults --jobs 2
    """
    from channel.cli.faults import look_for_faults

    as_json = json_wanted(json, text)
    raise typer.Exit(look_for_faults(names or (), seed=seed, jobs=jobs or 1, as_json=as_json))


@vectors.command("check")
def vectors_check(
    files: Annotated[list[Path], file_argument("Files of conformance cases.")],
    target: Annotated[
        Path | None, file_option("A TOML file: try its programs, and only them.")
    ] = None,
) -> None:
    """Run conformance cases through the Python rules and the programs.

    Example: channelsim vectors check cases.jsonl more.jsonl
    """
    from channel.cli.vectors import check

    raise typer.Exit(check(files, target))


@vectors.command(
    "make",
    help="Write conformance cases around generated hands; rules and programs agree on each."
    f"\n\nExample: channelsim vectors make {_GAME} --cases 2000 -o cases.jsonl",
)
def vectors_make(
    game: Annotated[str, typer.Argument(help="A game (see `channelsim games`).")],
    output: Annotated[Path, file_option("The file to write.", "-o", "--output")],
    cases: Cases = 1000,
    seed: Annotated[str, seed_text("Any text; the same seed makes the same cases.")] = "vectors",
) -> None:
    """See `channel.cli.vectors`."""
    from channel.cli.vectors import make

    raise typer.Exit(make(game, cases=cases, seed=seed, output=output))


def _summary(help: str) -> str:
    """The first paragraph, which lists of commands show whole."""
    return " ".join(help.partition("\n\n")[0].split())


for _group in (app, vectors, dispute):
    for _command in _group.registered_commands:
        _command.short_help = _summary(_command.help or getdoc(_command.callback) or "")

commands = get_command(app)
"""The whole tree of commands, built once: that takes longer than to run a short one."""
