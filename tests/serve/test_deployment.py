"""The files and the guide for deployment: they parse, and name options and routes that exist."""

import json
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack, contextmanager

import httpx
import pytest
import yaml
from click.testing import CliRunner
from prometheus_client.parser import text_string_to_metric_families

from capsrl.cli import app
from capsrl.serve.requests import Limits
from tests.helpers.serving import ROOT, running
from tests.helpers.waiting import wait_until

GUIDE = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
ENTRYPOINT = json.loads(re.search(r"^ENTRYPOINT (.*)$", DOCKERFILE, re.MULTILINE)[1])
UNIT = re.search(r"```ini\n(.*?)```", GUIDE, re.DOTALL)[1]
NGINX_PROGRAM = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
NGINX, NGINX_OF_SEVERAL = re.findall(r"```nginx\n(.*?)```", GUIDE, re.DOTALL)
DEPLOY = ROOT / "deploy"
MANIFESTS = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8")))
ALERTS = yaml.safe_load((DEPLOY / "alerts.yaml").read_text(encoding="utf-8"))
SCRAPE = yaml.safe_load((DEPLOY / "prometheus.yaml").read_text(encoding="utf-8"))
DASHBOARD = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))


DEPLOYMENT, SERVICE, BUDGET = MANIFESTS
POD = DEPLOYMENT["spec"]["template"]["spec"]
PROBES = {"startup": "/health", "liveness": "/health", "readiness": "/ready"}


def check_options(arguments):
    """`--help` comes after the options have been read."""
    done = CliRunner().invoke(app, [*arguments, "--help"])
    assert done.exit_code == 0, done.output
    assert "--max-characters" in done.output


def test_commands_have_options_that_exist():
    check_options([*ENTRYPOINT[1:], *COMPOSE["services"]["capsrl"]["command"]])
    command = re.search(r"^ExecStart=\S+/capsrl (.*)$", UNIT, re.MULTILINE)[1]
    check_options(shlex.split(command))
    check_options(["serve", *POD["containers"][0]["args"]])
    for options in re.findall(r"capsrl (--[^`]+)`", GUIDE):
        check_options(["serve", *shlex.split(options.replace("...", ""))])
    assert CliRunner().invoke(app, ["serve", "--thread", "2", "--help"]).exit_code == 2


def docker_checks():
    image = re.search(r"HEALTHCHECK .*\\\n\s+CMD (.*)$", DOCKERFILE, re.MULTILINE)[1]
    compose = COMPOSE["services"]["capsrl"]["healthcheck"]["test"]
    return {"/health": json.loads(image), "/ready": compose[1:]}


@pytest.mark.parametrize("path", docker_checks())
def test_health_check(tiny_model, tmp_path, path):
    python, *arguments = docker_checks()[path]
    assert python == "python" and path in arguments[-1]
    port = ENTRYPOINT[ENTRYPOINT.index("--port") + 1]
    assert f"127.0.0.1:{port}/" in arguments[-1] and f"EXPOSE {port}\n" in DOCKERFILE
    with running(tmp_path, "--model", tiny_model) as server:
        command = [sys.executable, *(each.replace(port, str(server.port)) for each in arguments)]
        wait_until(lambda: subprocess.run(command).returncode == 0)  # Docker tries again, too
    assert subprocess.run(command, capture_output=True).returncode != 0


def test_the_base_image_has_a_digest():
    base = re.search(
        r"^ARG BASE=python:3\.11\.\d+-\S+@sha256:[0-9a-f]{64}$", DOCKERFILE, re.MULTILINE
    )
    assert base is not None
    stages = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert stages == ["${BASE}"] * 2


def test_logs_of_containers_have_a_limit():
    logging = COMPOSE["services"]["capsrl"]["logging"]
    assert logging["driver"] == "json-file"
    assert {"max-size", "max-file"} <= logging["options"].keys()


