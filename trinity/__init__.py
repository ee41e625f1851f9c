"""The project: settings, addresses, the servers, and the kernel that every app may use."""

from trinity.celery import app as celery_app

__all__ = ["celery_app"]
