"""Coverage: which code of a target's programs stored cases reach.

It imports `lab.cases` and the packages before it.
"""
