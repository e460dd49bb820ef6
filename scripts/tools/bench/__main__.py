"""`scripts/bench`."""

from __future__ import annotations

from channelsim.channel.cli import main
from channelsim.channel.cli.app import build_command
from scripts.tools.bench import command

if __name__ == "__main__":
    main(build_command(command, "scripts/bench"))
