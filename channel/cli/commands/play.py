"""`channelsim play`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from channelsim.channel.cli.option_groups import FeeOptions, SessionFiles, StakeOptions
from channelsim.channel.cli.options import (
    Mix,
    Quiet,
    SeedOrNone,
    argument,
    file_option,
    option_group,
    text,
)


@option_group
class PlayOptions:
    """The options of `play`."""

    game: Annotated[
        str,
        argument(
            "A game (see `channelsim games`), several separated by commas, `horse` or"
            " `dealers-choice`."
        ),
    ]
    stakes: StakeOptions
    seed: SeedOrNone = None
    policy: Annotated[
        str | None,
        text(
            "How the initiator plays, and the receiver: A or A,B (the game's first policy; a"
            " game without that policy plays its first one). With `ask` you play: `ask` alone or"
            " first for the initiator, `A,ask` for the receiver."
        ),
    ] = None
    limit: Annotated[
        str | None,
        text("A betting structure: no, pot or fixed (the game's usual one)."),
    ] = None
    choices: Annotated[
        str | None,
        typer.Option(
            "--of", help="The games of dealers-choice, separated by commas (all games with a deck)."
        ),
    ] = None
    script: Annotated[Path | None, file_option("A TOML file that fixes entropy and actions.")] = (
        None
    )
    files: SessionFiles
    quiet: Quiet = False
    fees: FeeOptions
    adversary: Annotated[
        str | None,
        text(
            "Let the receiver be this adversary (see `dispute list`): NAME, or NAME@STEP. One"
            " hand, unless --hands says more; several games are live at once."
        ),
    ] = None
    mix: Mix = False


def command(options: PlayOptions) -> int:
    """Play hands in a channel, from funding to clean shutdown.

    Example: channelsim play {game} --seed 7 --policy ask,random
    """
    from channelsim.channel.cli.work.play import play

    return play(options)
