#!/usr/bin/env python3
"""How far bills of known programs close, and whether what they say of calls is what bpftrace says.

    study.py HOWSLOW asks       the nine programs of asks.c, each beside its own bill
    study.py HOWSLOW programs   25 programs: calls measured, prices, and bpftrace's sums
    study.py HOWSLOW slow       what counting adds to `dd bs=1` and to 10,000 calls a second

Runs as root, in a folder of its own below TMPDIR, which it removes. Prices that are lacking are measured once, before the bills that count.
Prices are kept in HOWSLOW_DATA, if that is set.
The name of a C compiler may be in CC. `--rounds N` sets how many bills of each program are taken (3); the middle one is shown. `--as-is` measures
no prices first.
"""

import json
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ASKS = HERE.parents[1] / "crates/howslow/tests/it/bill/asks.c"
NINE = [("huge", 2), ("preadv", 1500), ("status", 20000), ("connect", 3000), ("fork", 8), ("ping-pong", 20000), ("pipe", 300000),
        ("eagain", 300000), ("creat", 40000)]
CALLS = "system calls"
THRICE = "for i in 1 2 3; do {}; done"
# Programs by what they do to a tree of 6,000 files, and others. Those of the first list were looked at while the rules were chosen.
KNOWN = {
    "find /usr": "find /usr -name x", "du": "du -s /usr/share", "tar": "tar -cf - tree | cat", "git status": THRICE.format("git -C tree status -s"),
    "grep -r": THRICE.format("grep -r never tree"), "cp -r": "cp -r tree copy", "rm -r": "rm -r gone", "300 x true": "for i in $(seq 300); do /bin/true; done",
    "dd bs=1": "dd if=/dev/zero of=/dev/null bs=1 count=300000", "wc": "cat big big big big | wc -c",
}
NEW = {
    "ls -lR": THRICE.format("ls -lR tree"), "sort": "sort -o sorted lines", "gzip": "gzip -kf1 lines", "zstd": "zstd -qf -T1 big", "sqlite": "sqlite3 base < insert.sql",
    "python": "for i in $(seq 12); do python3 -c 'import json, email, http.client'; done", "compileall": "python3 -m compileall -qf code",
    "rsync": "rsync -a tree/ copy", "git log": "git -C tree log -p --stat", "git fsck": THRICE.format("git -C tree fsck"), "xargs": "seq 400 | xargs -n1 echo",
    "sed -i": "find tree -name '*1' | xargs sed -i s/a/b/", "touch": "touch $(find tree -type f)", "shell": "for i in $(seq 8000); do echo $i > one; done",
    "chmod -R": THRICE.format("chmod -R u+x tree; chmod -R u-x tree/*/*"),
}
SETUP = {"cp -r": "rm -rf copy", "rsync": "rm -rf copy", "rm -r": "rm -rf gone; cp -r tree gone", "sqlite": "rm -f base"}
# Sums by call of the time between entry and return, without the time off the CPU, of a command and what it starts.
PROBES = """
BEGIN { @w[cpid] = 1; }
tracepoint:sched:sched_process_fork /@w[args->parent_pid]/ { @w[args->child_pid] = 1; }
tracepoint:raw_syscalls:sys_enter /@w[tid]/ { @off[tid] = 0; @in[tid] = nsecs; }
tracepoint:raw_syscalls:sys_exit /@in[tid]/ { $t = nsecs - @in[tid] - @off[tid]; @ns[args->id] = sum($t); @n[args->id] = count(); delete(@in[tid]); }
tracepoint:sched:sched_switch {
  if (@in[args->prev_pid]) { @left[args->prev_pid] = nsecs; }
  if (@left[args->next_pid]) { @off[args->next_pid] += nsecs - @left[args->next_pid]; delete(@left[args->next_pid]); }
}
END { clear(@w); clear(@off); clear(@in); clear(@left); }
"""


def run(words, **more):
    return subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **more)


