#!/usr/bin/env python3
"""The false-alarm study: how often tools call two equal things different, and see a difference of 3 %.

    study.py build FOLDER                    compiles the kinds of code and the benches of each tool that is installed
    study.py run FOLDER SECONDS [NAME...]    takes pairs for so long, in an order that is shuffled anew each pass; appends them to
                                             FOLDER/pairs.jsonl. NAMEs are tools, kinds, `busy` for beside a compilation, or
                                             `others` for beside what others compile
    study.py show FOLDER                     the table, with Wilson's 95 % intervals

Each pair takes about two seconds with each tool. The two sides are copies of one shared object (null), or one of which does 3 %
more. HOWSLOW names the program [howslow], BENCHSTAT that of Go [benchstat], PYTHON one that has pyperf [python3]; BEFORE may hold
words of a shell to run before each pair. nanobench.h must be where the compiler finds it.
"""

import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
KINDS = ["arithmetic", "hashing", "memory", "allocation", "calls"]
SIDES = ["base", "same", "more"]
# Programs find the kinds beside themselves.
BESIDE = "-Wl,-rpath,$ORIGIN"


def program(name):
    return os.environ.get(name.upper(), name)


def output(folder, words, fine=(0,), **environment):
    """What a program prints that ends with one of these statuses."""
    environment = {**os.environ, "HOWSLOW_DATA": str(folder / "data"), **environment}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, cwd=folder, check=False)
    if done.returncode not in fine:
        raise RuntimeError(f"{words}: {done.stderr[-500:]}")
    return done.stdout


def howslow(folder, kind, side):
    words = [program("howslow"), "time", "--budget", "2s", "--json", "--exact", "--filter", f"bench_{kind}", "--bench"]
    (found,) = json.loads(output(folder, [*words, f"{folder}/base/own", f"{folder}/{side}/own"]))["benchmarks"]
    return found["verdict"], found["low"], found["high"]


def howslow_commands(folder, kind, side):
    commands = [f"{folder}/{one}/runner {kind}" for one in ("base", side)]
    text = output(folder, [program("howslow"), "time", "--budget", "2s", "--precision", "0.1%", "--json", "--summary",
                                   "--reference", commands[0], "-c", commands[0], "-c", commands[1]])
    (found,) = json.loads(text)["ratios"]
    return found.get("verdict"), found.get("low"), found.get("high")


def hyperfine(folder, kind, side):
    """Its own script judges by Welch's t test at 5 %."""
    file = folder / "hyperfine.json"
    output(folder, ["hyperfine", "-N", "-w", "3", "-r", "100", "--export-json", str(file), f"{folder}/base/runner {kind}",
                            f"{folder}/{side}/runner {kind}"])
    one, two = (result["times"] for result in json.loads(file.read_text())["results"])
    error = math.sqrt(sum(statistics.variance(times) / len(times) for times in (one, two)))
    return changed(statistics.mean(two) - statistics.mean(one), 1.97 * error)


def changed(difference, limit):
    return ("slower" if difference > 0 else "faster") if abs(difference) > limit else "inconclusive", None, None


def google(folder, kind, side):
    """Its compare.py judges by the U test of Mann and Whitney at 5 %, over nine repetitions."""
    words = [f"--benchmark_filter=bench_{kind}", "--benchmark_repetitions=9", "--benchmark_min_time=0.06",
             "--benchmark_format=json"]

    def times(one):
        runs = json.loads(output(folder, [f"{folder}/{one}/google", *words]))["benchmarks"]
        return [run["real_time"] for run in runs if run["run_type"] == "iteration"]

    one, two = times("base"), times(side)
    below = sum(a < b for a in one for b in two)
    # Of nine and nine: U at most 17 has p < 0.05.
    return changed(below - 40.5, 40.5 - 17.5)


def go(folder, kind, side):
    """benchstat judges by the U test at 5 %, over ten counts."""
    files = [folder / f"go-{place}.txt" for place in ("old", "new")]
    for one, file in zip(("base", side), files):
        words = [f"{folder}/{one}/go.test", "-test.run=^$", f"-test.bench={kind.capitalize()}", "-test.count=10",
                 "-test.benchtime=60ms"]
        file.write_text(output(folder, words))
    found = re.search(r"([+-][\d.]+)% \(p=", output(folder, [program("benchstat"), *map(str, files)]))
    return changed(float(found[1]) if found else 0.0, 0.0)


