"""Forms whose fields are texts as they were typed: services read and bound them; no rule stands here."""

import re
from typing import Any

from django import forms

from trinity.kernel.errors import Refused

_WHOLE = re.compile(r"[+-]?(\d{1,30}|\d{1,3}(,\d{3}){1,9})\Z", re.ASCII)


class TypedForm(forms.Form):
    """Shows a service's refusals at its fields, and keeps all that was typed."""

    def refuse(self, refusal: Refused) -> None:
        """Show a refusal at the fields that it names, else above the form."""
        self.errors.clear()
        for name, sentences in refusal.errors.items():
            where = name if name in self.fields else None
            for sentence in sentences:
                self.add_error(where, sentence if where else f"{name}: {sentence}")
        if not refusal.errors:
            self.add_error(None, refusal.detail)

    def typed(self, name: str) -> str:
        """What stands in the field, untrimmed; what it begins with when nothing was sent."""
        if self.is_bound:
            return str(self.data.get(name, "") or "")
        return str(self.get_initial_for_field(self.fields[name], name) or "")


def line(label: str, hint: str = "", *, kind: str = "text", **more: Any) -> forms.CharField:
    """One line of text; numbers too, since a number field would throw away what cannot be read."""
    attributes = {"inputmode": kind, "autocomplete": "off"} if kind != "text" else {"autocomplete": "off"}
    attributes |= more.pop("attributes", {})
    return forms.CharField(
        label=label, help_text=hint, required=False, strip=False, widget=forms.TextInput(attrs=attributes), **more
    )


def whole(typed: str) -> int | str | None:
    """A whole number, nothing, or the text itself, which is refused as what it is."""
    bare = typed.strip()
    if not bare:
        return None
    return int(bare.replace(",", "")) if _WHOLE.match(bare) else typed


def dollars(typed: str) -> float | str | None:
    """An amount with or without its sign, nothing, or the text itself."""
    bare = typed.strip().removeprefix("$").strip()
    if not bare:
        return None
    try:
        return float(bare)
    except ValueError:
        return typed


def as_sent(typed: str) -> str:
    """A text with the line ends that a person typed; browsers send others."""
    return typed.replace("\r\n", "\n")
