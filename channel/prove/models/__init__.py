"""Models of CLVM's operators on symbolic values.

Each is exact: it forks the path where the result depends on more than a term can say (a division
by zero, the length of a number whose bytes are hashed), raises where CLVM raises, and is
`Undecided` where it can say nothing. Of known operands, the operators themselves are used. The
modules import `prove`, and each the ones before it: `byte_models`, `truth_models`,
`number_models`, `table`.
"""
