"""Prints version and time, in seconds, of each event of a loop; runs within an installation and writes nothing."""

import sys

import django

django.setup()

from loops.models import LoopEvent  # noqa: E402 - models come after the set-up

for sequence, at in LoopEvent.objects.filter(loop=sys.argv[1]).order_by("sequence").values_list("sequence", "at"):
    print(sequence, at.timestamp())
