"""Log lines: JSON, and without what users send."""

import json
import logging
import logging.config

from capsrl.cli.serve_log import JsonFormatter, log_config
from capsrl.serve.observability import LOGGER


def record(message, *, exc_info=None, **extra):
    made = LOGGER.makeRecord(
        LOGGER.name, logging.INFO, "f.py", 1, message, (), exc_info, "f", extra
    )
    return json.loads(JsonFormatter().format(made))


def test_json_lines():
    line = record("request", fields={"status": 200, "path": "/label"})
    assert line.pop("time").endswith("+00:00")
    assert line == {"level": "info", "event": "request", "status": 200, "path": "/label"}


def test_exceptions_are_logged_without_their_message():
    try:
        raise ValueError("what the user said\nin two lines")
    except ValueError as error:
        line = record("failed", exc_info=(type(error), error, error.__traceback__))
    assert line["error"] == "ValueError"
    [frame] = line["traceback"]
    assert frame.endswith("test_exceptions_are_logged_without_their_message")
    assert "user" not in json.dumps(line)


def test_every_logger_writes_json_to_stderr(capsys):
    names = ("", "uvicorn", LOGGER.name)
    before = [(logging.getLogger(n).handlers[:], logging.getLogger(n).level) for n in names]
    try:
        logging.config.dictConfig(log_config())
        logging.getLogger("uvicorn.error").info("Started")
        logging.getLogger("asyncio").warning("slow")
        LOGGER.info("request", extra={"fields": {"n": 1}})
    finally:
        for name, (handlers, level) in zip(names, before, strict=True):
            logger = logging.getLogger(name)
            logger.handlers[:] = handlers
            logger.setLevel(level)
            logger.propagate = True
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["event"] for line in lines] == ["Started", "slow", "request"]
    assert lines[2]["n"] == 1
