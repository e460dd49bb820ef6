"""Peers that were killed: what went wrong, and in how many kills."""

from __future__ import annotations

from channelsim.channel.comparisons.documents import DocumentKind, compare_findings
from channelsim.channel.documents.crashes import CrashesDocument

KIND = DocumentKind(CrashesDocument, compare_findings, lambda document: (document.kills, "kills"))
