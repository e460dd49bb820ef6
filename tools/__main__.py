"""Write the generated pages of the handbook: `python -m tools`."""

from __future__ import annotations

from tools import ROOT
from tools.reference import pages

if __name__ == "__main__":
    for name, text in pages().items():
        (ROOT / "docs" / name).write_text(text, "utf-8")
