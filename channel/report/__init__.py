"""Reports for people and programs: narration, tables, lanes, progress, JSON documents, HTML pages.

It imports `lab`, `simulation`, `session` and the packages below them.
"""
