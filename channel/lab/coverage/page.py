"""Coverage as one HTML page that needs nothing else: no scripts, no fonts, no other files."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from channelsim.channel.lab.coverage.coverage import ProgramCoverage
from channelsim.clsp.analysis.tracer import CoverageCounts
from channelsim.games.amounts import counted

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 76em; padding: 0 1em;
       color: #1c1c1c; background: #fff; }
h1, h2, h3 { font-weight: 600; line-height: 1.2; } h2 { margin-top: 2.2em; }
h3 { margin: 1.4em 0 .3em; font-size: 1em; } h3 code, small { font-weight: 400; color: #666; }
table { border-collapse: collapse; } td, th { padding: .15em .9em .15em 0; text-align: right; }
td:first-child, th:first-child { text-align: left; } th { border-bottom: 1px solid #999; }
pre { background: #f6f6f4; padding: .7em 1em; overflow-x: auto; line-height: 1.35; margin: 0; }
.never { background: #f7c6c1; color: #7a0c00; } .part { color: #b02a1a; }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #181818; } pre { background: #222; }
  h3 code, small { color: #999; }
  .never { background: #5a1a14; color: #ffd9d4; } .part { color: #ff9a8c; }
}
"""


def page(name: str, programs: Mapping[str, ProgramCoverage]) -> str:
    """The whole page; `name` is the target's. Everything that comes from a target is escaped."""
    title = escape(f"Coverage of {name}")
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        "<p>What the cases of the corpus reach of each program. Marked code was never run.</p>",
        _table("program", {one.name: one.total for one in programs.values()}, link=True),
    ]
    for one in programs.values():
        parts.append(f'<h2 id="{escape(one.name)}">{escape(one.name)}</h2>')
        parts.append(f"<p>{counted(one.entries, 'case', ',')}</p>")
        parts.append(_table("function", one.functions))
        for function, lines in one.listing():
            arguments = f" <code>{escape(function.arguments)}</code>" if function.arguments else ""
            line = one.line_of(function.name)
            source = f" <small>{escape(line)}</small>" if line else ""
            parts.append(f"<h3>{escape(function.name)}{arguments}{source}</h3>")
            code = "\n".join(
                "  " * line.depth
                + "".join(
                    escape(piece.text)
                    if piece.reached
                    else f'<span class="never">{escape(piece.text)}</span>'
                    for piece in line.pieces
                )
                for line in lines
            )
            parts.append(f"<pre>{code}</pre>")
    return "\n".join([*parts, "</body></html>\n"])


def _table(heading: str, rows: Mapping[str, CoverageCounts], link: bool = False) -> str:
    lines = [f"<table><tr><th>{heading}</th><th>nodes</th><th>branches</th></tr>"]
    for name, share in rows.items():
        shown = f'<a href="#{escape(name)}">{escape(name)}</a>' if link else escape(name)
        cells = "".join(
            f"<td{'' if part == whole else ' class=part'}>{part} of {whole}</td>"
            for part, whole in (
                (share.nodes_reached, share.nodes),
                (share.branches_reached, share.branches),
            )
        )
        lines.append(f"<tr><td>{shown}</td>{cells}</tr>")
    return "\n".join([*lines, "</table>"])
