"""What the account pages ask for; writes nothing."""

import datetime as dt

from django import forms

from trinity.kernel import clock

NEVER = ""


class NewKeyForm(forms.Form):
    """Name and life of a new API key."""

    name = forms.CharField(label="Name", max_length=100, help_text="Where it will be used, such as “laptop”.")
    days = forms.ChoiceField(
        label="Expires",
        required=False,
        choices=[("30", "in 30 days"), ("90", "in 90 days"), ("365", "in a year"), (NEVER, "never")],
        initial="90",
    )

    def expires_at(self) -> dt.datetime | None:
        """When the key ends; None: never."""
        days = self.cleaned_data["days"]
        return None if days == NEVER else clock.now() + dt.timedelta(days=int(days))
