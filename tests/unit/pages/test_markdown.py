"""What agents write becomes text: nothing of it runs, fetches or leads into this site."""

import re
from html.parser import HTMLParser

import pytest

from tests.hostile import HOSTILE_REPLIES
from trinity.markdown import markdown_html

HARMLESS = {
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("name", HOSTILE_REPLIES)
def test_a_hostile_reply_leaves_only_harmless_tags(name: str) -> None:
    tags = Tags(markdown_html(HOSTILE_REPLIES[name])).found

    assert {tag for tag, _ in tags} <= HARMLESS
    for tag, attributes in tags:
        assert set(attributes) <= ({"href", "rel", "title"} if tag == "a" else {"start", "title", "tabindex"})
        if "href" in attributes:
            assert re.match(r"(https?|mailto):", attributes["href"] or "", re.IGNORECASE)
            assert attributes["rel"] == "noopener nofollow"


def test_what_an_agent_means_to_format_is_formatted() -> None:
    html = markdown_html("**14** pages\n\n- one\n- two\n\n```sh\nls\n```\n\n| a |\n|---|\n| 1 |")

    assert "<strong>14</strong>" in html
    assert "<li>one</li>" in html
    assert "><code>ls\n</code></pre>" in html
    assert "<td>1</td>" in html


def test_links_into_this_site_are_no_links() -> None:
    assert "href" not in markdown_html("[stop](/loops/loop_0123456789abcdef/stop/) [out](//evil.example/x)")
