"""The project's settings, read from the environment; holds no secret and starts nothing.

Two ways to run, one code path (design, section 1): embedded on SQLite by default, distributed when
DATABASE_URL and REDIS_URL are set. `.env.example` explains every variable.
"""

from pathlib import Path

import environ

from trinity.kernel.secret_file import secret_from_file

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.FileAwareEnv()
if (BASE_DIR / ".env").is_file():
    env.read_env(BASE_DIR / ".env")

# --- where things lie -------------------------------------------------------------------------------------
TRINITY_HOME = Path(env.str("TRINITY_HOME", default=str(BASE_DIR / "var"))).expanduser().absolute()
TRINITY_HOME.mkdir(mode=0o700, parents=True, exist_ok=True)
HOST = env.str("HOST", default="127.0.0.1")
PORT = env.int("PORT", default=8000)
TRINITY_URL = env.str("TRINITY_URL", default=f"http://127.0.0.1:{PORT}")  # where agents find this server

DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY_IS_GIVEN = bool(env.str("SECRET_KEY", default=""))
SECRET_KEY = env.str("SECRET_KEY", default="") or secret_from_file(TRINITY_HOME / "secret-key")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]", HOST])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

# --- the engine (design, sections 1 and 3) ----------------------------------------------------------------
TRINITY_PLACE = env.str("TRINITY_PLACE", default="default")
TRINITY_LEASE_SECONDS = env.float("TRINITY_LEASE_SECONDS", default=30.0)
TRINITY_LOST_GRACE_SECONDS = env.float("TRINITY_LOST_GRACE_SECONDS", default=30.0)
TRINITY_RUNS_PER_WORKER = env.int("TRINITY_RUNS_PER_WORKER", default=64)
TRINITY_SWEEP_SECONDS = env.float("TRINITY_SWEEP_SECONDS", default=2.0)
TRINITY_WORKER_THREADS = env.int("TRINITY_WORKER_THREADS", default=8)
TRINITY_KEEP_DAYS = env.int("TRINITY_KEEP_DAYS", default=90)
TRINITY_KEEP_SPOOL_DAYS = env.int("TRINITY_KEEP_SPOOL_DAYS", default=7)

# --- database ---------------------------------------------------------------------------------------------
DATABASE_URL = env.str("DATABASE_URL", default="")
REDIS_URL = env.str("REDIS_URL", default="")
DISTRIBUTED = bool(REDIS_URL)
# Off behind a pooler that gives each transaction another session of PostgreSQL's.
TRINITY_PREPARED_STATEMENTS = env.bool("TRINITY_PREPARED_STATEMENTS", default=True)


def sqlite_database(path: str, synchronous: str = "FULL") -> dict[str, object]:
    """SQLite as the engine needs it: IMMEDIATE, else most read-then-write transactions that meet fail."""
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": f"PRAGMA journal_mode=WAL; PRAGMA synchronous={synchronous};",
        },
    }


# A server that is cut off without a word is noticed in seconds; TCP alone would wait for a quarter of an hour. The
# other way round, a worker cut off within a transaction would hold its agent's lock for hours: the server ends it.
POSTGRES_OPTIONS = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
    "options": "-c idle_in_transaction_session_timeout=30s",
}


def postgres_database(url: str, pool_size: int) -> dict[str, object]:
    """PostgreSQL through psycopg 3 with its own pool, so that no step opens a session.

    What stands in the URL's query (`?sslmode=require`) outranks our own options.
    """
    from psycopg import IsolationLevel  # which a server on SQLite does not load

    given = environ.Env.db_url_config(url)
    pool = {"min_size": 1, "max_size": pool_size, "timeout": 10}
    return {
        **given,
        "ENGINE": "django.db.backends.postgresql",
        "CONN_MAX_AGE": 0,  # the pool keeps the sessions
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            **POSTGRES_OPTIONS,
            **given.get("OPTIONS", {}),
            "pool": pool,
            # Where REPEATABLE READ is the server's default, slots would be counted as they were before the lock.
            "isolation_level": IsolationLevel.READ_COMMITTED,
        },
    }


DATABASES = {
    "default": postgres_database(DATABASE_URL, env.int("TRINITY_DB_POOL", default=20))
    if DATABASE_URL
    else sqlite_database(str(TRINITY_HOME / "trinity.sqlite3"))
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Celery: messages carry ids only and may be lost (design, section 1) ----------------------------------
CELERY_BROKER_URL = REDIS_URL or "memory://"
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {
        "visibility_timeout": env.int("TRINITY_VISIBILITY_TIMEOUT", default=4 * 3600),
        # As long as a request may wait for a Redis that accepts and never answers. A worker's blocking reads last
        # one second (Kombu's BRPOP), so they stay below.
        "socket_timeout": 2,
        "socket_connect_timeout": 2,
        "max_retries": 0,
    }
    if REDIS_URL
    else {"polling_interval": 0.01}
)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_STORE_EAGER_RESULT = False
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_DEFAULT_QUEUE = f"place.{TRINITY_PLACE}"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker whose Redis is away for hours sweeps on, and hears again later
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False  # a fanout queue per worker, to be told what the database says anyway
CELERY_TIMEZONE = "UTC"

