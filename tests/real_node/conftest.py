"""Fixtures for tests on the genuine node, which `scripts/test-real-node` alone collects."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from channelsim.channel.crypto import bls
from tests.real_node.chain import RealChain
from tests.real_node.process import PYTHON, RealNode

if PYTHON not in os.environ:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(autouse=True, scope="session")
def remembered_signatures() -> Iterator[None]:
    """Compute each BLS operation once."""
    with bls.remembered():
        yield


@pytest.fixture(scope="session")
def node() -> Iterator[RealNode]:
    """The node that tests share; none of them ends it."""
    with RealNode(f"shared-{os.getpid()}") as node:
        yield node


@pytest.fixture(scope="session")
def chain_from_the_start(node: RealNode) -> Iterator[RealChain]:
    with RealChain(node) as chain:
        yield chain


@pytest.fixture
def chain(chain_from_the_start: RealChain) -> RealChain:
    """The chain of the shared node, as it was at first."""
    chain_from_the_start.reset()
    return chain_from_the_start


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the tables that tests recorded."""
    stats = terminalreporter.stats
    for report in [*stats.get("passed", []), *stats.get("failed", [])]:
        for name, table in report.user_properties:
            terminalreporter.section(name)
            terminalreporter.write(f"{table}\n")
