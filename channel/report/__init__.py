"""Reports for people and programs: narration, tables, lanes, progress and JSON documents.

It imports `simulation`, `session` and the packages below them.
"""
