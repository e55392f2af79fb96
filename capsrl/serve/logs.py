"""Log records -> JSON lines. What users send is never among them, nor messages of exceptions.

An exception's message may quote the text that caused it, so only its type and where it was raised
are written.
"""

import json
import logging
import traceback
from datetime import UTC, datetime
from typing import Any

LOGGER = logging.getLogger("capsrl.serve")


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
            line |= describe(record.exc_info[1])
        return json.dumps(line, ensure_ascii=True)


def describe(error: BaseException) -> dict[str, Any]:
    """The type of an exception and the places it came through, innermost last."""
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "error": type(error).__name__,
        "places": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }


def log_config() -> dict[str, Any]:
    """For `logging.config.dictConfig`: our lines and uvicorn's, all as JSON on stderr."""
    logger = {"handlers": ["stderr"], "level": "INFO", "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonFormatter}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "loggers": {"uvicorn": logger, LOGGER.name: logger},
        "root": {"handlers": ["stderr"], "level": "WARNING"},
    }
