"""Graders say what a finished trajectory is worth (section 4); they never step in while an agent works."""

from graders.registry import catalogue

__all__ = ["catalogue"]
