"""Write the generated pages of the handbook: `python -m scripts.tools`."""

from __future__ import annotations

from scripts.tools import ROOT
from scripts.tools.reference import pages

if __name__ == "__main__":
    for name, text in pages().items():
        (ROOT / "docs" / name).write_text(text, "utf-8")
