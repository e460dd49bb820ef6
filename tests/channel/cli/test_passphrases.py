"""A passphrase is asked for at a terminal, as often as it has to be."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from channelsim.channel.cli import secret_files
from channelsim.channel.cli.option_groups import PASSPHRASE_VARIABLE
from channelsim.channel.cli.secret_files import passphrase_of
from channelsim.channel.network.identity import make_identity, read_identity
from channelsim.channel.store.data_directory import create
from tests.channel.store.test_data_directory import SETTINGS
from tests.channel.table import ANN, sit

PASSPHRASE = b"open sesame"


@pytest.mark.parametrize("passphrase", [PASSPHRASE, b""], ids=("a passphrase", "none"))
def test_a_passphrase_is_chosen_once_and_then_asked_for_once_if_need_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, passphrase: bytes
) -> None:
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return passphrase.decode()

    def prompts() -> list[str]:
        asked.clear()
        assert passphrase_of(tmp_path, None) == passphrase
        return asked

    monkeypatch.delenv(PASSPHRASE_VARIABLE, raising=False)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(secret_files, "getpass", answer)
    chosen = [
        f"new passphrase of {tmp_path} (none: its files are not encrypted): ",
        *(["again: "] if passphrase else []),
    ]
    needed = [f"passphrase of {tmp_path}: "] if passphrase else []
    assert prompts() == chosen
    make_identity(tmp_path, passphrase)
    read_identity(tmp_path, passphrase)
    assert prompts() == needed
    create(tmp_path, sit().ends[ANN].peer.config, SETTINGS, passphrase)
    assert prompts() == needed
