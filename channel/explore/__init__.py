"""The real peers on a small chain, explored to the end: every choice in every state, within bounds.

Signatures are replaced by a keyed hash (`crypto/keyed_hash.py`). May import `simulation`, and what
that may import.
"""
