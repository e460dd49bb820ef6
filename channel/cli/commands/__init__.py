"""A two-party state-channel simulator for Chia.

Every rule exists twice, as Python and as Chialisp, and the two are compared on every move.

Example: channelsim play {game} --hands 2 --seed demo
"""

# One file per command: `dispute/run.py` is `channelsim dispute run`. A folder is a group, and the
# docstring of its `__init__` is the group's help text. The function `command` in a file declares
# the command by its signature and docstring; its result is the exit code. A parameter whose type is
# a dataclass stands for an option for each field. `{game}` in a docstring becomes the name of an
# installed game.
