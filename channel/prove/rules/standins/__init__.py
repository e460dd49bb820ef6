"""Stand-ins for the numbers, truth values and bytes of rules: their operators build terms.

What an operator gives is a plain Python value where it is known, and a stand-in where not. The
operators of numbers are those of CLVM (`prove.models`), which floor like Python's. A decision that
Python has to have at once (the side of an `if`, an index) forks the path. The modules import
`prove`, `rules.running`, and each the ones before it: `base`, `ints`, `data`, `unseen`.
"""
