"""Run the command line: `python -m channelsim`."""

from channelsim.channel.cli import main

if __name__ == "__main__":
    main()
