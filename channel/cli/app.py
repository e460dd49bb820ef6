"""The commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from channel import __version__
from games import registry

_GAME = registry.names()[-1]
"""The game of the examples: any that is installed."""

app = typer.Typer(
    name="channelsim",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="A two-party state-channel simulator for Chia. Every rule exists twice, as Python and"
    " as Chialisp, and the two are held against each other on every move."
    f"\n\nExample: [bold]channelsim play {_GAME} --hands 2 --seed demo[/bold]",
)
vectors = typer.Typer(
    no_args_is_help=True,
    help="Conformance cases: JSON Lines, one call of one validator a line."
    "\n\nExample: [bold]channelsim vectors check cases.jsonl[/bold]",
)
app.add_typer(vectors, name="vectors")
dispute = typer.Typer(
    no_args_is_help=True,
    help="An honest peer against an adversary, on chain to the last payout."
    "\n\nExample: [bold]channelsim dispute run stale-oldest --at 9[/bold]",
)
app.add_typer(dispute, name="dispute")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


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
    f"\n\nExample: [bold]channelsim play {_GAME} --seed 7 --policy ask,random[/bold]"
)
def play(
    game: Annotated[
        str, typer.Argument(help="A game (see `channelsim games`), or several with commas.")
    ],
    hands: Annotated[int | None, typer.Option(help="How many hands (3).")] = None,
    seed: Annotated[
        str | None, typer.Option(help="Any text; the same seed plays the same session.")
    ] = None,
    unit: Annotated[int | None, typer.Option(help="A unit, in mojos (100).")] = None,
    stack: Annotated[int | None, typer.Option(help="A player's stake in units (10).")] = None,
    balance: Annotated[
        int | None, typer.Option(help="What each puts into the channel, in mojos (10 stakes).")
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            help="How Alice plays, and Bob: A or A,B (the game's first policy; a game without"
            " that policy plays its first one); `ask` lets you play Alice."
        ),
    ] = None,
    script: Annotated[
        Path | None, typer.Option(help="A TOML file that fixes entropy and actions.")
    ] = None,
    json: Json = False,
    transcript: Annotated[
        Path | None, typer.Option(help="Write all that happens to this file.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Tell only how it ended.")] = False,
    adversary: Annotated[
        str | None,
        typer.Option(
            help="Bob is this adversary (see `dispute list`): NAME, or NAME@STEP. One hand, unless"
            " --hands says more; several games are live at once."
        ),
    ] = None,
) -> None:
    """See `channel.cli.play`."""
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
                as_json=json,
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
            as_json=json,
            transcript=transcript,
            quiet=quiet,
        )
    )


@app.command()
def replay(
    file: Annotated[
        Path, typer.Argument(help="A transcript that `play` wrote, or a finding of `fuzz`.")
    ],
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Tell only how it ended.")] = False,
    target: Annotated[
        str | None,
        typer.Option(help="Of a finding: try it on this target (the one that it was found on)."),
    ] = None,
) -> None:
    """Play a transcript again, or try a finding again.

    Every line of a transcript, and its digest, must come out the same. Of a finding, exit code 1
    says that it still happens.

    Example: [bold]channelsim replay session.jsonl[/bold]
    """
    from channel import input_files
    from channel.file_kinds import Kind, kind_of

    data = input_files.read(file, input_files.LINES)
    if target is not None or kind_of(data) is Kind.FINDING:
        from channel.cli.fuzz import replay as try_again

        raise typer.Exit(try_again(file, data, target, json=json))
    from channel.cli.play import replay as run

    raise typer.Exit(run(file, data, as_json=json, quiet=quiet))


@app.command()
def games() -> None:
    """List what can be played, with each game's policies.

    Example: [bold]channelsim games[/bold]
    """
    from channel.setup import ASK

    for name in registry.names():
        game = registry.get(name)
        typer.echo(f"{name:<12} {game.title}")
        typer.echo(f"{'':<12} validators: {', '.join(game.validators)}")
        typer.echo(f"{'':<12} policies:   {', '.join([*game.policies, ASK])}")


@app.command()
def bench(
    json: Json = False,
    seconds: Annotated[float, typer.Option(help="Roughly how long to measure.", min=1.0)] = 20.0,
) -> None:
    """Measure a hand against its floor, and the Python rules against CLVM, in one run.

    Example: [bold]channelsim bench --json[/bold]
    """
    from channel.bench import main as run

    raise typer.Exit(run(seconds, as_json=json))


@app.command()
def crosscheck(
    target: Annotated[
        str, typer.Argument(help="An installed game, or a TOML file that names programs.")
    ],
    cases: Annotated[int, typer.Option(help="How many cases.")] = 50_000,
    seed: Annotated[
        str, typer.Option(help="Any text; the same seed makes the same cases.")
    ] = "crosscheck",
    jobs: Annotated[
        int | None, typer.Option(help="How many processes (one a core).", min=1)
    ] = None,
    json: Json = False,
) -> None:
    """Hold programs against the rules, on generated hands and mutated moves.

    Example: [bold]channelsim crosscheck my-validators.toml --cases 1000000[/bold]
    """
    from channel.cli.lab import crosscheck as run

    raise typer.Exit(run(target, cases=cases, seed=seed, jobs=jobs, json=json))


@app.command(
    help="Change compiled programs one place at a time, and let the lab find out each."
    f"\n\nExample: [bold]channelsim mutants {_GAME} --seconds 60[/bold]"
)
def mutants(
    game: Annotated[
        str, typer.Argument(help="An installed game, or a TOML file that names programs.")
    ],
    seconds: Annotated[
        float, typer.Option(help="How long each mutant is hunted, in seconds of work.")
    ] = 60.0,
    seed: Annotated[
        str, typer.Option(help="Any text; the same seed makes the same cases.")
    ] = "mutants",
    jobs: Annotated[
        int | None, typer.Option(help="How many processes (one a core).", min=1)
    ] = None,
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
    target: Annotated[
        str, typer.Argument(help="An installed game, or a TOML file that names programs.")
    ],
    cases: Annotated[int | None, typer.Option(help="How many cases (5000).")] = None,
    seed: Annotated[
        str | None, typer.Option(help="Any text; the same seed costs the same cases (cost).")
    ] = None,
    write: Annotated[Path | None, typer.Option(help="Write the figures to this file.")] = None,
    check: Annotated[
        Path | None, typer.Option(help="Fail if a figure is higher than in this file.")
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option(help="By so many percent figures may rise (0).", min=0)
    ] = None,
    json: Json = False,
) -> None:
    """Measure what validators, the referee's paths and whole spends cost, of a block.

    Example: [bold]channelsim cost my-validators.toml --check costs.toml --tolerance 1[/bold]
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
    target: Annotated[
        str, typer.Argument(help="An installed game, or a TOML file that names programs.")
    ],
    corpus: Annotated[
        Path, typer.Option(help="A folder with a .jsonl of cases for each validator.")
    ],
    html: Annotated[
        Path | None, typer.Option(help="Write a page with the code, marked, to this file.")
    ] = None,
    json: Json = False,
) -> None:
    """Show which nodes and branches of each program a corpus reaches, and which it never does.

    Example: [bold]channelsim coverage my-validators.toml --corpus cases --html page.html[/bold]
    """
    from channel.cli.coverage import coverage as run

    raise typer.Exit(run(target, corpus=corpus, html=html, json=json))


