"""A two-party state-channel simulator for Chia.

Every rule exists twice, as Python and as Chialisp, and the two are compared on every move.

Example: channelsim play {game} --hands 2 --seed demo
"""

# One file per command: `dispute/run.py` is `channelsim dispute run`. A folder is a group, and the
# docstring of its `__init__` is the group's help text. The function `command` in a file declares
# the command by its signature and docstring; its result is the exit code. A parameter whose type is
# an `option_group` stands for an option for each field. `{game}` in a docstring becomes the name of
# an installed game. Nothing heavy is imported before the command runs.
#
# `HEADINGS` order the list of commands; a command without a heading comes last.

HEADINGS = {
    "Start here": ("play", "games", "new-game"),
    "Check your programs": (
        *("conform", "fuzz", "crosscheck", "prove", "mutants", "coverage", "vectors", "record"),
        *("dispute", "crash-test", "attack", "explore"),
    ),
    "Look at results": ("view", "report", "debug", "trace", "replay", "compare", "corpus"),
    "Run peers on a chain": ("node", "chain", "peer", "channels", "close", "recover", "watch"),
    "Measure": ("cost",),
}
"""The commands under each heading of `channelsim --help`."""
