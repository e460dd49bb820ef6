"""A second model of the protocol: which messages follow the rules, and what each state pays.

It imports the message format and the rules of the games, and nothing else of the engine.
"""
