import re
import socket

import pytest
from click.testing import CliRunner

from capsrl.cli import app
from capsrl.errors import ConfigError, ModelError


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
    with pytest.raises(ModelError, match="^nowhere: expected a model folder"):
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
