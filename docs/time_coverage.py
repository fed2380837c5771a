#!/usr/bin/env python3
"""How often `howslow time` is right about two commands that are the same.

The same work is timed as two commands many times (an A/A test). The true ratio is 1, so 95 in 100 intervals must hold 1; and
of every two runs, the interval of one must hold the ratio of the other as often.

    docs/time_coverage.py [HOWSLOW] [RUNS] [BUDGET]        such as: docs/time_coverage.py target/release/howslow 80 2s
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile


def ratio(howslow, budget, file, data):
    """The ratio and its interval, from one run; None if the two could not be compared."""
    commands = ["-c", f"gzip -c {file}", "-c", f"gzip {file} -c"]
    call = [howslow, "time", "--budget", budget, "--json", "--summary", "--reference", f"gzip -c {file}", *commands]
    run = subprocess.run(call, capture_output=True, check=True, env={**os.environ, "HOWSLOW_DATA": data})
    (told,) = json.loads(run.stdout)["ratios"]
    return (told["low"], told["ratio"], told["high"]) if told.get("ratio") else None


def main():
    howslow, runs, budget = (sys.argv[1:] + ["howslow", "80", "2s"][len(sys.argv) - 1 :])[:3]
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "text")
        with open(file, "w", encoding="utf-8") as text:
            text.writelines(f"line {number} of a text that is neither short nor long\n" for number in range(1200))
        found = [ratio(howslow, budget, file, folder) for _ in range(int(runs))]
    told = [one for one in found if one]
    holds = sum(low <= 1 <= high for low, _, high in told)
    pairs = [(one, other) for one in told for other in told if one is not other]
    lands = sum(low <= other[1] <= high for (low, _, high), other in pairs)
    widths = sorted((high - low) / 2 for low, _, high in told)
    print(f"{len(told)} of {len(found)} runs of {budget} gave a ratio; {holds / len(told):.1%} of the intervals hold 1")
    print(f"of {len(pairs)} ordered pairs of runs, {lands / len(pairs):.1%} hold the other's ratio")
    print(f"half the interval: median {statistics.median(widths):.2%}, nine in ten below {widths[len(widths) * 9 // 10]:.2%}")


if __name__ == "__main__":
    main()