# --- Django -----------------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_filters",
    "django_htmx",
    "csp",
    "axes",
    "trinity.apps.TrinityConfig",
    "accounts",
    "agents",
    "graders",
    "executions",
    "loops",
    "workspace",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.gzip.GZipMiddleware",  # pads its answers, so that their length tells nothing of a secret
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "trinity.middleware.RequestId",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "csp.middleware.CSPMiddleware",
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "trinity.urls"
ASGI_APPLICATION = "trinity.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "dashboard"
LOGOUT_REDIRECT_URL = "login"
LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = Path(env.str("STATIC_ROOT", default=str(TRINITY_HOME / "staticfiles")))
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
WHITENOISE_USE_FINDERS = True
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
CHANNEL_LAYERS = {"default": {"BACKEND": "trinity.live_layer.LiveLayer"}}

# --- safety -----------------------------------------------------------------------------------------------
HTTPS = env.bool("HTTPS", default=False)
SECURE_SSL_REDIRECT = HTTPS
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
SECURE_HSTS_SECONDS = env.int("HSTS_SECONDS", default=31_536_000 if HTTPS else 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
if env.bool("BEHIND_PROXY", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SESSION_COOKIE_HTTPONLY = True
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_TEMPLATE = "accounts/locked_out.html"
AXES_VERBOSE = False

# --- REST -------------------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.authentication.BearerKey",
        "accounts.authentication.Session",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["accounts.authentication.MayUseApi"],
    "DEFAULT_PARSER_CLASSES": ["trinity.rest.parsers.StrictJson"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "EXCEPTION_HANDLER": "trinity.rest.problems.problem_for",
    "DEFAULT_SCHEMA_CLASS": "trinity.rest.schema.ProblemSchema",
    "UNAUTHENTICATED_USER": "accounts.authentication.nobody",
    "STRICT_JSON": True,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Trinity",
    "DESCRIPTION": (
        "Runs AI agents in durable, guarded loops: the same task, sent to one agent again and again, with guardrails "
        "that end it.\n\nSend `Authorization: Bearer <key>`: a user's key acts as that user, an agent's key as that "
        "agent. Bodies are JSON and read strictly: an unknown field, a number in quotes or a value out of bounds is "
        "refused. Every error is `application/problem+json` and names the fields at fault. Lists are bare arrays."
    ),
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "COMPONENT_SPLIT_PATCH": False,
    "ENUM_NAME_OVERRIDES": {
        "AgentStatus": "agents.vocabulary.AgentStatus",
        "ExecutionStatus": "executions.vocabulary.ExecutionStatus",
        "LoopStatus": "loops.vocabulary.LoopStatus",
        "StopAnswer": "loops.vocabulary.StopAnswer",
        "AbandonAnswer": "executions.vocabulary.AbandonAnswer",
        "StopReason": "loops.vocabulary.StopReason",
        "OnFailure": "loops.vocabulary.OnFailure",
        "WaitReason": "executions.vocabulary.WaitReason",
        "Trigger": "executions.vocabulary.Trigger",
        "Category": "executions.vocabulary.Category",
        "Tone": "trinity.kernel.vocabulary.Tone",
        "ActorKind": "accounts.vocabulary.ActorKind",
        "RuntimeName": "agents.runtimes.registry.RuntimeName",
        "VerdictStatus": "graders.vocabulary.VerdictStatus",
        "MessageKind": "workspace.vocabulary.MessageKind",
        "ParticipantKind": "workspace.vocabulary.ParticipantKind",
        "TurnState": "workspace.vocabulary.TurnState",
        "CloseAnswer": "workspace.vocabulary.CloseAnswer",
        "CancelAnswer": "workspace.vocabulary.CancelAnswer",
        "WorkKind": "workspace.vocabulary.WorkKind",
        "WorkOutcome": "workspace.vocabulary.WorkOutcome",
    },
}

# --- logging ----------------------------------------------------------------------------------------------
LOG_LEVEL = env.str("LOG_LEVEL", default="INFO")
LOG_FORMAT = env.str("LOG_FORMAT", default="console")
LOGGING_CONFIG = "trinity.logs.configure"
LOGGING = {"level": LOG_LEVEL, "format": LOG_FORMAT}
