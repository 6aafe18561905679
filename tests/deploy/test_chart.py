"""The Helm chart, as Helm renders it: valid for Kubernetes, closed by default, several of each."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from services.achilles_cli.settings_catalog import SETTINGS_OF, list_settings
from shared.embedded.programs import find_nats
from tests.support.deploy_files import CHART, NAMESPACE, chart_objects, named, pods_of, render_chart
from tests.support.write_bus_users import BUS_USERS_FILE

pytestmark = [pytest.mark.unit, pytest.mark.p1]
_KUBERNETES = ("1.30", "1.37")
_MONITORED = {
    "monitoring": {
        "serviceMonitor": {"enabled": True},
        "rules": {"enabled": True, "file": "groups:\n  - name: achilles\n    rules: []\n"},
    }
}
_OWN_SERVERS = {"knowledgeStore": {"enabled": False, "url": "https://ks.example"}, "nats": {"enabled": False}}
_SCALED = {part: {"autoscaling": {"enabled": True}} for part in ("front", "signalWorker", "traceWriter")}
_INGEST = {
    "cronJobs": [{"name": "ingest", "schedule": "30 1 * * *", "command": ["achilles"], "documentsClaim": "handbook"}]
}
_TRUST = {"caBundle": {"configMap": "company-ca"}}
_INSTALLATIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "as_it_is": (),
    "own_servers": (_OWN_SERVERS,),
    "everything": (_MONITORED, _SCALED, _INGEST, _TRUST, {"podLabels": {"team": "search"}}),
}
_VARIABLES = {entry.variable for entry in list_settings()}
_SECRETS = {entry.variable for entry in list_settings() if entry.is_secret}


@pytest.mark.parametrize("version", _KUBERNETES)
@pytest.mark.parametrize("installation", sorted(_INSTALLATIONS))
def test_kubernetes_takes_every_object(installation: str, version: str) -> None:
    validator = pytest.importorskip("kubernetes_validate", reason="in the dependency group `deploy`")
    objects = chart_objects(*_INSTALLATIONS[installation])
    known = [one for one in objects if not one["apiVersion"].startswith("monitoring.coreos.com/")]
    assert len(known) > 15
    for one in known:
        validator.validate(one, version, strict=True)


@pytest.mark.parametrize("installation", sorted(_INSTALLATIONS))
def test_no_two_objects_have_one_name(installation: str) -> None:
    objects = chart_objects(*_INSTALLATIONS[installation])
    names = [(one["kind"], one["metadata"]["name"]) for one in objects]
    assert len(names) == len(set(names))


def test_helms_own_lint_finds_nothing_wrong() -> None:
    helm = pytest.importorskip("helm_python", reason="in the dependency group `deploy`")
    values = {"secrets": {"existingSecret": "achilles"}, "nats": {"tls": {"existingSecret": "bus"}}}
    front = {"publicUrl": "https://ask.example", "settings": {"TRUSTED_PROXIES": "10.0.3.0/28"}}
    report = helm.lint(str(CHART), {**values, "front": front}, strict=True)
    assert report["errors"] == []


@pytest.mark.parametrize("installation", sorted(_INSTALLATIONS))
def test_every_pod_may_do_nothing_that_it_need_not(installation: str) -> None:
    for name, pod in pods_of(chart_objects(*_INSTALLATIONS[installation])):
        assert pod["automountServiceAccountToken"] is False, name
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["securityContext"]["runAsUser"] > 0, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        for container in pod["containers"]:
            allowed = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True}
            assert container["securityContext"] == {**allowed, "capabilities": {"drop": ["ALL"]}}, name
            assert container["resources"]["limits"]["memory"], name


def test_kubernetes_does_not_overwrite_our_settings_with_addresses_of_services() -> None:
    """A service `achilles-signal-worker` would set ACHILLES_SIGNAL_WORKER_PORT to tcp://…"""
    assert all(pod["enableServiceLinks"] is False for _, pod in pods_of(chart_objects()))


@pytest.mark.req("MESH-17")
def test_several_of_each_run_at_once_and_are_not_taken_away_together() -> None:
    objects = chart_objects()
    for part in ("chat-api", "signal-worker", "trace-writer"):
        assert named(objects, "Deployment", f"achilles-{part}")["spec"]["replicas"] >= 2
        assert named(objects, "PodDisruptionBudget", f"achilles-{part}")["spec"]["maxUnavailable"] == 1
    assert named(objects, "StatefulSet", "achilles-nats")["spec"]["replicas"] == 3


