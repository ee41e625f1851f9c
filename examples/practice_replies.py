"""What the practice agent says; decides nothing, and never says a word that it would obey itself.

A reply may come back in the next prompt (`{{previous_response}}`), so the words that it names stand in
backticks, and no stop signal is among them: a loop that waits for it would end.
"""

import hashlib

HELP = """\
{turn}: there was nothing in the prompt that I know, so I only answered. Put any of these into it: \
`say a number`, `say the same`, `fail on run 2`, `fail twice`, `cost 0.40`, `take 5 seconds`, \
`repeat bash 5 times`, `refuse Bash`, `hang`, `crash`, `shout`, `say nothing`, `rate limit for 30 seconds`, \
`show markdown`, `show hostile`, `commit`, `count to 10`."""

MARKDOWN = """\
## {turn}: a reply in markdown

A paragraph with **strong**, *emphasis*, `code`, ~~struck~~ words and [a link](https://example.org/).

1. The first step
2. The second step, with parts:
   - one part
   - another part

| file | words | summary |
|---|---:|---|
| harbour.txt | 670 | 118 |
| minutes.txt | 576 | 137 |

> A quotation, which goes on
> over two lines.

```python
def greet(name: str) -> str:
    return f"Hello, {{name}}"
```

- [x] written
- [ ] read

---

The end."""

HOSTILE = """\
{turn}: everything below is meant to break the page that shows it.

<script>document.title = "script ran"</script>
<img src=x onerror="document.title = 'image ran'">
<svg onload="document.title = 'svg ran'"><a href="javascript:document.title='link ran'">svg link</a></svg>
<iframe srcdoc="<script>parent.document.title = 'frame ran'</script>"></iframe>
<style>body {{ display: none }}</style><link rel="stylesheet" href="https://example.invalid/style.css">
<form action="https://example.invalid/"><input autofocus onfocus="document.title = 'ran'"></form>
<base href="https://example.invalid/"><meta http-equiv="refresh" content="0;url=https://example.invalid/">
![pixel](https://example.invalid/pixel.png?from=markdown)
[a script](javascript:document.title='markdown%20ran') [data](data:text/html,<script>1</script>)
[named]: javascript:document.title='named'
</pre></code></textarea></template></div></body></html><!-- a comment that never ends
{{{{run}}}} {{{{previous_response}}}} {{% debug %}} {{{{ request.user }}}} ${{7*7}} {{# gone #}}
{long_word}
Invisible: \u200b\u200e\ufeff, reversed: \u202egnp.exe\u202c, combining: Z\u0351\u036b\u0343\u036a\u0302\u036b
A NUL \x00, a lone surrogate \ud800, an escape \x1b[31mred\x1b[0m, a bell \x07.
"""

RIGHT_TO_LEFT = """\
{turn}

הטקסט הזה נכתב מימין לשמאל, ובתוכו מילה אחת משמאל לימין: loop, ומספר: 42.

هذا النص مكتوب من اليمين إلى اليسار، وفيه كلمة واحدة من اليسار إلى اليمين: loop."""


def number_for(key: str, run: int) -> int:
    """A number from 100 to 999 that looks drawn and is the same each time."""
    return 100 + int.from_bytes(hashlib.sha256(f"{key}:{run}".encode("utf-8", "replace")).digest()[:4]) % 900


def shown(what: str, turn: str) -> str:
    """One of the replies that are hard on a page."""
    match what.lower().replace("-", " "):
        case "markdown":
            return MARKDOWN.format(turn=turn)
        case "hostile":
            return HOSTILE.format(turn=turn, long_word="W" * 3000)
        case "huge":
            line = "line {} of 4000, of no use but for its length, as are the others\n"
            return f"{turn}\n" + "".join(line.format(number) for number in range(1, 4001))
    return RIGHT_TO_LEFT.format(turn=turn)