def test_manifest():
    """Labels select the pods, ports and paths exist, and there is time to end."""
    assert [each["kind"] for each in MANIFESTS] == ["Deployment", "Service", "PodDisruptionBudget"]
    labels = DEPLOYMENT["spec"]["template"]["metadata"]["labels"]
    assert DEPLOYMENT["spec"]["selector"]["matchLabels"] == labels
    assert SERVICE["spec"]["selector"] == BUDGET["spec"]["selector"]["matchLabels"] == labels
    [container] = POD["containers"]
    port = ENTRYPOINT[ENTRYPOINT.index("--port") + 1]
    assert container["ports"] == [{"name": "http", "containerPort": int(port)}]
    assert SERVICE["spec"]["ports"][0]["targetPort"] == "http"
    probes = {name: container[f"{name}Probe"]["httpGet"] for name in PROBES}
    assert probes == {name: {"path": path, "port": "http"} for name, path in PROBES.items()}
    assert container["env"][0]["name"] == "CAPSRL_TOKEN"
    assert container["resources"]["limits"].keys() == {"cpu", "memory"}
    program, seconds = container["lifecycle"]["preStop"]["exec"]["command"]
    drain = container["args"][container["args"].index("--drain") + 1]
    needed = int(seconds) + int(drain) + Limits.seconds + 5
    assert (program, POD["terminationGracePeriodSeconds"] >= needed) == ("sleep", True)


def test_kubernetes_knows_every_field_of_the_manifest(tools):
    command = [tools / "kubernetes-validate", "--strict", DEPLOY / "kubernetes.yaml"]
    done = subprocess.run(command, capture_output=True, text=True)
    output = done.stdout + done.stderr
    assert (done.returncode, output.count(" passed ")) == (0, len(MANIFESTS)), output


def expressions():
    """All PromQL of the alerts and the dashboard."""
    rules = [rule["expr"] for group in ALERTS["groups"] for rule in group["rules"]]
    targets = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    return rules + targets


def test_metrics_of_alerts_and_dashboard_exist(tiny_model, tmp_path):
    """Names and labels are those that a server has after a request, a refusal and a slow client."""
    with running(tmp_path, "--model", tiny_model) as server:
        httpx.post(f"{server.url}label", json={"text": "dogs bark"}, timeout=120)
        text = httpx.get(f"{server.url}metrics", timeout=120).text
    families = list(text_string_to_metric_families(text))
    labels = {each.name: set(each.labels) for family in families for each in family.samples}
    known = labels.keys() | {family.name + "_total" for family in families} | {"up"}
    used = set()
    for expression in expressions():
        used |= set(re.findall(r"\b(?:capsrl|process)_\w+", expression))
        for name, selected in re.findall(r"\b(capsrl_\w+)\{(.*?)\}", expression):
            given = set(re.findall(r"(\w+)=", selected)) - {"job", "instance"}
            assert given <= labels.get(name, {"path", "status", "reason"}), expression
    assert used <= known, used - known
    assert len(used) > 12
    documented = re.findall(r"capsrl_\w+", (ROOT / "docs" / "serve.md").read_text("utf-8"))
    made = {name for name in known if name.startswith("capsrl_") and "created" not in name}
    assert [name for name in made if not name.startswith(tuple(documented))] == []


def test_prometheus_finds_the_alerts_and_the_job():
    assert SCRAPE["rule_files"] == ["alerts.yaml"]
    [job] = SCRAPE["scrape_configs"]
    assert f'up{{job="{job["job_name"]}"}}' in expressions()[0]
    names = [rule["alert"] for rule in ALERTS["groups"][0]["rules"]]
    assert len(set(names)) == len(names) == GUIDE.count("| `Capsrl")


@pytest.mark.skipif(not shutil.which("promtool"), reason="needs promtool")
def test_promtool_accepts_rules_and_configuration(tmp_path):
    for name in ("alerts.yaml", "prometheus.yaml"):
        shutil.copy(DEPLOY / name, tmp_path)
    (tmp_path / "capsrl-token").write_text("right")
    subprocess.run(["promtool", "check", "config", tmp_path / "prometheus.yaml"], check=True)
    for expression in expressions():
        filled = expression.replace("$__rate_interval", "1m").replace("$job", "capsrl")
        rule = {"groups": [{"name": "x", "rules": [{"record": "x", "expr": filled}]}]}
        (tmp_path / "rule.yaml").write_text(yaml.safe_dump(rule))
        subprocess.run(["promtool", "check", "rules", tmp_path / "rule.yaml"], check=True)


