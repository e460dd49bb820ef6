"""For an author's own tests: the pytest plug-in, fixtures and Hypothesis strategies.

It may import every other package of `lab`.
"""
