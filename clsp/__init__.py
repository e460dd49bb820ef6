"""CLVM values, the project's Chialisp programs, and running them.

The lowest layer: it knows nothing of games or channels, and importing it loads no compiler.
"""
