#!/bin/sh
# A system call's cost, read in pandas. Needs howslow and Python with pandas; writes into the current folder.
set -eu
HOWSLOW=${HOWSLOW:-howslow}

# 1. Measure (add --budget 60s for a narrower interval).
$HOWSLOW run syscall.getppid 'pipe.self@size=64' "$@" -o run.json >/dev/null
# 2. Write the table.
$HOWSLOW export run.json -o costs.csv
# 3. Read it.
python3 - <<'PYTHON'
import pandas

costs = pandas.read_csv("costs.csv").set_index("id")
costs["half"] = (costs.high - costs.low) / 2 / costs.ns
print(costs.loc[["syscall.getppid", "pipe.self"], ["ns", "low", "high", "half", "cycles", "doubts"]].to_string())
PYTHON
