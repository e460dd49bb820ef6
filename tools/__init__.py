"""What maintainers run: the generators of documentation, and benchmarks.

It imports the product, which never imports it, and is not installed.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
"""The folder of the repository."""
