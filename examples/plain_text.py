"""Turns the bytes of a file into characters, or says why they are no text; judges nothing that they say."""

import codecs
import re

BINARY_BEGINNINGS = (b"%PDF-", b"{\\rtf", b"PK\x03\x04", b"\x1f\x8b", b"\x89PNG", b"\xff\xd8\xff", b"GIF8")


class Unusable(Exception):
    """A file that cannot be summarised; says why, as the end of a sentence about it."""


def characters(content: bytes, *, size: int) -> tuple[str, list[str]]:
    """The text and notes for its reader; `size` is that of the file, of which `content` may be the start.

    Raises Unusable for what is no text or says nothing.
    """
    if not content.strip():
        raise Unusable("is empty")
    if content.startswith(BINARY_BEGINNINGS):
        raise Unusable("is not plain text")
    text, notes = _decoded(content, size)
    if len(re.findall(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]", text)) > len(text) / 100:
        raise Unusable("is not text: it is full of control characters")
    if not re.search(r"[^\W\d_]{2}", text):
        raise Unusable("holds no words")
    return text, notes


def _decoded(content: bytes, size: int) -> tuple[str, list[str]]:
    cut = size > len(content)
    notes = [f"Only its first {len(content) / 1e6:.1f} MB of {size / 1e6:.1f} MB were read."] if cut else []
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace"), notes
    try:
        # A cut may fall inside a character: the decoder keeps such an unfinished end to itself.
        return codecs.getincrementaldecoder("utf-8-sig")().decode(content, final=not cut), notes
    except UnicodeDecodeError:
        if b"\x00" in content:
            raise Unusable("is not text: it holds NUL bytes") from None
        return content.decode("cp1252", "replace"), [*notes, "It is not UTF-8; it was read as Windows-1252."]