def test_each_part_is_scaled_by_itself() -> None:
    objects = chart_objects({"signalWorker": {"autoscaling": {"enabled": True, "maxReplicas": 4}}})
    assert "replicas" not in named(objects, "Deployment", "achilles-signal-worker")["spec"]
    assert named(objects, "HorizontalPodAutoscaler", "achilles-signal-worker")["spec"]["maxReplicas"] == 4
    assert named(objects, "Deployment", "achilles-trace-writer")["spec"]["replicas"] == 2


def test_every_service_of_the_project_runs_and_is_probed() -> None:
    deployments = [one for one in chart_objects() if one["kind"] == "Deployment"]
    containers = [one["spec"]["template"]["spec"]["containers"][0] for one in deployments]
    wanted = {f"services.{name}" for name in SETTINGS_OF if not name.startswith("achilles")}
    assert {container["command"][-1] for container in containers} == wanted
    for container in containers:
        assert container["livenessProbe"]["httpGet"]["path"] == "/livez"
        assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"


@pytest.mark.parametrize("installation", sorted(_INSTALLATIONS))
def test_variables_are_settings_and_secrets_are_files_of_the_secret(installation: str) -> None:
    for name, pod in pods_of(chart_objects(*_INSTALLATIONS[installation])):
        secret = next((one["secret"] for one in pod["volumes"] if one["name"] == "secrets"), None)
        mounted = {item["path"] for item in secret["items"]} if secret else set()
        for variable in pod["containers"][0].get("env", []):
            if variable["name"].startswith("ACHILLES_"):
                assert variable["name"].removesuffix("_FILE") in _VARIABLES, name
                assert variable["name"] not in _SECRETS, f"{name} has {variable['name']} in its environment"
            if variable["name"].endswith("_FILE") and variable["name"].startswith("ACHILLES_"):
                assert variable["value"].removeprefix("/run/secrets/achilles/") in mounted, name


def test_a_secret_cannot_be_given_as_a_setting() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    refused = schema["$defs"]["settings"]["propertyNames"]["not"]["enum"]
    assert {f"ACHILLES_{name}" for name in refused} == _SECRETS
    with pytest.raises(ValueError, match="MODEL_API_KEY"):
        render_chart({"front": {"settings": {"MODEL_API_KEY": "sk-1"}}})


