"""Prove function by function that a program with one place changed is equal to its original.

`types` bound the values that reach each function; `contexts` infers them from the forms of the
validator's arguments (`inputs`). `same` compares the changed function with its original on these
values, with calls as unknown functions; `unread` shows that nothing looks at a changed value. It
imports `lab.mutants`, and of `prove` only the bounds of `inputs`.
"""
