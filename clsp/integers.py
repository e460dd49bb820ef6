"""The numbers of CLVM by their former name, for games that were written with it.

They are part of `values`, and nothing in this project imports them from here.
"""

from channelsim.clsp.values import atom_to_int, int_to_atom, is_minimal, logxor

__all__ = ["atom_to_int", "int_to_atom", "is_minimal", "logxor"]
