"""Cases: sites with honest and mutated calls, their results and their severity.

It imports `lab.referee` and the packages before it.
"""
