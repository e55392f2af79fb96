"""The log of `capsrl serve`: one JSON object per line."""

import json
import logging
from datetime import UTC, datetime
from typing import Any

from capsrl.serve.observability import LOGGER, describe_error


class JsonFormatter(logging.Formatter):
    """One line per record: time, level, event, and the `fields` that were given as extra."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        line |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[1] is not None:
            line |= describe_error(record.exc_info[1])
        return json.dumps(line)


def log_config() -> dict[str, Any]:
    """For `logging.config.dictConfig`: our log and that of uvicorn, as JSON on stderr."""
    logger = {"handlers": ["stderr"], "level": "INFO", "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonFormatter}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "loggers": {"uvicorn": logger, LOGGER.name: logger},
        "root": {"handlers": ["stderr"], "level": "WARNING"},
    }
