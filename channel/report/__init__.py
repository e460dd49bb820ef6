"""How a session is told: to a person at a terminal, or to a program as one JSON document."""
