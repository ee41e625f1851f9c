"""Settings of the tests: the real ones on a throwaway home; TEST_DATABASE_URL and TEST_REDIS_URL choose services."""

import os
import tempfile

if "TRINITY_TEST_HOME" not in os.environ:
    os.environ["TRINITY_TEST_HOME"] = tempfile.mkdtemp(prefix="trinity-test-")
os.environ["TRINITY_HOME"] = os.environ["TRINITY_TEST_HOME"]
os.environ["DATABASE_URL"] = os.environ.get("TEST_DATABASE_URL", "")
os.environ["REDIS_URL"] = ""
os.environ.setdefault("SECRET_KEY", "only-for-tests-" + "x" * 40)

from trinity.settings import *  # noqa: F403
from trinity.settings import DATABASE_URL, TRINITY_HOME, postgres_database, sqlite_database

if DATABASE_URL:
    DATABASES = {"default": postgres_database(DATABASE_URL, 20)}
else:
    DATABASES = {"default": sqlite_database(str(TRINITY_HOME / "base.sqlite3"), synchronous="OFF")}
    DATABASES["default"]["TEST"] = {"NAME": str(TRINITY_HOME / f"test-{os.getpid()}.sqlite3")}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
AXES_ENABLED = False
TRINITY_TEST_REDIS_URL = os.environ.get("TEST_REDIS_URL", "")
LOGGING = {"level": "WARNING", "format": "console"}
IN_TESTS = True