@app.command()
def trace(
    file: Annotated[Path, typer.Argument(help="Conformance cases (.jsonl), or a finding (.json).")],
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

    Example: [bold]channelsim trace cases.jsonl --case my-case[/bold]
    """
    from channel.cli.trace import trace as run

    raise typer.Exit(run(file, target=target, case=case, verbosity=verbose))


@app.command()
def fuzz(
    target: Annotated[
        str, typer.Argument(help="An installed game, or a TOML file that names programs.")
    ],
    seconds: Annotated[float, typer.Option(help="About how long.", min=0.1)] = 60.0,
    seed: Annotated[
        str, typer.Option(help="Any text; the same seed and jobs find the same.")
    ] = "fuzz",
    jobs: Annotated[
        int | None, typer.Option(help="How many processes (one a core).", min=1, max=256)
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(help="A folder of cases to start from; what reaches more is added."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Where findings are kept (.channelsim/NAME/findings); tried first."),
    ] = None,
    json: Json = False,
    junit: Annotated[Path | None, typer.Option(help="Write a JUnit report to this file.")] = None,
) -> None:
    """Look for moves that steal, and evidence that robs: guided by what the programs' runs reach.

    Exit code 0: nothing found; 1: findings, each kept in a file; 2: wrong use.

    Example: [bold]channelsim fuzz my-validators.toml --seconds 120[/bold]
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

    Example: [bold]channelsim dispute list[/bold]
    """
    from channel.cli.dispute import list_adversaries

    raise typer.Exit(list_adversaries())


@dispute.command("run")
def dispute_run(
    name: Annotated[
        str | None, typer.Argument(help="An adversary (see `dispute list`): NAME, or NAME@STEP.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Run every adversary.")] = False,
    seeds: Annotated[int, typer.Option(help="With --all: how many seeds.")] = 1,
    jobs: Annotated[int, typer.Option(help="With --all: in how many processes.")] = 1,
    seed: Annotated[
        str | None, typer.Option(help="Any text; the same seed runs the same (dispute).")
    ] = None,
    at: Annotated[
        int | None, typer.Option(help="After how many of its messages it deviates (8).", min=0)
    ] = None,
    side: Annotated[str, typer.Option(help="Who the adversary is: alice or bob.")] = "bob",
    game: Annotated[
        str | None, typer.Option(help="A game, or several with commas, live at once.")
    ] = None,
    weather: Annotated[
        str, typer.Option(help="The chain: calm, reorgs, slow, full or cut-off.")
    ] = "calm",
    fees: Annotated[
        int, typer.Option(help="What the honest side pays for urgent spends, in mojos.", min=0)
    ] = 0,
    hands: Annotated[int, typer.Option(help="How often the games are played.")] = 1,
    staggered: Annotated[
        bool, typer.Option("--staggered", help="Each game by itself, the next some moves later.")
    ] = False,
    json: Json = False,
    transcript: Annotated[
        Path | None, typer.Option(help="Write all that happens to this file.")
    ] = None,
) -> None:
    """Run a dispute, or with --all every adversary; exit code 1 for a broken promise.

    Example: [bold]channelsim dispute run silent@7 --weather reorgs --seed 3[/bold]
    """
    from channel.cli.dispute import run_everything, run_one
    from channel.errors import UsageError

    if everything == (name is not None):
        raise UsageError("dispute run: the name of an adversary, or --all")
    if everything:
        raise typer.Exit(run_everything(seed=seed, seeds=seeds, jobs=jobs, as_json=json))
    raise typer.Exit(
        run_one(
            name or "",
            seed=seed,
            step=at,
            side=side,
            games=game,
            weather=weather,
            fees=fees,
            hands=hands,
            staggered=staggered,
            as_json=json,
            transcript=transcript,
        )
    )


@vectors.command("check")
def vectors_check(
    files: Annotated[list[Path], typer.Argument(help="Files of conformance cases.")],
    target: Annotated[
        Path | None, typer.Option(help="A TOML file: try its programs, and only them.")
    ] = None,
) -> None:
    """Run conformance cases through the Python rules and the programs.

    Example: [bold]channelsim vectors check cases.jsonl more.jsonl[/bold]
    """
    from channel.cli.vectors import check

    raise typer.Exit(check(files, target))


@vectors.command(
    "make",
    help="Write conformance cases around generated hands; rules and programs agree on each."
    f"\n\nExample: [bold]channelsim vectors make {_GAME} --cases 2000 -o cases.jsonl[/bold]",
)
def vectors_make(
    game: Annotated[str, typer.Argument(help="A game (see `channelsim games`).")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write.")],
    cases: Annotated[int, typer.Option(help="How many cases.")] = 1000,
    seed: Annotated[
        str, typer.Option(help="Any text; the same seed makes the same cases.")
    ] = "vectors",
) -> None:
    """See `channel.cli.vectors`."""
    from channel.cli.vectors import make

    raise typer.Exit(make(game, cases=cases, seed=seed, output=output))
