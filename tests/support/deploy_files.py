"""What is deployed, as data: the compose file, and the chart as Helm renders it."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

PROJECT = Path(__file__).parents[2]
DEPLOY = PROJECT / "deploy"
CHART = DEPLOY / "helm" / "achilles"
_INTERPOLATION = re.compile(r"\$\{(?P<name>\w+)(?::(?P<kind>[-?])(?P<text>[^}]*))?\}")
NAMESPACE = "prod"
RELEASE = "achilles"
VALUES: dict[str, Any] = {
    "secrets": {"existingSecret": "achilles", "frontKeys": ["oidc_client_secret"]},
    "front": {
        "publicUrl": "https://ask.example",
        "settings": {"OIDC_ISSUER": "https://login.example", "OIDC_AUDIENCE": "achilles"},
    },
    "nats": {"tls": {"existingSecret": "bus-tls"}},
    "ingress": {"enabled": True, "tlsSecret": "web-tls"},
}


def compose_file(variables: Mapping[str, str]) -> dict[str, Any]:
    """The file with its variables filled in as Compose does. Raises KeyError with the message of a missing one."""

    def value(found: re.Match[str]) -> str:
        given = variables.get(found["name"], "")
        if not given and found["kind"] == "?":
            raise KeyError(found["text"])
        return given or found["text"] or ""

    read: dict[str, Any] = yaml.safe_load(_INTERPOLATION.sub(value, (DEPLOY / "compose.yaml").read_text()))
    return read


def render_chart(*overlays: Mapping[str, Any]) -> dict[str, str]:
    """File name and text of each rendered template; `overlays` are laid over VALUES. Skips where Helm is not installed.

    Raises ValueError with Helm's own words.
    """
    helm = pytest.importorskip("helm_python", reason="Helm is in the dependency group `deploy`: uv sync --group deploy")
    values = VALUES
    for overlay in overlays:
        values = _merged(values, overlay)
    with helm.Chart.load(str(CHART)) as chart:
        try:
            rendered: dict[str, str] = chart.render(values, name=RELEASE, namespace=NAMESPACE)
        except helm.HelmError as fault:
            raise ValueError(str(fault)) from fault
    return {name.rpartition("/")[2]: text for name, text in rendered.items()}


def chart_objects(*overlays: Mapping[str, Any]) -> list[dict[str, Any]]:
    texts = render_chart(*overlays)
    manifests = (text for name, text in texts.items() if name.endswith(".yaml"))
    return [one for text in manifests for one in yaml.safe_load_all(text) if one]


def pods_of(objects: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and pod specification of everything that runs."""
    for one in objects:
        specification = one.get("spec", {})
        if one["kind"] == "CronJob":
            specification = specification["jobTemplate"]["spec"]
        if one["kind"] in ("Deployment", "StatefulSet", "Job", "CronJob"):
            yield f"{one['kind']}/{one['metadata']['name']}", specification["template"]["spec"]


def named(objects: list[dict[str, Any]], kind: str, name: str) -> dict[str, Any]:
    return next(one for one in objects if one["kind"] == kind and one["metadata"]["name"] == name)


def _merged(values: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(values)
    for key, value in overlay.items():
        below = result.get(key)
        result[key] = _merged(below, value) if isinstance(below, dict) and isinstance(value, Mapping) else value
    return result