def criterion(folder, kind, side):
    home = {"CRITERION_HOME": str(folder / "criterion")}
    words = ["--bench", "--exact", kind, "--noplot"]
    output(folder, [f"{folder}/base/criterion", *words, "--save-baseline", "old"], **home)
    text = output(folder, [f"{folder}/{side}/criterion", *words, "--baseline", "old"], **home)
    interval = re.search(r"change:\s*\[([-+−\d.]+)% [-+−\d.]+% ([-+−\d.]+)%\]", text)
    low, high = (1 + float(end.replace("−", "-")) / 100 for end in interval.groups()) if interval else (None, None)
    verdict = "slower" if "has regressed" in text else "faster" if "has improved" in text else "inconclusive"
    return verdict, low, high


def divan(folder, kind, side):
    """It judges nothing. Its medians count as different beyond half of what is to be seen, 1.5 %."""
    def median(one):
        text = output(folder, [f"{folder}/{one}/divan", "--bench", "--min-time", "0.9", kind])
        line = next(line for line in text.splitlines() if kind in line)
        number, unit = re.findall(r"([\d.]+) (ns|µs|ms|s)\b", line)[2]
        return float(number) * {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]

    return changed(median(side) / median("base") - 1, 0.015)


def tango(folder, kind, side):
    """It marks what it finds significant with a star, and fails if that is slower."""
    words = [f"{folder}/{side}/tango", "compare", f"{folder}/base/tango", "-t", "1.8", "-f", kind]
    found = re.search(r"([+-][\d.]+)%(\*?)", output(folder, words, fine=(0, 1)))
    return changed(float(found[1]) if found[2] else 0.0, 0.0)


def nanobench(folder, kind, side):
    """Its interval is of 95 %, by the sign test, over a thousand rounds."""
    text = output(folder, [f"{folder}/base/nano", *(f"{folder}/{one}/libkinds.so" for one in ("base", side)), kind])
    significant, low, high = text.split()
    low, high = float(low), float(high)
    return changed(low + high - 2 if int(significant) else 0.0, 0.0)[0], low, high


def pyperf(folder, kind, side):
    files = []
    for one in ("base", side):
        files.append(folder / f"pyperf-{len(files)}.json")
        files[-1].unlink(missing_ok=True)
        output(folder, [program("python"), str(HERE / "with_pyperf.py"), "-p", "4", "-n", "6", "-w", "1", "--min-time", "0.02",
                             "-q", "--inherit-environ", "KINDS,KIND", "-o", str(files[-1])],
               KINDS=str(folder / one / "libkinds.so"), KIND=kind)
    text = output(folder, [program("python"), "-m", "pyperf", "compare_to", *map(str, files)])
    return ("slower" if "slower" in text else "faster" if "faster" in text else "inconclusive"), None, None


TOOLS = {tool.__name__: tool
         for tool in (howslow, howslow_commands, hyperfine, google, go, criterion, divan, tango, nanobench, pyperf)}


def build(folder):
    folder.mkdir(parents=True, exist_ok=True)
    run = lambda *words, **options: subprocess.run([str(word) for word in words], check=True, **options)
    for side in SIDES:
        (folder / side).mkdir(exist_ok=True)
        more = "-DMORE=30" if side == "more" else "-DMORE=0"
        run("cc", "-O2", "-fno-builtin", "-shared", "-fPIC", more, "-o", folder / side / "libkinds.so", HERE / "kinds.c")
        run("cc", "-O2", "-fno-builtin", more, "-o", folder / side / "runner", HERE / "runner.c", HERE / "kinds.c")
    link = [f"-L{folder}/base", "-lkinds", BESIDE]
    steps = {
        "own": lambda to: run("cc", "-O2", "-w", f"-I{HERE}/../../harness/c", "-o", to, HERE / "own.c", *link),
        "nano": lambda to: run("c++", "-O2", "-o", to, HERE / "nano.cc"),
        "google": lambda to: run("c++", "-O2", "-o", to, HERE / "google.cc", "-lbenchmark", *link, "-lpthread"),
        "go.test": lambda to: run("go", "test", "-c", "-o", to, ".", cwd=HERE / "go",
                                  env={**os.environ, "CGO_LDFLAGS": " ".join(link), "GOFLAGS": "-mod=mod"}),
        **{name: lambda to, name=name: build_rust(folder, run, name, to) for name in ("criterion", "divan", "tango")},
    }
    for name, step in steps.items():
        try:
            step(folder / "base" / name)
            for side in SIDES[1:]:
                shutil.copy(folder / "base" / name, folder / side / name)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"{name} is left out: {error}", file=sys.stderr)


