"""The page of rules: every rule id with its sentence, out of the code.

`python -m channel.report.rules > docs/rules.md` writes it; a test holds the two together.
"""

from __future__ import annotations

from channel.protocol.rules import RULES as CHANNEL_RULES
from games import registry
from games.referee import RULES as REFEREE_RULES

_HEAD = """# Rules

Every rule has an id. Python reasons, comments in the Chialisp sources, violations and this
page use the same ones. This page is written by `python -m channel.report.rules`.
"""


def page() -> str:
    """The page, as Markdown.

    >>> "| `CH-SHUT-2` |" in page()
    True
    """
    sections = [
        ("The channel", CHANNEL_RULES),
        ("The referee (game coin)", REFEREE_RULES),
        *((registry.get(name).title, registry.get(name).rules) for name in registry.names()),
    ]
    parts = [_HEAD]
    for title, rules in sections:
        rows = "\n".join(f"| `{rule}` | {text} |" for rule, text in rules.items())
        parts.append(f"## {title.partition(':')[0]}\n\n| id | rule |\n|---|---|\n{rows}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    print(page(), end="")
