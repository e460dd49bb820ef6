"""Hook of mkdocs: links to files outside of docs/ work on a code host only, and become text."""

from __future__ import annotations

import re
from typing import Any


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page without links to source files."""
    return re.sub(
        r"\[([^\]]+)\]\((?:\.\./)+(?!spec/|reference/)[\w/.-]+\.(?:py|clsp|toml)(?:#\w+)?\)",
        r"\1",
        markdown,
    )
