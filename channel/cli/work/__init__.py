"""The work of commands, which is imported once a command runs: its help does not need it.

It imports `commands`, which declare the options, and whatever the command line may import.
"""
