"""`scripts/mistakes`."""

from __future__ import annotations

from channelsim.channel.cli import main
from channelsim.channel.cli.app import build_command
from scripts.tools.mistakes import command
from scripts.tools.mistakes.examples import available

if __name__ == "__main__":
    with available():
        main(build_command(command, "scripts/mistakes"))
