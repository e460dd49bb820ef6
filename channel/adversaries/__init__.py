"""Adversaries by name: each is an honest peer but for one thing, in a file of its own.

A file beside this one whose class is decorated with `register` is known; nothing else needs to
be touched.
"""
