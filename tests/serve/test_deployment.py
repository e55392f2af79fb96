"""The files and the guide for deployment: they parse, and name options and routes that exist."""

import json
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager

import httpx
import pytest
import yaml
from click.testing import CliRunner

from capsrl.cli import app
from tests.helpers.serving import ROOT, running
from tests.helpers.waiting import wait_until

GUIDE = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
ENTRYPOINT = json.loads(re.search(r"^ENTRYPOINT (.*)$", DOCKERFILE, re.MULTILINE)[1])
UNIT = re.search(r"```ini\n(.*?)```", GUIDE, re.DOTALL)[1]
NGINX_PROGRAM = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
NGINX = re.search(r"```nginx\n(.*?)```", GUIDE, re.DOTALL)[1]


def check_options(arguments):
    """`--help` comes after the options have been read."""
    done = CliRunner().invoke(app, [*arguments, "--help"])
    assert done.exit_code == 0, done.output
    assert "--max-characters" in done.output


def test_commands_have_options_that_exist():
    check_options([*ENTRYPOINT[1:], *COMPOSE["services"]["capsrl"]["command"]])
    command = re.search(r"^ExecStart=\S+/capsrl (.*)$", UNIT, re.MULTILINE)[1]
    check_options(shlex.split(command))
    for options in re.findall(r"capsrl (--[^`]+)`", GUIDE):
        check_options(["serve", *shlex.split(options.replace("...", ""))])
    assert CliRunner().invoke(app, ["serve", "--thread", "2", "--help"]).exit_code == 2


def test_health_check(tiny_model, tmp_path):
    found = re.search(r"HEALTHCHECK .*\\\n\s+CMD (.*)$", DOCKERFILE, re.MULTILINE)
    python, *arguments = json.loads(found[1])
    assert python == "python"
    port = ENTRYPOINT[ENTRYPOINT.index("--port") + 1]
    assert f"127.0.0.1:{port}/" in arguments[-1] and f"EXPOSE {port}\n" in DOCKERFILE
    with running(tmp_path, "--model", tiny_model) as server:
        command = [sys.executable, *(each.replace(port, str(server.port)) for each in arguments)]
        wait_until(lambda: subprocess.run(command).returncode == 0)  # Docker tries again, too
    assert subprocess.run(command, capture_output=True).returncode != 0


@contextmanager
def proxied(server, folder):
    """nginx with the configuration of the guide before a server: a client of it."""
    key, certificate = folder / "srl.key", folder / "srl.pem"
    openssl = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=srl.example.org"
    files = ["-keyout", key, "-out", certificate]
    subprocess.run([*openssl.split(), *files], check=True, capture_output=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    site = NGINX.replace("/etc/ssl", str(folder)).replace("443", f"127.0.0.1:{port}")
    (folder / "site.conf").write_text(site.replace("127.0.0.1:8000", f"127.0.0.1:{server.port}"))
    paths = [f"{each}_temp_path {folder};" for each in ("client_body", "proxy")]
    (folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {folder}/pid; error_log stderr;\n"
        f"events {{}} http {{ access_log off; {' '.join(paths)} include {folder}/site.conf; }}\n"
    )
    with subprocess.Popen([NGINX_PROGRAM, "-c", folder / "nginx.conf"]) as nginx:
        transport = httpx.HTTPTransport(verify=False, retries=8)  # until nginx listens
        address = f"https://127.0.0.1:{port}"
        try:
            with httpx.Client(base_url=address, transport=transport, timeout=120) as client:
                yield client
        finally:
            nginx.terminate()


@pytest.mark.slow  # a slow machine sends too few requests to be limited
@pytest.mark.skipif(not (NGINX_PROGRAM and shutil.which("openssl")), reason="needs nginx, openssl")
def test_nginx(tiny_model, tmp_path):
    with running(tmp_path, "--model", tiny_model) as server, proxied(server, tmp_path) as client:
        assert client.post("/label", json={"text": "Mira sold it."}).status_code == 200
        assert client.get("/metrics").status_code == 403
        for size, by_server in (1_100_000, True), (2_200_000, False):
            response = client.post("/label", json={"text": "a" * size})
            assert response.status_code == 413
            assert ("bytes; you sent more" in response.text) == by_server
        start = time.monotonic()
        statuses = Counter(client.get("/health").status_code for _ in range(60))
        # A burst of 20, which some requests above may have used, and 5 in each second.
        most = 21 + 5 * (time.monotonic() - start)
        assert 15 <= statuses[200] <= most + 1
        assert statuses[200] + statuses[429] == 60
