"""Check conformance cases (JSON Lines, one validator call per line), or generate some.

Example: channelsim vectors check cases.jsonl
"""
