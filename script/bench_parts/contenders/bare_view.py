"""The view that a start of a loop is compared with: DRF as one first writes it; token, serializer, one row, 202.

`python -m` makes its tables and prints a token; a server imports `application`.
"""

import os
from typing import ClassVar

import django
from django.conf import settings
from django.core.asgi import get_asgi_application

settings.configure(
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "HOST": os.environ["BENCH_HOST"],
            "PORT": os.environ["BENCH_PORT"],
            "USER": os.environ["BENCH_USER"],
            "PASSWORD": os.environ["BENCH_PASSWORD"],
            "NAME": os.environ["BENCH_NAME"],
            "CONN_MAX_AGE": 0,
            "OPTIONS": {"pool": {"min_size": 1, "max_size": 20}},  # as Trinity's own
        }
    },
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "rest_framework",
        "rest_framework.authtoken",
    ],
    ROOT_URLCONF=__name__,
    SECRET_KEY="only-for-the-benchmark",  # noqa: S106 - of a view that lives some minutes on loopback
    ALLOWED_HOSTS=["127.0.0.1"],
    USE_TZ=True,
    MIDDLEWARE=[],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.TokenAuthentication"],
        "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
        "UNAUTHENTICATED_USER": None,
    },
)
django.setup()

from django.contrib.auth.models import User  # noqa: E402 - Django has to be set up first
from django.core.management import call_command  # noqa: E402
from django.db import connection, models  # noqa: E402
from django.urls import path  # noqa: E402
from rest_framework import serializers  # noqa: E402
from rest_framework.authtoken.models import Token  # noqa: E402
from rest_framework.request import Request  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402


class Task(models.Model):
    """What is asked for."""

    message = models.TextField()
    max_runs = models.IntegerField()
    status = models.CharField(max_length=20, default="queued")
    owner = models.IntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        app_label = "bare"

    def __str__(self) -> str:
        return str(self.pk)


class TaskSerializer(serializers.ModelSerializer[Task]):
    """Its shape on the wire."""

    class Meta:
        model = Task
        fields: ClassVar = ["id", "message", "max_runs", "status", "created_at"]
        read_only_fields: ClassVar = ["id", "status", "created_at"]


class Tasks(APIView):
    """The door."""

    def post(self, request: Request) -> Response:
        asked = TaskSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        asked.save(owner=request.user.pk)
        return Response(asked.data, status=202)


urlpatterns = [path("tasks", Tasks.as_view())]
application = get_asgi_application()

if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    with connection.schema_editor() as editor:
        editor.create_model(Task)
    print(Token.objects.create(user=User.objects.create(username="bench")).key)