@pytest.mark.parametrize(
    ("overlay", "told"),
    [
        ({"secrets": {"existingSecret": ""}}, r"secrets\.existingSecret must name the Secret"),
        ({"front": {"publicUrl": ""}}, r"front\.publicUrl must be where browsers reach the front"),
        ({"front": {"publicUrl": "http://ask.example"}}, "publicUrl"),
        ({"front": {"settings": {"OIDC_ISSUER": ""}}}, "OIDC_ISSUER .* or TRUSTED_PROXIES"),
        ({"nats": {"tls": {"existingSecret": ""}}}, r"nats\.tls\.existingSecret must name the bus's certificate"),
        ({"nats": {"replicas": 2}}, "must be 1, 3 or 5"),
        ({"knowledgeStore": {"enabled": False}}, r"knowledgeStore\.url must be the address"),
        ({"ingress": {"tlsSecret": ""}}, r"ingress\.tlsSecret must name the certificate"),
        ({"monitoring": {"rules": {"enabled": True}}}, "give the alert rules"),
        ({"frontt": {}}, "frontt"),
    ],
    ids=["secret", "public", "plain", "login", "tls", "even", "store", "certificate", "rules", "typo"],
)
def test_a_value_that_is_missing_or_wrong_is_named(overlay: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        render_chart(overlay)


class TestNetwork:
    def test_everything_is_closed_first(self) -> None:
        policy = named(chart_objects(), "NetworkPolicy", "achilles-default")["spec"]
        assert policy["policyTypes"] == ["Ingress", "Egress"]
        assert "ingress" not in policy
        assert [port["port"] for rule in policy["egress"] for port in rule["ports"]] == [53, 53]

    def test_every_kind_of_pod_has_a_way_to_what_it_needs(self) -> None:
        objects = chart_objects(_INGEST)
        parts = {
            one["spec"].get("jobTemplate", one)["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/component"]
            for one in objects
            if one["kind"] in ("Deployment", "StatefulSet", "Job", "CronJob")
        }
        opened: set[str] = set()
        for policy in (one["spec"]["podSelector"] for one in objects if one["kind"] == "NetworkPolicy"):
            opened.add(policy["matchLabels"].get("app.kubernetes.io/component", ""))
            opened.update(value for some in policy.get("matchExpressions", ()) for value in some["values"])
        assert parts <= opened

    def test_only_the_front_reaches_the_outside(self) -> None:
        ports = {
            one["metadata"]["name"]: {port["port"] for rule in one["spec"].get("egress", ()) for port in rule["ports"]}
            for one in chart_objects()
            if one["kind"] == "NetworkPolicy"
        }
        assert {name for name, found in ports.items() if 443 in found} == {"achilles-chat-api"}
        assert ports["achilles-signal-worker"] == {5432, 4222}


class TestBus:
    def test_nats_takes_the_configuration_with_the_users_of_the_code(self, tmp_path: Path) -> None:
        written = named(
            chart_objects({"nats": {"tls": {"existingSecret": "", "encryptedByTheNetwork": True}}}),
            "ConfigMap",
            "achilles-nats",
        )["data"]
        for name, text in written.items():
            (tmp_path / name).write_text(text)
        users = re.findall(r"\$(BUS_PASSWORD_\w+)", BUS_USERS_FILE.read_text())
        (tmp_path / "passwords.conf").write_text("".join(f'{user}: "word"\n' for user in users))
        command = [str(find_nats().executable), "-t", "--config", str(tmp_path / "nats.conf")]
        found = subprocess.run(command, capture_output=True, text=True, check=False, env={"POD_NAME": "nats-0"})
        assert found.returncode == 0, found.stderr
        assert len(users) == 5

    def test_streams_are_kept_by_as_many_servers_as_there_are(self) -> None:
        objects = chart_objects({"nats": {"replicas": 5}})
        for part in ("signal-worker", "trace-writer", "knowledge-store"):
            container = named(objects, "Deployment", f"achilles-{part}")["spec"]["template"]["spec"]["containers"][0]
            assert {"name": "ACHILLES_NATS_REPLICAS", "value": "5"} in container["env"]
        assert f"achilles-nats-4.achilles-nats-headless.{NAMESPACE}.svc" in str(
            named(objects, "ConfigMap", "achilles-nats")
        )


class TestJobs:
    def test_the_schema_is_brought_up_to_date_before_anything_else_of_a_release(self) -> None:
        job = named(chart_objects(), "Job", "achilles-migration")
        assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
        assert job["spec"]["template"]["spec"]["containers"][0]["command"] == ["achilles", "migrate"]
        assert "serviceAccountName" not in job["spec"]["template"]["spec"]

    def test_work_by_the_clock_is_what_the_list_says(self) -> None:
        jobs = {one["metadata"]["name"]: one for one in chart_objects(_INGEST) if one["kind"] == "CronJob"}
        assert set(jobs) == {"achilles-ingest"}
        pod = jobs["achilles-ingest"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        assert {"name": "documents", "persistentVolumeClaim": {"claimName": "handbook", "readOnly": True}} in pod[
            "volumes"
        ]
        # With the address of a store, the command would take it for somebody else's and refuse.
        assert not any(variable["name"] == "ACHILLES_KNOWLEDGE_URL" for variable in pod["containers"][0]["env"])


def test_what_watches_and_what_warns_are_rendered_where_wanted() -> None:
    objects = chart_objects(_MONITORED)
    endpoint = named(objects, "ServiceMonitor", "achilles")["spec"]["endpoints"][0]
    assert endpoint["authorization"]["credentials"] == {"name": "achilles", "key": "metrics_token"}
    assert named(objects, "PrometheusRule", "achilles")["spec"]["groups"][0]["name"] == "achilles"


def test_the_chart_and_the_project_have_one_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    project = re.search(r'^version = "(.+)"$', (CHART.parents[2] / "pyproject.toml").read_text(), re.MULTILINE)
    assert project
    assert chart["version"] == chart["appVersion"] == project[1]