def test_panels_of_the_dashboard_do_not_overlap():
    places = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    cells = Counter(
        (place["x"] + x, place["y"] + y)
        for place in places
        for x in range(place["w"])
        for y in range(place["h"])
    )
    assert set(cells.values()) == {1}
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(places)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def listens(port):
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def nginx(site, folder):
    """nginx with a configuration of one site."""
    (folder / "site.conf").write_text(site)
    paths = [f"{each}_temp_path {folder};" for each in ("client_body", "proxy")]
    (folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/nginx.log;\n"
        f"events {{}} http {{ access_log off; {' '.join(paths)} include {folder}/site.conf; }}\n"
    )
    with subprocess.Popen([NGINX_PROGRAM, "-c", folder / "nginx.conf"]) as process:
        try:
            yield
        finally:
            process.terminate()


@contextmanager
def proxied(server, folder):
    """nginx with the configuration of the guide before a server: a client of it."""
    key, certificate = folder / "srl.key", folder / "srl.pem"
    openssl = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=srl.example.org"
    files = ["-keyout", key, "-out", certificate]
    subprocess.run([*openssl.split(), *files], check=True, capture_output=True)
    port = free_port()
    site = NGINX.replace("/etc/ssl", str(folder)).replace("443", f"127.0.0.1:{port}")
    transport = httpx.HTTPTransport(verify=False, retries=8)  # until nginx listens
    address = f"https://127.0.0.1:{port}"
    with (
        nginx(site.replace("127.0.0.1:8000", f"127.0.0.1:{server.port}"), folder),
        httpx.Client(base_url=address, transport=transport, timeout=120) as client,
    ):
        yield client


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


def send_until(stop, url, outcomes):
    """Send texts as one client until told to stop; counts the outcomes."""
    with httpx.Client(base_url=url, timeout=120) as client:
        while not stop.is_set():
            try:
                response = client.post("/label", json={"text": "dogs bark"})
                outcomes[response.status_code] += 1
            except httpx.HTTPError as error:
                outcomes[type(error).__name__] += 1


@pytest.mark.slow
@pytest.mark.skipif(not NGINX_PROGRAM, reason="needs nginx")
def test_rolling_restart_behind_nginx_loses_no_request(tiny_model, tmp_path):
    site, ports = NGINX_OF_SEVERAL, [free_port(), free_port()]
    for named, port in zip(("8000", "8001"), ports, strict=True):
        site = site.replace(f"127.0.0.1:{named}", f"127.0.0.1:{port}")
    front = free_port()
    site = site.replace("listen 80;", f"listen 127.0.0.1:{front};")
    folders = [tmp_path / str(port) for port in ports]
    for folder in folders:
        folder.mkdir()

    def start(number):
        options = ("--model", tiny_model, "--port", ports[number], "--drain", "1")
        return running(folders[number], *options)

    outcomes, stop = Counter(), threading.Event()
    with ExitStack() as stack:
        servers = [stack.enter_context(start(number)) for number in (0, 1)]
        stack.enter_context(nginx(site, tmp_path))
        wait_until(lambda: listens(front))
        arguments = (stop, f"http://127.0.0.1:{front}", outcomes)
        clients = [threading.Thread(target=send_until, args=arguments) for _ in range(4)]
        for client in clients:
            client.start()
        try:
            for turn in range(6):
                number = turn % 2
                servers[number].process.send_signal(signal.SIGTERM)
                assert servers[number].process.wait(120) == -signal.SIGTERM
                servers[number] = stack.enter_context(start(number))
        finally:
            stop.set()
            for client in clients:
                client.join()
    assert outcomes.keys() == {200}, outcomes
    assert outcomes[200] > 100
