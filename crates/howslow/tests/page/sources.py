#!/usr/bin/env python3
"""What the pages of `.ci/nightly page` are made of: a run with many costs, hostile texts, documents of other verbs, a fleet."""
import json
import pathlib
import sys

example = json.loads(pathlib.Path(sys.argv[1]).read_text())
into = pathlib.Path(sys.argv[2])
(into / "documents").mkdir(parents=True, exist_ok=True)
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'"


def write(name, document):
    (into / name).write_text(json.dumps(document))


# A run with the points that the checks look for, and a curve.
base = next(cost for cost in example["costs"] if cost["rounds"])
run = json.loads(json.dumps(example))


def cost(operation, at, ns, group):
    made = json.loads(json.dumps(base))
    made.update(operation=operation, at=at, group=group)
    scale = ns / base["net_ns"]["quiet"]
    for figures in (made["net_ns"], made["gross_ns"]):
        for name, value in figures.items():
            figures[name] = value and value * scale
    made["cycles"] *= scale
    return made


run["costs"] += [
    cost("pipe.roundtrip", {"distance": "same", "size": 26}, 4_000, "messages"),
    cost("pipe.roundtrip", {"distance": "other", "size": 26}, 30_000, "messages"),
    cost("process.fork", {}, 130_000, "processes"),
    cost("file.fsync", {}, 2.5e6, "files"),
]
run["costs"] += [cost("memory.load", {"set": 1 << power}, 1 + 1.6 ** (power - 10), "memory") for power in range(12, 28)]
write("run.json", run)


def hostile(value, key=""):
    if isinstance(value, dict):
        return {name: hostile(field, name) for name, field in value.items()}
    if isinstance(value, list):
        return [hostile(item, key) for item in value]
    kept = key in ("schema", "kind", "headline", "origin", "counted_in")
    return HOSTILE + value if isinstance(value, str) and not kept else value


wild = json.loads(json.dumps(example))
wild["costs"] = [{**hostile(cost), "doubts": cost["doubts"]} for cost in wild["costs"]]
wild["machine"] = hostile(wild["machine"])
write("hostile.json", wild)

row = {"what": "read", "count": 100, "cpu_ns": 5e4, "bytes": 4096, "failed": 0, "total": {"ns": 6e4}}
waits = [{"call": "read", "reason": "disk", "count": 3, "total_ns": 5e6, "p50_ns": 1e5, "p99_ns": 2e6}]
pairs = [{"first": "open", "then": "read", "count": 40}, {"first": "read", "then": "close", "count": 40}]
write("documents/bill.json", {
    "seen": {"what": "make", "elapsed_ns": 1e9, "source": "eBPF", "together": {"waits": waits},
             "processes": [{"name": "cc", "requests": {"pairs": pairs}}]},
    "rows": [row], "explained": {"ns": 5e4}, "charged_ns": 1e6, "explained_share": 0.05,
    "findings": [{"text": "reads of one byte", "saves_ns": [2e4, 3e4]}],
})
write("documents/changes.json", {
    "bills": ["one", "other"], "unit": "command",
    "figures": [{"figure": "elapsed", "before": 1e9, "after": 8e8, "ratio": [0.7, 0.9], "verdict": "less"}],
    "rows": [{"what": "read", "count": [4, 2], "cpu_ns": [10, 5], "waited_ns": [0, 0]}],
})
cells = [{"victim": victim, "conclusive": True, "elapsed": {"value": value, "low": value, "high": value},
          "beside": [{"kind": kind, "place": "same", "dose": 1.0}]}
         for victim in ("compute", "memory") for kind, value in (("compute", 2.0), ("memory", 2.5))]
write("documents/interference.json", {"kinds": [], "cells": cells, "together": []})
points = [[100 * 1.3 ** step, 500 - 9 * step] for step in range(40)]
write("documents/noise.json", {"machine": {}, "together": False, "cpus": [
    {"cpu": 0, "lost": 0.01, "steal": 0.0, "gaps_per_second": 300, "histogram": points, "percentiles": [], "causes": []}]})
tried = [{"of": {"distance": distance, "quantity": quantity}, "rates": [1e8 * distance / quantity]}
         for distance in (4096, 8192) for quantity in (4096, 8192)]
write("documents/prefetch.json", {"windows": tried, "distances": [4096, 8192], "quantities": [4096, 8192],
                                  "best": {"distance": 8192, "quantity": 4096}, "recommended": {}, "plain": [], "notes": []})
users = [{"configuration": {"users": users, "cpus": 2, "memory": 1 << 26, "device": "swap"}, "throughput": users / 3,
          "all": {"mean_s": {"value": 0.1 * users}, "percentiles": []}} for users in (1, 2, 4, 8)]
write("documents/load.json", {"plan": "developer", "configurations": users, "cliffs": [], "notes": []})

nodes = [f"node-{node}" for node in range(1000)]
ratios = [[1 + (node * 7 + family * 3) % 29 / 100 for family in range(20)] for node in range(1000)]
slow = [{"node": "node-7", "class": "a", "families": [{"family": "memory", "ratio": {"value": 1.2, "low": 1.1, "high": 1.3}}],
         "causes": [{"kind": "memory", "because": "its memory is slower"}]}]
write("fleet.json", {"false_share": 0.05, "slow": slow, "doubted": [], "populations": [], "classes": [
    {"class": "a", "runs": 1000, "nodes": nodes, "parts": [], "families": [{"name": f"family {family}"} for family in range(20)],
     "ratios": ratios}]})
