"""`capsrl serve`: its options, and its log as JSON lines without what users send."""

import json
import logging
import logging.config
import re
import socket

import pytest
from click.testing import CliRunner

from capsrl.cli import app
from capsrl.cli.serve import JsonFormatter, log_config
from capsrl.errors import ConfigError, DataError, ModelError
from capsrl.serve.observability import LOGGER


def serve(*options, **environment):
    result = CliRunner().invoke(app, ["serve", *options], env=environment)
    if result.exception is not None:
        raise result.exception


def test_an_address_in_use_is_said_before_the_model_is_loaded():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        message = f"--host 127.0.0.1 --port {port}: cannot listen: Address"
        with pytest.raises(ConfigError, match=f"^{re.escape(message)}.*; --port 0 takes a free"):
            serve("--port", str(port), "--model", "no such model")


def test_an_address_of_another_machine():
    with pytest.raises(
        ConfigError, match=r"^--host 192\.0\.2\.1 --port 0: cannot listen: Cannot assign"
    ):
        serve("--host", "192.0.2.1", "--port", "0")


@pytest.mark.parametrize("token", ["", "  ", "naïve", "two\nlines", "s3cret "])
def test_tokens_that_no_header_can_hold(token):
    with pytest.raises(ConfigError, match="^--token: only printable ASCII characters are allowed"):
        serve("--token", token, "--port", "0")


def test_a_model_that_does_not_exist():
    with pytest.raises(ModelError, match="^nowhere: not a model folder"):
        serve("--model", "nowhere", "--port", "0")


@pytest.mark.parametrize(
    ("option", "value", "wanted"),
    [
        ("--threads", "0", "an integer of at least 1"),
        ("--timeout", "nan", "a number from 0.1 to 86400"),
        ("--timeout", "inf", "a number from 0.1 to 86400"),
        ("--port", "65536", "an integer from 0 to 65535"),
        ("--port", "http", "an integer from 0 to 65535"),
        ("--port", "-1", "an integer from 0 to 65535"),
    ],
)
def test_numbers_out_of_range(option, value, wanted):
    with pytest.raises(ConfigError, match=f"^{option}: expected {wanted}, got {value}$"):
        serve(option, value)


@pytest.mark.parametrize("origin", ["example.org", "https://a.org/", "https://a.org/page", "null"])
def test_origins_that_no_browser_sends(origin):
    message = f"--cors: expected * or an origin like https://a.org, got {origin}"
    with pytest.raises(ConfigError, match=f"^{re.escape(message)}$"):
        serve("--cors", "http://localhost:3000", "--cors", origin, "--port", "0")


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


def test_examples_without_a_text(tmp_path):
    file = tmp_path / "examples.txt"
    file.write_text("\n- \n")
    with pytest.raises(DataError, match="no examples; expected a text per line"):
        serve("--examples", str(file), "--port", "0")
    with pytest.raises(DataError, match="no such file"):
        serve("--examples", str(tmp_path / "none.txt"), "--port", "0")
