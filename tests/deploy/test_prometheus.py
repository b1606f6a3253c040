"""Every expression that is shipped returns data from a real Prometheus that scrapes us and dcgm-exporter."""

import math
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType

import pytest
import yaml

from app.serving.snapshots import GAUGES, flop, full_snapshot, uuid_of
from deploy.dashboards import PROMETHEUS, RULES, expressions, rules, without_comparison
from emulators.dcgm_exporter import NEW, OLD, EmulatedExporter
from emulators.real_prometheus import NOT_INSTALLED, PROMTOOL, RealPrometheus
from emulators.real_prometheus import PROMETHEUS as SERVER
from emulators.text_server import TextServer
from flopwitness.app.rulebook import open_rulebook
from flopwitness.app.serving.exposition import exposition
from flopwitness.app.serving.snapshot import Snapshot

needs_prometheus = pytest.mark.skipif(not (SERVER and PROMTOOL), reason=NOT_INSTALLED)

TOKEN = "t0ken-of-a-test"  # noqa: S105
EXPRESSIONS = expressions()
LAST_RECORD = "flopwitness:power_disagreement:ratio"
"""Made of all that is scraped and of other records; after a few of it every rate has its samples."""

ALERTS = {rule["alert"]: rule["expr"] for rule in rules("alert")}
RECORDS = [f"{rule['record']} {rule['expr']}" for rule in rules("record")]
TESTS = tuple(sorted((PROMETHEUS / "tests").glob("*.yml")))


class Watched:
    """Eight GPUs at work: each look at them is a second later."""

    def __init__(self) -> None:
        self.n_looks = 0

    def snapshot(self) -> Snapshot:
        """Return what is known now."""
        self.n_looks += 1
        now_ns, moved = time.time_ns(), full_snapshot()
        load = 0.5 + 0.4 * math.sin(self.n_looks / 3)
        gauges = GAUGES | {
            "power_watts": 100 + 550 * load,
            "energy_joules_total": 5000.0 + 400 * self.n_looks,
            "tensor_active_ratio": 0.55 * load,
        }
        findings = tuple(replace(each, start_ns=now_ns, stop_ns=now_ns) for each in moved.findings)
        codes = ("stalled", "lost-samples")
        return replace(
            moved,
            at_ns=now_ns,
            devices=tuple(replace(each, time_ns=now_ns, gauges=gauges) for each in moved.devices),
            running=tuple(
                replace(each, last_ns=now_ns, flop=flop(1e18 * self.n_looks)) for each in moved.running
            ),
            totals=MappingProxyType(dict(flop(9e22 + 1e21 * self.n_looks))),
            findings=(*findings, *(replace(findings[0], code=code) for code in codes)),
            n_samples=8 * self.n_looks,
            n_missed=self.n_looks // 10,
        )

    def render(self) -> bytes:
        """Return it as metrics."""
        return exposition(self.snapshot())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealPrometheus]:
    """Run Prometheus with the shipped configuration, only quicker, until its rules have answers."""
    folder = tmp_path_factory.mktemp("prometheus")
    exporters = [
        EmulatedExporter(tuple(map(uuid_of, range(4))), "n0", OLD),
        EmulatedExporter(tuple(map(uuid_of, range(4, 8))), "n1", NEW),
    ]
    (folder / "token").write_text(TOKEN)
    with (
        TextServer(Watched().render, token=TOKEN) as ours,
        TextServer(exporters[0].render) as old,
        TextServer(exporters[1].render) as new,
    ):
        config = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text())
        config["global"] = {"scrape_interval": "500ms", "evaluation_interval": "500ms"}
        config["rule_files"] = [str(path) for path in RULES]
        by_name = {job["job_name"]: job for job in config["scrape_configs"]}
        by_name["flopwitness"]["authorization"]["credentials_file"] = str(folder / "token")
        by_name["flopwitness"]["static_configs"] = [{"targets": [ours.address]}]
        by_name["dcgm"]["static_configs"] = [{"targets": [old.address, new.address]}]
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
        subprocess.run([str(PROMTOOL), "check", "config", str(folder / "prometheus.yml")], check=True)
        with RealPrometheus(folder / "prometheus.yml", folder) as running:
            running.wait_for(
                lambda: len(running.query(f"count_over_time({LAST_RECORD}[1m]) >= 4")) == 8,
                "the rules to have answers",
            )
            yield running


@needs_prometheus
def test_all_is_scraped(server: RealPrometheus):
    """Our exposition behind its token, and both generations of dcgm-exporter."""
    up = server.query("up")

    assert [sample["value"][1] for sample in up] == ["1"] * 3


@needs_prometheus
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_every_expression_of_the_dashboard_returns_data(server: RealPrometheus, name: str):
    """A panel that stays empty says the same as one that found nothing."""
    found = server.query(EXPRESSIONS[name])

    assert found, EXPRESSIONS[name]
    assert not all(sample["value"][1] == "NaN" for sample in found)


@needs_prometheus
@pytest.mark.parametrize(
    "name", ["Power 0", "Power, dcgm-exporter", "Disagreement of power", "Difference of power"]
)
def test_every_gpu_is_in_the_panel_of_both_witnesses(server: RealPrometheus, name: str):
    """Old and new names of fields, and our own series, are joined by UUID."""
    title = name.removesuffix(" 0")
    key = next(key for key in EXPRESSIONS if key.split(" ", 1)[1] == f"{title} A")

    found = server.query(EXPRESSIONS[key])

    assert sorted(sample["metric"]["UUID"] for sample in found) == [uuid_of(gpu) for gpu in range(8)]


@needs_prometheus
@pytest.mark.parametrize("rule", RECORDS)
def test_every_recording_rule_returns_data(server: RealPrometheus, rule: str):
    """And what it records is there."""
    record, expression = rule.split(" ", 1)

    assert server.query(expression)
    assert server.query(record)


@needs_prometheus
@pytest.mark.parametrize("name", ALERTS)
def test_every_alert_compares_data(server: RealPrometheus, name: str):
    """An alert over nothing never fires."""
    assert server.query(without_comparison(ALERTS[name]))


@needs_prometheus
def test_rules_and_their_tests_pass():
    """Promtool checks the rules, and runs a test of each alert."""
    check = [str(PROMTOOL), "check", "rules", *map(str, RULES)]
    tests = [str(PROMTOOL), "test", "rules", *map(str, TESTS)]

    subprocess.run(check, check=True, capture_output=True)
    subprocess.run(tests, check=True, capture_output=True)


def test_every_alert_has_a_test():
    """One that never was seen to fire may be misspelt."""
    tested = {
        case["alertname"]
        for path in TESTS
        for test in yaml.safe_load(path.read_text())["tests"]
        for case in test.get("alert_rule_test", ())
        if case["exp_alerts"]
    }

    assert set(ALERTS) - tested == set()


def test_thresholds_are_those_of_the_rulebook():
    """A figure that is written twice can differ."""
    known = open_rulebook().thresholds
    found = {
        rule["labels"]["threshold"]: float(rule["expr"].rsplit("/", 1)[1])
        for rule in rules("record")
        if rule["record"] == "flopwitness:threshold:ratio"
    }

    assert found == {name: known[name].flop for name in found}
