"""Sites: the positions in hands at which a move is judged, from honest play.

It imports `lab.targets`.
"""
