"""Lets tests import the programs under script/, which stand beside one another there; holds no fixture."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "script"))
