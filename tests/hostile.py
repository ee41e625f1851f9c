"""Replies that try to run, fetch, overflow or deceive, for pages and browsers; told apart by name."""

TRAP = "http://trap.invalid"

HOSTILE_REPLIES: dict[str, str] = {
    "script": "<script>document.title='caught'</script><script src='http://trap.invalid/x.js'></script>",
    "image": "![x](http://trap.invalid/pixel.png) <img src=http://trap.invalid/a onerror=\"document.title='caught'\">",
    "image by reference": "![x][p]\n\n[p]: http://trap.invalid/pixel.png",
    "svg": "<svg onload=\"document.title='caught'\"><image href='http://trap.invalid/s.png'/></svg>",
    "script link": "[x](javascript:document.title='caught') [y](JaVaScRiPt:alert(1)) [z](data:text/html,1)",
    "entity link": "[x](&#106;avascript:alert(1)) [y](java&#x0A;script:alert(1)) <javascript:alert(1)>",
    "style": "<style>@import 'http://trap.invalid/x.css';</style><p style=\"background:url(http://trap.invalid/b)\">x</p>",
    "frame": "<iframe src=http://trap.invalid></iframe><object data=//trap.invalid></object><embed src=//trap.invalid>",
    "form": "<form action=http://trap.invalid><input autofocus onfocus=\"document.title='caught'\"><button>x</form>",
    "htmx": "<div hx-get='/executions/' hx-trigger='load' hx-on:load='1' data-live='any' data-socket='/x'>x</div>",
    "base and refresh": "<base href=http://trap.invalid><meta http-equiv=refresh content='0;url=http://trap.invalid'>",
    "closing tags": "</p></div></article></main></body></html><h1>outside</h1>",
    "template": "{{ settings.SECRET_KEY }} {% csrf_token %} {{run}} {{previous_response}}",
    "code fence": "```html\n<img src=http://trap.invalid/c.png>\n```\n`<img src=http://trap.invalid/d.png>`",
    "table": "|a|b|\n|-|-|\n|<img src=http://trap.invalid/t.png>|<b onclick=1>x</b>|",
    "deep": "> " * 500 + "x" + "\n" + "- " * 500 + "y",
    "long word": "x" * 15_000,
    "right to left": "\u202eevil\u202c مرحبا بالعالم \u2066hidden\u2069",
    "controls": "bell \x07 escape \x1b[31mred\x1b[0m zero\u200bwidth",
    "preload": "<link rel=preload href=http://trap.invalid/p as=image><link rel=stylesheet href=http://trap.invalid/s.css>",
    "media": "<video src=http://trap.invalid/v autoplay></video><audio src=http://trap.invalid/a autoplay></audio>",
    "math": "<math><mtext><table><mglyph><style><img src=x onerror=\"document.title='caught'\">",
    "comment": "<!--><img src=http://trap.invalid/e.png>-->",
    "empty": "",
    "blanks": " \n\t\n ",
}
