"""Cases: honest and mutated calls at a site, their results and their severity.

It imports `lab.referee` and the packages before it.
"""
