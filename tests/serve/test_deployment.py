"""The files and the guide for deployment: they parse, and name options and routes that exist."""

import asyncio
import json
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from collections import Counter
from contextlib import contextmanager
from fnmatch import fnmatch

import httpx
import pytest
import yaml
from click.testing import CliRunner

from capsrl.cli import app
from tests.helpers.serving import ROOT, client_of, running
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


def test_versions_are_pinned():
    base = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert len(set(base)) == 1 and re.fullmatch(r"python:3\.11\.\d+-slim-bookworm", base[0])
    assert "under Linux and Python 3.11" in (ROOT / "constraints.txt").read_text()
    assert "PIP_CONSTRAINT=/src/constraints.txt" in DOCKERFILE


def test_the_image_has_no_torch():
    """What `.[serve]` installs, by the names in pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["serve"]]
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in needed}
    assert {"onnxruntime", "fastapi"} <= names
    assert not names & {"torch", "capsrl", "transformers", "spacy"}


def test_dockerignore_lets_through_what_the_build_needs():
    rules = [
        line
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]

    def is_sent(path):
        sent = True
        for rule in rules:  # the last one that fits decides
            pattern = rule.removeprefix("!").removeprefix("**/")
            if any(
                fnmatch(part, pattern) for part in (path, path.split("/")[0], path.split("/")[-1])
            ):
                sent = rule.startswith("!")
        return sent

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name in ("pyproject.toml", "constraints.txt", "README.md", *project["license-files"]):
        assert is_sent(name) and list(ROOT.glob(name))
    sent = {path.name for path in ROOT.iterdir() if is_sent(path.name)}
    files = {"LICENSE", "NOTICE", "README.md", "constraints.txt", "pyproject.toml"}
    assert sent == {"capsrl", *files}
    assert is_sent("capsrl/models/en/config.json")
    for name in (".git", ".git/config", "tests/serve/test_app.py", "capsrl/__pycache__", ".venv"):
        assert not is_sent(name)


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


def test_compose():
    service = COMPOSE["services"]["capsrl"]
    assert service["build"] == "." and (ROOT / "Dockerfile").is_file()
    [port] = service["ports"]
    assert port.endswith(f":{ENTRYPOINT[-1]}")
    assert service["read_only"] and service["cap_drop"] == ["ALL"]
    assert service["stop_grace_period"] == "40s" and "--stop-timeout 40" in GUIDE


def test_compose_without_a_token():
    """The message about a missing token says that its line can be removed."""
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    token = re.search(
        r"^ *environment: .*CAPSRL_TOKEN:\?.*remove this line.*\n", text, re.MULTILINE
    )
    service = yaml.safe_load(text.replace(token[0], ""))["services"]["capsrl"]
    assert service == {k: v for k, v in COMPOSE["services"]["capsrl"].items() if k != "environment"}
    assert "/.env\n" in (ROOT / ".gitignore").read_text(encoding="utf-8")


def test_routes_of_the_guide(tiny):
    async def run():
        async with client_of(tiny) as client:
            return [(await client.get(path)).status_code for path in paths]

    paths = sorted(set(re.findall(r"`(/(?:health|ready|docs|metrics))`", GUIDE)) | {"/metrics"})
    assert len(paths) == 4
    assert asyncio.run(run()) == [200] * 4


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_unit(tmp_path):
    unit = tmp_path / "capsrl.service"
    unit.write_text(UNIT.replace("/opt/capsrl/bin/capsrl", sys.executable))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True
    )
    own = [line for line in done.stderr.splitlines() if "capsrl" in line]
    assert own == [] and done.returncode == 0
    unit.write_text(unit.read_text().replace("ProtectHome", "ProtectHouse"))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True
    )
    assert "ProtectHouse" in done.stderr


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


@pytest.mark.slow
def test_dockerfile_by_hadolint(tools):
    done = subprocess.run([tools / "hadolint", ROOT / "Dockerfile"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.slow
def test_nginx_by_crossplane(tools, tmp_path):
    (tmp_path / "capsrl.conf").write_text(NGINX)
    (tmp_path / "nginx.conf").write_text("events {}\nhttp { include capsrl.conf; }\n")
    command = [tools / "crossplane", "parse", "--strict", tmp_path / "nginx.conf"]
    done = subprocess.run(command, capture_output=True, text=True)
    result = json.loads(done.stdout)
    assert (result["status"], result["errors"]) == ("ok", [])
    assert len(result["config"]) == 2
