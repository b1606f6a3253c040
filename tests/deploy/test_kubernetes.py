"""The DaemonSet: as few rights as a witness can do with, limits, probes, and a command line that is ours."""

from typing import Any

import pytest

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

from deploy.command_lines import parsed  # noqa: E402
from source_tree import ROOT  # noqa: E402

FILE = ROOT / "deploy" / "kubernetes" / "daemonset.yaml"


def objects() -> dict[str, Any]:
    """Return the objects by kind."""
    return {one["kind"]: one for one in yaml.safe_load_all(FILE.read_text())}


def pod() -> Any:
    """Return what each node runs."""
    return objects()["DaemonSet"]["spec"]["template"]["spec"]


def containers() -> list[Any]:
    """Return every container, those that run first too."""
    return [*pod()["initContainers"], *pod()["containers"]]


def test_the_selector_is_its_own_pods():
    """Kubernetes refuses one that is not."""
    spec = objects()["DaemonSet"]["spec"]

    assert spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
    assert {one["metadata"].get("namespace", "flopwitness") for one in objects().values()} == {"flopwitness"}


def test_it_runs_as_nobody_and_can_become_nobody_else():
    """Not root, no capability, no escalation, no writing to its own root, no host's namespaces."""
    assert pod()["securityContext"]["runAsNonRoot"] is True
    assert pod()["securityContext"]["runAsUser"] > 0
    assert pod()["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod())
    for container in containers():
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_it_can_ask_the_cluster_nothing():
    """No token of a service account is mounted."""
    assert pod()["automountServiceAccountToken"] is False
    assert objects()["ServiceAccount"]["automountServiceAccountToken"] is False


def test_it_takes_no_gpu_from_a_job():
    """It sees them all by the runtime, asks for none, and goes where they are."""
    for container in containers():
        assert set(container["resources"]["limits"]) == {"cpu", "memory"}
        assert set(container["resources"]["requests"]) == {"cpu", "memory"}
    assert pod()["nodeSelector"]["nvidia.com/gpu.present"] == "true"
    assert pod()["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    environment = {one["name"]: one["value"] for one in pod()["containers"][0]["env"]}
    assert environment == {"NVIDIA_VISIBLE_DEVICES": "all", "NVIDIA_DRIVER_CAPABILITIES": "utility"}


def test_its_command_line_is_one_of_ours():
    """Everything that it names is mounted, and what it writes to is not read-only."""
    (container,) = pod()["containers"]
    found = parsed(container["args"])
    mounts = {one["mountPath"]: one.get("readOnly", False) for one in container["volumeMounts"]}

    for name in ("journal", "ledger", "ledger_key", "token_file"):
        assert mounts[str(found[name].parent)] is (name == "token_file")  # type: ignore[attr-defined]
    assert str(found["listen"]).endswith(f":{container['ports'][0]['containerPort']}")


def test_the_key_is_made_where_it_is_used():
    """By our own command, once a node."""
    (container,) = pod()["initContainers"]
    script = container["command"][-1]
    made = script.partition("|| ")[2].split()

    assert made[:4] == ["flopwitness", "ledger", "key", "new"]
    assert f"--ledger-key={made[4]}" in pod()["containers"][0]["args"]


def test_every_mount_has_its_volume():
    """And every volume is mounted; the token comes from a secret that others cannot read."""
    volumes = {one["name"]: one for one in pod()["volumes"]}
    mounted = {mount["name"] for container in containers() for mount in container["volumeMounts"]}

    assert mounted == set(volumes)
    assert volumes["token"]["secret"]["defaultMode"] & 0o007 == 0
    assert volumes["state"]["hostPath"]["path"] == "/var/lib/flopwitness"


@pytest.mark.parametrize("probe", ["startupProbe", "livenessProbe", "readinessProbe"])
def test_probes_ask_what_needs_no_token(probe: str):
    """Of the port that it listens at."""
    assert pod()["containers"][0][probe]["httpGet"] == {"path": "/healthz", "port": "metrics"}