class Study:
    def __init__(self, howslow, rounds, place):
        self.howslow, self.rounds, self.place = howslow, rounds, pathlib.Path(place)
        self.data = os.environ.get("HOWSLOW_DATA", self.place / "data")

    def bill(self, command, *options, setup=None):
        """The document of one bill, of work that begins anew."""
        if setup:
            run(["sh", "-c", setup], cwd=self.place)
        out = self.place / "bill.json"
        environment = {**os.environ, "HOWSLOW_DATA": str(self.data), "TMPDIR": str(self.place)}
        words = [self.howslow, "bill", *options, "-o", out, "--", *command]
        subprocess.run(words, cwd=self.place, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return json.loads(out.read_text())

    def bills(self, command, setup=None):
        """Measures what is lacking, until nothing more can be; then so many bills."""
        lacking = None
        for _ in range(0 if "--as-is" in sys.argv else 4):
            bill = self.bill(command, "--measure", setup=setup)
            if not bill["lacking"] or bill["lacking"] == lacking:
                break
            lacking = bill["lacking"]
        bills = [self.bill(command, setup=setup) for _ in range(self.rounds)]
        return sorted(bills, key=lambda it: it["explained_share"] or 0)


def closes(bill):
    """What prices explain, what measured calls and the price of the rest explain, both of the charge, and how far prices are from measurements."""
    counting = (bill["seen"].get("counting") or {}).get("together_ns", 0.0)
    charged = bill["charged_ns"] - counting
    measured = apart = compared = rest = 0.0
    for row in bill["rows"]:
        cost = row["cpu_ns"]
        if row["measured"]:
            measured += row["measured"]["ns"]
            if cost is not None and not row["lacking"]:
                apart += abs(cost - row["measured"]["ns"])
                compared += row["measured"]["ns"]
        elif row["family"] != CALLS and row["what"] not in ("processes", "threads"):
            rest += cost or 0.0
    priced = sum(row["cpu_ns"] or 0.0 for row in bill["rows"])
    return priced / charged, (measured + rest) / charged, apart / compared if compared else None, charged


def asks(study):
    program = study.place / "asks"
    run([os.environ.get("CC", "cc"), "-O2", "-o", program, ASKS])
    print("| program | charged without counting | explained | lowest and highest | rows: price, measured |\n| --- | --- | --- | --- | --- |")
    for name, times in NINE:
        bills = study.bills([program, name, str(times)])
        shares = [closes(bill)[0] for bill in bills]
        middle = bills[len(bills) // 2]
        each = lambda ns, row: f"{ns / max(row['count'], 1) / 1e3:.3g}" if ns is not None else "-"
        rows = [f"{row['what']} {each(row['cpu_ns'], row)}, {each((row['measured'] or {}).get('ns'), row)}" for row in middle["rows"][:4]]
        print(f"| {name} {times} | {closes(middle)[3] / 1e6:.4g} ms | {100 * statistics.median(shares):.0f} % | {100 * min(shares):.0f} to "
              f"{100 * max(shares):.0f} % | {'; '.join(rows)} us |", flush=True)
        if middle["lacking"]:
            print("lacking:", middle["lacking"])


def prepare(place):
    """A tree of 6,000 files, a repository of it, and what else the programs work on."""
    for folder in range(60):
        home = place / "tree" / f"d{folder}"
        home.mkdir(parents=True)
        for file in range(100):
            (home / f"f{file}").write_text(f"{folder} {file}\n" * (1 + 37 * file % 400))
    run(["sh", "-c", "git init -q tree && cd tree && git add . && git -c user.name=n -c user.email=e commit -qm one"], cwd=place)
    (place / "lines").write_text("".join(f"{it * 7919 % 1000003}\n" for it in range(400000)))
    (place / "big").write_bytes(b"x" * (64 << 20))
    (place / "insert.sql").write_text("create table t(a, b);\n" + "".join(f"insert into t values({it}, 'text {it}');\n" for it in range(300)))
    library = pathlib.Path(os.__file__).parent
    shutil.copytree(library / "email", place / "code")


def traced(study, command, setup):
    """Sums by number of the call: how often, and ns."""
    if setup:
        run(["sh", "-c", setup], cwd=study.place)
    script = study.place / "command.sh"
    script.write_text(f"exec > /dev/null\n{command}\n")
    answer = subprocess.run(["bpftrace", "-f", "json", "-c", f"/bin/sh {script}", "-e", PROBES], cwd=study.place, capture_output=True, text=True)
    sums = {}
    for line in answer.stdout.splitlines():
        if line.startswith("{"):
            data = json.loads(line).get("data") or {}
            for name in set(data) & {"@n", "@ns"}:
                for number, value in data[name].items():
                    sums.setdefault(int(number), {})[name] = value
    return {number: (it["@n"], it["@ns"]) for number, it in sums.items() if len(it) == 2}


def numbers(study):
    out = subprocess.run([study.howslow, "list", "--syscalls", "--json"], capture_output=True, text=True, check=True).stdout
    return {it["number"]: it["call"] for it in json.loads(out)}


def programs(study):
    prepare(study.place)
    names = numbers(study)
    has_tracer = shutil.which("bpftrace") is not None
    # What the tracer itself adds to each call: by calls that do nothing.
    empty = "dd if=/dev/zero of=/dev/null bs=1 count=200000"
    added = 0.0
    if has_tracer:
        ours = {row["what"]: row["measured"]["ns"] / row["count"] for row in study.bill(["sh", "-c", empty])["rows"] if row["measured"]}
        theirs = {names.get(number): ns / count for number, (count, ns) in traced(study, empty, None).items()}
        added = statistics.mean(theirs[call] - ours[call] for call in ("read", "write"))
        print(f"bpftrace adds {added:.0f} ns to a call\n")
    print("| program | seen | kernel time | measured closes | prices close | prices apart | calls beside bpftrace |\n" + "| --- " * 7 + "|")
    for seen, table in (("yes", KNOWN), ("no", NEW)):
        for name, command in table.items():
            setup = SETUP.get(name)
            bills = study.bills(["sh", "-c", command], setup)
            figures = [closes(bill) for bill in bills]
            middle = [statistics.median(part) for part in zip(*((it[0], it[1], it[2] or 0.0, it[3]) for it in figures))]
            beside = "-"
            if has_tracer:
                ours = sum(row["measured"]["ns"] for row in bills[len(bills) // 2]["rows"] if row["measured"])
                own = {row["what"] for row in bills[0]["rows"] if row["measured"]}
                theirs = sum(ns - added * count for number, (count, ns) in traced(study, command, setup).items() if names.get(number) in own)
                beside = f"{100 * ours / theirs:.0f} %"
            lacking = " (prices lack)" if bills[0]["lacking"] else ""
            print(f"| `{name}` | {seen} | {middle[3] / 1e6:.4g} ms{'' if bills[0]['kernel_alone'] else ' with user'} | {100 * middle[1]:.0f} % | "
                  f"{100 * middle[0]:.0f} %{lacking} | {100 * middle[2]:.0f} % | {beside} |", flush=True)


def slow(study):
    dd = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=500000"]
    program = study.place / "asks"
    run([os.environ.get("CC", "cc"), "-O2", "-o", program, ASKS])
    kinds = {"bare": [], "everything": [study.howslow, "bill", "--"],
             "counts only": [study.howslow, "bill", "--counts-only", "--"]}
    environment = {**os.environ, "HOWSLOW_DATA": str(study.data)}
    times, steady = {kind: [] for kind in kinds}, {kind: [] for kind in kinds}
    for _ in range(max(study.rounds, 7)):
        for kind, words in kinds.items():
            # dd says how long it copied.
            said = subprocess.run([*words, *dd], capture_output=True, text=True, env=environment).stderr
            line = next(line for line in said.splitlines() if "copied" in line)
            times[kind].append(float(line.split("copied, ")[1].split(" s")[0]))
            used = subprocess.run([*words, program, "steady", "100"], capture_output=True, text=True, env=environment).stdout
            steady[kind].append(float(used.split()[0]))
    for kind in list(kinds)[1:]:
        ratios = sorted(there / bare for there, bare in zip(times[kind], times["bare"]))
        print(f"dd bs=1, {kind}: {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}); bare {min(times['bare']) / 1e6 * 1e9:.0f} ns a call")
        print(f"10,000 calls a second, {kind}: {100 * (min(steady[kind]) / min(steady['bare']) - 1):.2f} % more processor time, the least of "
              f"{len(steady['bare'])} each")


def main():
    words = sys.argv[1:]
    rounds = int(words[words.index("--rounds") + 1]) if "--rounds" in words else 3
    if len(words) < 2 or words[1] not in ("asks", "programs", "slow"):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(prefix="bills") as place:
        {"asks": asks, "programs": programs, "slow": slow}[words[1]](Study(os.path.abspath(words[0]), rounds, place))


if __name__ == "__main__":
    main()
