#!/usr/bin/env python
"""Runs Trinity's management commands."""

import gc
import os
import sys

if __name__ == "__main__":
    gc.set_threshold(
        50_000, 20, 20
    )  # imports make many objects and no garbage: looking for it costs a tenth of a start
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "trinity.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