def build_rust(folder, run, name, to):
    shutil.copytree(HERE / "rust", folder / "rust", dirs_exist_ok=True)
    words = ["cargo", "bench", "--no-run", "--bench", f"with_{name}"]
    run(*words, cwd=folder / "rust", env={**os.environ, "RUSTFLAGS": f"-L {folder}/base -C link-arg={BESIDE}"})
    built = (folder / "rust/target/release/deps").glob(f"with_{name}-*[0-9a-f]")
    shutil.copy(max(built, key=os.path.getmtime), to)


def measure(folder, seconds, names):
    tools = [tool for tool in TOOLS if tool in names] or list(TOOLS)
    kinds = [kind for kind in KINDS if kind in names] or KINDS
    end = time.monotonic() + seconds
    load = busy(folder) if "busy" in names else None
    try:
        while True:
            pairs = [(tool, kind, side) for tool in tools for kind in kinds for side in ("same", "more")]
            random.shuffle(pairs)
            for tool, kind, side in pairs:
                if time.monotonic() > end:
                    return
                subprocess.run(["sh", "-c", os.environ.get("BEFORE", ":")], check=False)
                begun, before = time.monotonic(), os.times()
                try:
                    verdict, low, high = TOOLS[tool](folder, kind, side)
                except (RuntimeError, OSError, AttributeError, StopIteration, IndexError) as error:
                    print(f"{tool} {kind}: {error}", file=sys.stderr)
                    continue
                after = os.times()
                used = after.children_user + after.children_system - before.children_user - before.children_system
                pair = {"tool": tool, "kind": kind, "side": side, "busy": load is not None or "others" in names,
                        "verdict": verdict, "low": low, "high": high, "seconds": round(time.monotonic() - begun, 2), "cpu": round(used, 2),
                        "load": round(os.getloadavg()[0], 1)}
                with open(folder / "pairs.jsonl", "a", encoding="utf-8") as file:
                    file.write(json.dumps(pair) + "\n")
    finally:
        if load:
            load.terminate()


def busy(folder):
    """A compilation of C++ that begins anew for as long as it is wanted, and ends with its shell."""
    again = f"trap 'kill $!; exit' TERM; while :; do c++ -O2 -c -o /dev/null {HERE}/google.cc & wait $!; done"
    return subprocess.Popen(["sh", "-c", again], cwd=folder)


def wilson(hits, count):
    if not count:
        return "-"
    z, share = 1.96, hits / count
    middle, root = share + z * z / (2 * count), z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    low, high = ((middle + sign * root) / (1 + z * z / count) for sign in (-1, 1))
    return f"{hits} of {count} ({100 * max(low, 0):.0f} - {100 * high:.0f} %)"


def show(folder):
    pairs = [json.loads(line) for line in (folder / "pairs.jsonl").read_text().splitlines()]
    is_changed = lambda pair: pair["verdict"] in ("slower", "faster")
    is_seen = lambda pair: pair["verdict"] == "slower"
    for is_busy in (False, True):
        print("beside a compilation" if is_busy else "calm")
        heads = ["tool", "false alarms", "+3 % seen", "intervals hold 1", "half", "s", "CPU s", *KINDS]
        print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
        for tool in TOOLS:
            of = [pair for pair in pairs if pair["tool"] == tool and pair["busy"] == is_busy]
            if not of:
                continue
            null, more = ([pair for pair in of if pair["side"] == side] for side in ("same", "more"))
            told = [pair for pair in null if pair["low"] is not None]
            holds = wilson(sum(pair["low"] <= 1 <= pair["high"] for pair in told), len(told))
            half = f"{100 * statistics.median((pair['high'] - pair['low']) / 2 for pair in told):.2f} %" if told else "-"
            mean = lambda key: f"{statistics.mean(pair[key] for pair in of):.1f}"

            def share(pairs, fits, kind):
                of_kind = [fits(pair) for pair in pairs if pair["kind"] == kind]
                return f"{sum(of_kind)}/{len(of_kind)}"

            cells = [tool, wilson(sum(map(is_changed, null)), len(null)), wilson(sum(map(is_seen, more)), len(more)), holds, half,
                     mean("seconds"), mean("cpu"), *(f"{share(null, is_changed, kind)} {share(more, is_seen, kind)}" for kind in KINDS)]
            print(f"| {' | '.join(cells)} |")


def main():
    match sys.argv[1:]:
        case ["build", folder]:
            build(Path(folder).resolve())
        case ["run", folder, seconds, *names]:
            measure(Path(folder).resolve(), float(seconds), names)
        case ["show", folder]:
            show(Path(folder))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
