"""The pytest plug-in, fixtures and Hypothesis strategies for an author's own tests.

It may import every other package of `lab`.
"""
