"""Reads the exports of a folder with the programs that people read them with. Each is held to the run document, run.json."""

import json
import re
import sys
from pathlib import Path

import duckdb
import numpy
import pandas
from prometheus_client.openmetrics.parser import text_string_to_metric_families

folder = Path(sys.argv[1])
run = json.loads((folder / "run.json").read_text())
costs = run["costs"]


def quoted(cost):
    return cost["net_ns"][cost["headline"]]


def tables():
    """The run and the hostile one: pandas and DuckDB, from CSV, and from Parquet."""
    parquet = str(folder / "both.parquet")
    read = [
        pandas.read_csv(folder / "both.csv"),
        duckdb.sql(f"select * from read_csv('{folder / 'both.csv'}', sample_size=-1)").df(),
        pandas.read_parquet(parquet),
        duckdb.sql(f"select * from '{parquet}'").df(),
    ]
    for table in read:
        assert list(table.columns[:2]) == ["id", "group"], table.columns
        own = table[table.run == run["id"]]
        assert list(own.id) == [cost["operation"] for cost in costs]
        assert numpy.allclose(own.ns.astype(float), [quoted(cost) for cost in costs], rtol=1e-12)
        sizes = [cost["at"].get("size", float("nan")) for cost in costs]
        assert numpy.allclose(own["size"].astype(float), sizes, equal_nan=True)
        assert own.trusted.dtype == bool or set(own.trusted) <= {True, False}
        other = table[table.run != run["id"]]
        assert len(other) == 3 and other.id.iloc[0].startswith('odd name"'), other.id
        assert pandas.isna(other.low.iloc[0]) and int(float(other.axis_ns.iloc[0])) == 7
    # The apostrophe keeps a spreadsheet from running the text. It is in the CSV alone.
    assert pandas.read_csv(folder / "both.csv").run.iloc[-1].startswith("'=cmd")
    assert pandas.read_parquet(parquet).run.iloc[-1].startswith("=cmd")


def metrics():
    families = {f.name: f for f in text_string_to_metric_families((folder / "run.openmetrics").read_text())}
    told = {tuple(sorted(sample.labels.items())): sample.value for sample in families["howslow_cost_seconds"].samples}
    assert len(told) == len(costs)
    for cost in costs:
        labels = {"operation": cost["operation"], "figure": cost["headline"]}
        labels |= {axis: str(value) for axis, value in cost["at"].items()}
        assert abs(told[tuple(sorted(labels.items()))] * 1e9 / quoted(cost) - 1) < 1e-12
    list(text_string_to_metric_families((folder / "hostile.openmetrics").read_text()))
    bill = {f.name: f for f in text_string_to_metric_families((folder / "bill.openmetrics").read_text())}
    assert bill["howslow_watch"].type == "info" and bill["howslow_watched_seconds"].samples[0].value == 1.5


def documents():
    name = lambda cost: cost["operation"] + ("@" if cost["at"] else "") + ",".join(
        f"{axis}={value}" for axis, value in sorted(cost["at"].items())
    )
    bencher = json.loads((folder / "run.bencher").read_text())
    assert {key: value["latency"]["value"] for key, value in bencher.items()} == {name(c): quoted(c) for c in costs}
    for value in bencher.values():
        metric = value["latency"]
        assert set(metric) <= {"value", "lower_value", "upper_value"}
        assert metric.get("lower_value", metric["value"]) <= metric["value"] <= metric.get("upper_value", metric["value"])
    action = json.loads((folder / "run.github-action").read_text())
    assert [(entry["name"], entry["unit"], entry["value"]) for entry in action] == [(name(c), "ns", quoted(c)) for c in costs]
    assert all(re.fullmatch(r"± [0-9.e-]+", entry["range"]) for entry in action if "range" in entry)
    # What hyperfine's scripts compute of its files.
    for result in json.loads((folder / "run.hyperfine").read_text())["results"]:
        times = result["times"]
        assert numpy.isclose(numpy.mean(times), result["mean"]) and numpy.isclose(numpy.median(times), result["median"])
        assert min(times) == result["min"] and max(times) == result["max"] and len(result["command"]) > 0
        assert result["stddev"] is None or numpy.isclose(numpy.std(times, ddof=1), result["stddev"])


def lmbench():
    """The expressions by which CI jobs and lmbench's own scripts find its figures."""
    text = (folder / "run.lmbench").read_text()
    assert re.match(r"\[lmbench3\.[01]", text)
    own = {cost["operation"]: quoted(cost) for cost in costs if not cost["at"]}
    found = re.search(r"^Simple syscall: +([0-9.]+) microseconds$", text, re.M)
    assert abs(float(found[1]) * 1e3 - own["syscall.getppid"]) < 0.1
    copies = re.search(r'^"libc bcopy unaligned\n((?:[0-9.]+ [0-9.]+\n)+)$', text, re.M)
    assert copies, text
    for line in copies[1].splitlines():
        assert float(line.split()[1]) > 0
    for line in text.splitlines():
        known = r"\[.*\]|[A-Za-z0-9_+ ]+: [0-9.]+ (micro|nano)seconds|\"size=\d+k ovr=[0-9.]+|[0-9.]+ [0-9.]+"
        assert re.fullmatch(known + r"|\"libc bcopy unaligned|\"stride=\d+|Random load latency|", line), line


tables()
metrics()
documents()
lmbench()
print("read")
