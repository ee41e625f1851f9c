"""Sends every log line, ours and the libraries', through structlog to stderr; decides no level by itself."""

import logging
from collections.abc import Mapping

import structlog


def configure(options: Mapping[str, str]) -> None:
    """`level` is a logging level's name; `format` is console or json."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    last: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if options["format"] == "json"
        else structlog.dev.ConsoleRenderer(colors=False)
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    printer = logging.StreamHandler()
    printer.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, last],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [printer]
    root.setLevel(options["level"])
    for noisy in ("celery", "kombu", "amqp", "daphne", "asyncio", "httpx"):
        logging.getLogger(noisy).setLevel(max(logging.WARNING, root.level))
    logging.getLogger("kombu.connection").setLevel(logging.ERROR)  # it misses a host in a broker in memory
