"""Render a page: a template with its data, styles and script in one file that loads nothing.

Everything shown may come from a counterparty or a plug-in: templates escape it, the data are JSON
without `<`, and the content security policy lets only this page's own script and styles run.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import msgspec

from channelsim.channel import __version__
from channelsim.channel.findings.sentence import title

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


_NUMBER = re.compile(r"(?<![\w.,:@/#-])[1-9][0-9]{3,17}(?![\w…@/-]|[.,][0-9])")
_CODE = re.compile(r"`([^`]+)`")


class Glance(msgspec.Struct, frozen=True):
    """The answers that every page begins with.

    `holds` is whether all is well (None: not done yet), and `verdict` says so in words. `loss` says
    who lost how much, or that nobody did; `next` what a reader does now, and `commands` the
    commands for it.
    """

    holds: bool | None
    verdict: str
    loss: str
    next: str
    commands: tuple[str, ...] = ()


def grouped(text: str) -> str:
    """A text with the digits of its numbers in groups of three, and its names as they were.

    >>> grouped("10000 mojos at 12345678…, 2,500 of 0x1234"), grouped("state 1200.")
    ('10,000 mojos at 12345678…, 2,500 of 0x1234', 'state 1,200.')
    """
    return _NUMBER.sub(lambda digits: f"{int(digits[0]):,}", text)


def with_code(text: str) -> Markup:
    """The HTML of a text, in which what stands between backticks is code.

    >>> print(with_code("try `a < b`, then `c"))
    try <code>a &lt; b</code>, then `c
    """
    from markupsafe import Markup

    return Markup(_CODE.sub(r"<code>\1</code>", escape(text)))


@cache
def _environment() -> Environment:
    # Most commands make no page, and should not wait for the import.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("channelsim.channel.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["thousands"] = lambda number: f"{number:,}"
    environment.filters["grouped"] = grouped
    environment.filters["title_of"] = title
    environment.filters["with_code"] = with_code
    return environment


def render(template: str, script_name: str = "", data: object = None, **shown: Any) -> str:
    """The HTML of a page from the template of this name, with a script ("" for none).

    `shown` are the values that the template names; `data` is what the page's script reads.
    """
    from markupsafe import Markup

    style, script = _own("page.css"), _own(script_name) if script_name else ""
    scripts = _source(script) if script else "'none'"
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none';"
        f" style-src {_source(style)}; script-src {scripts}"
    )
    return (
        _environment()
        .get_template(f"{template}.html")
        .render(
            policy=policy,
            style=Markup(style),
            script=Markup(script),
            data=None if data is None else Markup(as_data(data)),
            version=__version__,
            **shown,
        )
    )


def as_data(data: object) -> str:
    """JSON that can stand inside of a script element.

    >>> as_data(["</script>"])
    '["\\\\u003c/script>"]'
    """
    return msgspec.json.encode(data).decode().replace("<", "\\u003c")


def _own(name: str) -> str:
    """The text of a file beside the templates."""
    return (files(__package__) / "templates" / name).read_text("utf-8")


def _source(text: str) -> str:
    """A source expression of a content security policy, by the text's digest."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
