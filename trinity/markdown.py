"""Turns what an agent wrote into HTML that can run and fetch nothing; the raw text is never shown unescaped.

Two walls: the parser knows no HTML and no images, and the sanitiser lets through a short list of tags only.
"""

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt


def _parser(*, breaks: bool) -> MarkdownIt:
    options = {"html": False, "linkify": False, "breaks": breaks}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"]).disable("image")


_PARSER, _BREAKING = _parser(breaks=False), _parser(breaks=True)
_TAGS = {
    "p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li",
    "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "a",
}  # fmt: skip
_SCHEMES = {"http", "https", "mailto"}


def markdown_html(text: str, *, breaks: bool = False) -> SafeString:
    """Sanitised HTML of a markdown text. Links carry rel="noopener nofollow"; images become links or text.

    With `breaks` each line end stays one, as people mean it who type into a box.
    """
    cleaned = nh3.clean(
        (_BREAKING if breaks else _PARSER).render(text),
        tags=_TAGS,
        attributes={"a": {"href"}, "ol": {"start"}},
        url_schemes=_SCHEMES,
        attribute_filter=_absolute_links_only,
        link_rel="noopener nofollow",
    )
    # Code scrolls inside, so a keyboard must be able to get there.
    return mark_safe(cleaned.replace("<pre>", '<pre tabindex="0">'))  # noqa: S308 — nh3 has cleaned it


def _absolute_links_only(tag: str, attribute: str, value: str) -> str | None:
    """A relative link would point at this site's own doors."""
    if attribute == "href" and value.partition(":")[0].strip().lower() not in _SCHEMES:
        return None
    return value
