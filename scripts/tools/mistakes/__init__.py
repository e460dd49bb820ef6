"""Mistakes in the sources of games, by which the lab's search is judged: `scripts/mistakes`.

Each file in `lists`, and each `examples/NAME/mistakes.toml`, is a list in TOML:

    [[mistake]]
    id = "wordle-last-clue"                     # unique in all lists
    game = "wordle"                             # the game whose rules the programs should obey
    validator = "clue"                          # where the lab should find it
    also = ["guess"]                            # optional: validators where it may find it as well
    file = "examples/wordle/wordle/clue.clsp"   # from the top of the repository
    kind = "commitment"                         # `Kind` in `listed`
    gain = "Alice lies in her last clue, and no reveal shows it."
    rare = true                                 # fewer than 1 of 100,000 random cases show it
    old = "(if history"                         # occurs in the file exactly once
    new = "(if (> (strlen history) 10)"
    measured = {cases = 10000000, differing = 0}   # what `--rate` counted; only of rare ones

`measured` counts cases of random play; a rare mistake without it was not counted yet.

`file` is a program of the game, or a file that one includes. The command changes a copy of the
sources, compiles that, and lets the fuzzer search it: with the game's rules, and without rules,
from recorded honest play alone.
"""
