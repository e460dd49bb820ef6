"""The Python rules as a side of a claim: they run on stand-ins for numbers and bytes.

The modules of the rules are run again from their source, in namespaces of their own (`twins`),
after a pass over their syntax tree (`syntax`), with builtins that know stand-ins
(`builtin_models`). It imports `prove` and what that may import.
"""
