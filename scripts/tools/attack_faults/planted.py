"""A plug-in of pytest that plants a fault for a run of tests.

`PLANTED=NAME python -m pytest -p scripts.tools.attack_faults.planted TESTS` has to fail for an
argued one.
"""

from __future__ import annotations

import os
from contextlib import ExitStack

from scripts.tools.attack_faults.planting import Reach
from scripts.tools.attack_faults.table import faults

STACK = ExitStack()


def pytest_sessionstart() -> None:
    """Plant the fault, if one is named. Raises `KeyError` for a name that no fault has."""
    if os.environ["PLANTED"]:
        {fault.name: fault for fault in faults()}[os.environ["PLANTED"]].plant(STACK, Reach())


def pytest_sessionfinish() -> None:
    """Take the fault out."""
    STACK.close()
