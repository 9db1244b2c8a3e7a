"""Dockerfile, compose file and manifests agree with this version: files, settings and programs.

They are read, not run: the tests need neither Docker nor Kubernetes.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # it has none

from tests.deploy.conftest import DEPLOY

ROOT = DEPLOY.parent
SETTING = re.compile(r"\b(?:PORTAL_[A-Z_]+|DATABASE_URL|FORWARDED_ALLOW_IPS)\b")
OWN_NAMES = {"PORTAL_HOST"}
"""Of the compose file itself."""
FILES = sorted(path for path in DEPLOY.rglob("*") if path.is_file())
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()


def manifests() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((DEPLOY / "kubernetes" / "portal.yaml").read_text()))


def pods() -> Iterator[dict[str, Any]]:
    for manifest in manifests():
        if manifest["kind"] in ("Job", "Deployment"):
            yield manifest["spec"]["template"]["spec"]


@pytest.mark.parametrize("name", [str(path.relative_to(DEPLOY)) for path in FILES])
def test_every_setting_that_is_named_exists(name: str) -> None:
    known = set(SETTING.findall((ROOT / "docs" / "configuration.md").read_text()))
    assert set(SETTING.findall((DEPLOY / name).read_text())) - OWN_NAMES <= known


def test_the_image_copies_files_that_exist() -> None:
    copied = re.findall(r"^COPY (?!--)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    assert {name for name in names if not (ROOT / name).exists()} == set()
    assert {"app", "templates", "static", "requirements.lock", "package-lock.json"} <= names


def test_the_image_runs_as_an_ordinary_account_without_node_or_a_compiler() -> None:
    final = DOCKERFILE.rpartition("\nFROM ")[2]
    assert final.startswith("python:3.11-slim-bookworm\n")
    assert "\nUSER 10001:10001\n" in final
    assert re.search(r"\b(npm|gcc|build-essential|apt-get)\b", final) is None
    assert "--require-hashes --only-binary :all:" in DOCKERFILE


def test_each_service_of_the_portal_has_a_read_only_root_and_no_privileges() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    ours = {name: service for name, service in services.items() if "build" in service}
    assert set(ours) == {"migrate", "web", "worker"}
    assert [
        (service["read_only"], service["cap_drop"], service["security_opt"])
        for service in ours.values()
    ] == [(True, ["ALL"], ["no-new-privileges:true"])] * 3
    open_to_the_host = {name for name, service in services.items() if "ports" in service}
    assert open_to_the_host == {"caddy"}


def test_requests_under_way_are_finished_before_a_web_process_is_killed() -> None:
    web = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["web"]
    delay = int(manifests()[0]["data"]["PORTAL_STOP_DELAY_SECONDS"])
    pod = next(pod for pod in pods() if pod["containers"][0]["name"] == "web")
    assert int(web["stop_grace_period"].removesuffix("s")) > 22
    assert pod["terminationGracePeriodSeconds"] > delay + 22


def test_each_pod_has_a_read_only_root_and_no_privileges() -> None:
    found = list(pods())
    assert len(found) == 3
    for pod in found:
        (container,) = pod["containers"]
        locked, account = container["securityContext"], pod["securityContext"]
        assert locked["readOnlyRootFilesystem"] is True
        assert locked["allowPrivilegeEscalation"] is False
        assert locked["capabilities"] == {"drop": ["ALL"]}
        assert (account["runAsNonRoot"], account["runAsUser"]) == (True, 10001)
        assert pod["automountServiceAccountToken"] is False


def test_selectors_and_ports_of_the_manifests_match() -> None:
    by_name = {(each["kind"], each["metadata"]["name"]): each for each in manifests()}
    for name in ("portal-web", "portal-worker"):
        spec = by_name["Deployment", name]["spec"]
        assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    service = by_name["Service", "portal"]["spec"]
    web = by_name["Deployment", "portal-web"]["spec"]["template"]
    assert service["selector"] == web["metadata"]["labels"]
    ports = {port["name"] for port in web["spec"]["containers"][0]["ports"]}
    assert {port["targetPort"] for port in service["ports"]} <= ports
    probed = by_name["Deployment", "portal-worker"]["spec"]["template"]["spec"]["containers"][0]
    settings = by_name["ConfigMap", "portal"]["data"]
    assert str(probed["ports"][0]["containerPort"]) == settings["PORTAL_WORKER_LIVEZ_PORT"]
