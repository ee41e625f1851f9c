"""Answers a request in one thread, from the first middleware to the view; knows no page."""

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class PagesHandler(ASGIHandler):
    """Django's, but for where its middlewares run.

    Our views and middlewares are all synchronous. Django would let each of them wait for a thread by itself, on its
    way in and on its way out: two dozen changes of thread for a request, which cost more than most of our views.
    """

    def load_middleware(self, is_async: bool = False) -> None:
        """Join the middlewares as WSGI does, whatever is asked for."""
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """The whole chain in the request's own thread, which is also where its database session is given back."""
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)
