#!/usr/bin/env python3
"""How far bills of known programs close, and whether what they say of calls is what bpftrace says.

    study.py HOWSLOW asks       the nine programs of asks.c, each beside its own bill
    study.py HOWSLOW programs   25 programs: calls measured, prices, and bpftrace's sums
    study.py HOWSLOW predict    12 programs' processor times in two other surroundings, predicted by bills
    study.py HOWSLOW slow       what counting adds to `dd bs=1` and to 10,000 calls a second

Runs as root, in a folder of its own below TMPDIR, which it removes. Prices that are lacking are measured once, before the bills that count.
Prices are kept in HOWSLOW_DATA, if that is set.
The name of a C compiler may be in CC. `--rounds N` sets how many bills of each program are taken (3); the middle one is shown. `--as-is` measures
no prices first, `--only NAMES` takes these programs, `--no-tracer` leaves bpftrace out.
"""

import functools
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ASKS = HERE.parents[1] / "crates/howslow/tests/it/bill/asks.c"
NINE = [("huge", 2), ("preadv", 1500), ("status", 20000), ("connect", 3000), ("fork", 8), ("ping-pong", 20000), ("pipe", 300000),
        ("eagain", 300000), ("creat", 40000)]
CALLS = "system calls"


def times(number, command):
    return f"for i in $(seq {number}); do {command}; done"


# Programs by what they do to a tree of 6,000 files, and others, each for so long that the kernel's ticks tell how much of it was in the
# kernel. Those of the first list were looked at while the rules were chosen.
KNOWN = {
    "find /usr": times(3, "find /usr -name x"), "du": times(4, "du -s /usr/share"), "tar": times(8, "tar -cf - tree | cat"),
    "git status": times(12, "git -C tree status -s"), "grep -r": times(10, "grep -r never tree"), "cp -r": "cp -r tree copy.$$", "rm -r": "rm -r gone",
    "1000 x true": times(1000, "/bin/true"), "dd bs=1": "dd if=/dev/zero of=/dev/null bs=1 count=1000000", "wc": times(4, "cat big big big big | wc -c"),
}
NEW = {
    "ls -lR": times(10, "ls -lR tree"), "sort": times(10, "sort -o sorted lines"), "gzip": times(10, "gzip -kf1 big"), "zstd": times(10, "zstd -qf -T1 big"),
    "sqlite": "sqlite3 base < insert.sql", "python": times(24, "python3 -c 'import json, email, http.client'"),
    "compileall": times(4, "python3 -m compileall -qf code"), "rsync": "rsync -a tree/ synced.$$", "git log": times(200, "git -C tree log --stat"),
    "git fsck": times(8, "git -C tree fsck"), "xargs": "seq 1000 | xargs -n1 echo", "sed -i": times(4, "find tree -name '*1' | xargs -n 60 sed -i s/a/b/"),
    "touch": times(6, "touch $(find tree -type f)"), "shell": times(8000, "echo $i > one"),
    "chmod -R": times(4, "chmod -R u+x tree; chmod -R u-x tree/*/*"),
}
PREDICTED = {
    "find /usr": KNOWN["find /usr"], "du": KNOWN["du"], "tar": KNOWN["tar"], "git status": KNOWN["git status"], "grep -r": KNOWN["grep -r"],
    "dd bs=1": KNOWN["dd bs=1"], "dd bs=64k": "dd if=big of=/dev/null bs=64k count=900; " * 20, "true": KNOWN["1000 x true"], "ls -lR": NEW["ls -lR"],
    "sqlite": NEW["sqlite"], "python": NEW["python"], "chmod -R": NEW["chmod -R"],
}
SETUP = {"rm -r": "rm -rf gone; mkdir gone; for i in 1 2 3 4; do cp -r tree gone/$i; done", "sqlite": "rm -f base"}
# Sums by call of the time between entry and return, without the time off the CPU, of a command and what it starts; of calls that close a
# descriptor, on to where the kernel tells the program its CPU, as howslow does: the file is given up in between.
PROBES = """
BEGIN { @w[cpid] = 1; }
tracepoint:sched:sched_process_fork /@w[args->parent_pid]/ { @w[args->child_pid] = 1; }
tracepoint:sched:sched_process_exit { delete(@w[tid]); delete(@in[tid]); delete(@left[tid]); delete(@off[tid]); delete(@out[tid]); }
tracepoint:raw_syscalls:sys_enter /@w[tid]/ { @off[tid] = 0; @out[tid] = 0; @in[tid] = nsecs; }
tracepoint:raw_syscalls:sys_exit /@in[tid]/ { $t = nsecs - @in[tid] - @off[tid]; @ns[args->id] = sum($t); @n[args->id] = count(); delete(@in[tid]); }
tracepoint:syscalls:sys_exit_close, tracepoint:syscalls:sys_exit_dup2, tracepoint:syscalls:sys_exit_dup3 /@w[tid]/ {
  @off[tid] = 0; @closed[tid] = args->__syscall_nr; @out[tid] = nsecs; }
tracepoint:rseq:rseq_update /@out[tid]/ { @ns[@closed[tid]] = sum(nsecs - @out[tid] - @off[tid]); delete(@out[tid]); }
tracepoint:sched:sched_switch {
  if (@in[args->prev_pid] || @out[args->prev_pid]) { @left[args->prev_pid] = nsecs; }
  if (@left[args->next_pid]) { @off[args->next_pid] += nsecs - @left[args->next_pid]; delete(@left[args->next_pid]); }
}
END { clear(@w); clear(@off); clear(@in); clear(@left); clear(@out); clear(@closed); }
"""
# What agents that watch a system do: a program at each call of every process.
AGENT = "tracepoint:raw_syscalls:sys_enter { @calls[comm, args->id] = count(); } tracepoint:raw_syscalls:sys_exit /args->ret < 0/ { @errors[comm] = count(); }"
# Loops of one call each, which say themselves what a call took.
LOOPS = """
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
#define TIMED(name, call) { double begin = now(); for (int it = 0; it < 1000000; it++) call; printf("%s %.1f\\n", name, (now() - begin) / 1000000); }
int main(void) {
  static char block[4096]; struct stat found; int file = open("lines", O_RDONLY), null = open("/dev/null", O_WRONLY);
  TIMED("getppid", getppid()) TIMED("write", write(null, block, 1)) TIMED("pread64", pread(file, block, 4096, 8192))
  TIMED("newfstatat", syscall(SYS_newfstatat, AT_FDCWD, "tree/d1/f1", &found, 0)) TIMED("lseek", lseek(file, 0, SEEK_SET))
  return 0;
}
"""
# Runs a command behind a filter that looks at the arguments of every call, so that the kernel cannot remember its answers.
FILTERED = """
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int count, char **words) {
  static struct sock_filter code[400]; int at = 0;
  code[at++] = (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5]));
  for (unsigned rule = 0; rule < 150; rule++) {
    code[at++] = (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xdead0000 + rule, 0, 1);
    code[at++] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1);
  }
  code[at++] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog filter = {at, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) return 1;
  return execvp(words[1], words + 1);
}
"""


def run(words, **more):
    return subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **more)


class Study:
    def __init__(self, howslow, rounds, place):
        self.howslow, self.rounds, self.place = howslow, rounds, pathlib.Path(place)
        self.data = os.environ.get("HOWSLOW_DATA", self.place / "data")

    def bill(self, command, *options, setup=None, out=None):
        """The document of one bill, of work that begins anew."""
        if setup:
            run(["sh", "-c", setup], cwd=self.place)
        out = out or self.place / "bill.json"
        environment = {**os.environ, "HOWSLOW_DATA": str(self.data), "TMPDIR": str(self.place)}
        words = [self.howslow, "bill", *options, "-o", out, "--", *command]
        subprocess.run(words, cwd=self.place, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return json.loads(out.read_text())

    def measure(self, command, setup=None):
        """Measures what is lacking, until nothing more can be."""
        lacking = None
        for _ in range(0 if "--as-is" in sys.argv else 4):
            bill = self.bill(command, "--measure", setup=setup)
            if not bill["lacking"] or bill["lacking"] == lacking:
                break
            lacking = bill["lacking"]

    def bills(self, command, setup=None):
        """So many bills, once all that can be is priced."""
        self.measure(command, setup)
        bills = [self.bill(command, setup=setup) for _ in range(self.rounds)]
        return sorted(bills, key=lambda it: it["explained_share"] or 0)


def closes(bill):
    """What prices explain, what measured calls and faults explain, both of the charge, how far prices are from measurements, and the charge."""
    counting = (bill["seen"].get("counting") or {}).get("together_ns", 0.0)
    charged = bill["charged_ns"] - counting
    priced = sum(row["cpu_ns"] or 0.0 for row in bill["rows"])
    measured = bill["measured"] or {}
    apart = (measured.get("apart_ns", 0.0), measured.get("compared_ns", 0.0))
    return priced, (measured.get("calls") or {}).get("ns", 0.0) + measured.get("priced_ns", 0.0), apart, charged


def over(bills):
    """The three shares of several bills of one program together: samples and ticks of all of them tell more than those of one."""
    figures = [closes(bill) for bill in bills]
    charged = sum(it[3] for it in figures)
    apart, compared = (sum(it[2][part] for it in figures) for part in (0, 1))
    return sum(it[0] for it in figures) / charged, sum(it[1] for it in figures) / charged, apart / compared if compared else None, charged


def asks(study):
    program = study.place / "asks"
    run([os.environ.get("CC", "cc"), "-O2", "-o", program, ASKS])
    print("| program | charged without counting | explained | lowest and highest | rows: price, measured |\n| --- | --- | --- | --- | --- |")
    for name, times in NINE:
        bills = study.bills([program, name, str(times)])
        shares = [over([bill])[0] for bill in bills]
        middle = bills[len(bills) // 2]
        each = lambda ns, row: f"{ns / max(row['count'], 1) / 1e3:.3g}" if ns is not None else "-"
        rows = [f"{row['what']} {each(row['cpu_ns'], row)}, {each((row['measured'] or {}).get('ns'), row)}" for row in middle["rows"][:4]]
        print(f"| {name} {times} | {over([middle])[3] / 1e6:.4g} ms | {100 * statistics.median(shares):.0f} % | {100 * min(shares):.0f} to "
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
    answer = subprocess.run(["bpftrace", "-f", "json", "-c", f"/bin/sh {script}", "-e", PROBES], cwd=study.place, capture_output=True, text=True,
                            env={**os.environ, "BPFTRACE_MAP_KEYS_MAX": "65536"})
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


def compiled(study, name, text):
    program = study.place / name
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-x", "c", "-o", program, "-"], input=text, text=True, check=True)
    return program


def witness(study, names):
    """What calls of a loop take by the loop's own clock, by a bill and by bpftrace. Returns what bpftrace adds to a call, in ns."""
    program = compiled(study, "loops", LOOPS)
    own, billed, theirs = {}, {}, {}
    for _ in range(max(study.rounds, 5)):
        lines = subprocess.run([program], cwd=study.place, capture_output=True, text=True, check=True).stdout.split()
        for call, ns in zip(lines[::2], lines[1::2]):
            own.setdefault(call, []).append(float(ns))
        for row in study.bill([program])["rows"]:
            if row["measured"]:
                billed.setdefault(row["what"], []).append(row["measured"]["ns"] / row["count"])
        for number, (count, ns) in (traced(study, program, None).items() if has_tracer() else ()):
            theirs.setdefault(names.get(number), []).append(ns / count)
    added = statistics.median(theirs["getppid"]) - statistics.median(own["getppid"]) if theirs else 0.0
    print(f"bpftrace adds {added:.0f} ns to a call\n\n| call | by the loop's clock | by the bill | by bpftrace, less that |\n| --- | --- | --- | --- |")
    for call in own:
        cells = [statistics.median(it[call]) for it in (own, billed)] + ([statistics.median(theirs[call]) - added] if theirs else [])
        print(f"| `{call}` | " + " | ".join(f"{ns:.0f} ns" for ns in cells) + " |")
    print(flush=True)
    return added


@functools.cache
def has_tracer():
    """True if bpftrace is here and can attach: it needs the kernel's tracefs."""
    probe = ["bpftrace", "-e", "tracepoint:raw_syscalls:sys_enter { exit(); }"]
    return shutil.which("bpftrace") is not None and subprocess.run(probe, capture_output=True).returncode == 0


def programs(study):
    """Bills and runs under bpftrace by turns, so that both find files and caches in the same states."""
    prepare(study.place)
    names = numbers(study)
    tracer = has_tracer() and "--no-tracer" not in sys.argv
    added = witness(study, names) if tracer else 0.0
    print("| program | seen | kernel time | measured closes | prices close | prices apart | calls beside bpftrace |\n" + "| --- " * 7 + "|", flush=True)
    # A file system may pass over what was removed lately when it makes new files.
    for name in sorted(chosen([*KNOWN, *NEW]), key=lambda name: name == "rm -r"):
        command, setup = {**KNOWN, **NEW}[name], SETUP.get(name)
        study.measure(["sh", "-c", command], setup)
        bills, ours, theirs = [], {}, {}
        for _ in range(study.rounds):
            bills.append(study.bill(["sh", "-c", command], setup=setup))
            for row in bills[-1]["rows"]:
                if row["measured"] and row["family"] == CALLS:
                    ours.setdefault(row["what"], []).append(row["measured"]["ns"])
            for number, (count, ns) in (traced(study, command, setup) if tracer else {}).items():
                theirs.setdefault(names.get(number), []).append(ns - added * count)
        sums = [sum(statistics.median(each[call]) for call in set(ours) & set(theirs)) for each in (ours, theirs)]
        priced, measured, apart, charged = over(bills)
        each = [over([bill])[1] for bill in bills]
        lacking = " (prices lack)" if bills[0]["lacking"] else ""
        beside = f"{100 * sums[0] / sums[1]:.0f} %" if sums[1] else "-"
        print(f"| `{name}` | {'yes' if name in KNOWN else 'no'} | {charged / len(bills) / 1e6:.4g} ms{'' if bills[0]['kernel_alone'] else ' with user'} | "
              f"{100 * measured:.0f} % ({100 * min(each):.0f} to {100 * max(each):.0f}) | {100 * priced:.0f} %{lacking} | {100 * apart:.0f} % | {beside} |", flush=True)


def chosen(names):
    """The programs of --only, else all."""
    return sys.argv[sys.argv.index("--only") + 1].split(",") if "--only" in sys.argv else [*names]


def predict(study):
    """Processor times of programs in other surroundings, predicted by bills taken here and the prices measured there. Bills and runs there are
    taken by turns, as a host's clock wanders."""
    prepare(study.place)
    names = chosen(PREDICTED)
    for name in names:
        study.measure(["sh", "-c", PREDICTED[name]], SETUP.get(name))
    print("| program | where | here | predicted there | interval | measured there | error | without prices |\n" + "| --- " * 8 + "|", flush=True)
    errors, inside, changes = [], [], []
    for where, words in {"beside an agent": [], "behind a seccomp filter": [compiled(study, "filtered", FILTERED)]}.items():
        there = study.place / "there.json"
        environment = {**os.environ, "HOWSLOW_DATA": str(study.place / where.replace(" ", "-")), "TMPDIR": str(study.place)}
        surrounded(study, where, [*words, study.howslow, "prices", "-o", there], env=environment)
        for name in names:
            command, told, real = ["sh", "-c", PREDICTED[name]], [], []
            for _ in range(study.rounds):
                bill = study.place / "here.json"
                study.bill(command, setup=SETUP.get(name), out=bill)
                answer = subprocess.run([study.howslow, "bill", bill, "--on", there, "--json"], env=environment | {"HOWSLOW_DATA": str(study.data)},
                                        capture_output=True, text=True).stdout
                told.append(json.loads(answer))
                real.append(surrounded(study, where, [*words, *command], setup=SETUP.get(name)))
            told, real = sorted(told, key=lambda it: it["there"]["ns"])[len(told) // 2], statistics.median(real)
            low, value, high = told["there"]["low_ns"], told["there"]["ns"], told["there"]["high_ns"]
            errors.append(value / real - 1.0)
            changes.append(told["here_ns"] / real - 1.0)
            inside.append(low <= real and (high is None or real <= high))
            print(f"| `{name}` | {where} | {told['here_ns'] / 1e6:.4g} ms | {value / 1e6:.4g} ms | {low / 1e6:.4g} to "
                  f"{'-' if high is None else f'{high / 1e6:.4g}'} ms | {real / 1e6:.4g} ms | {100 * errors[-1]:+.0f} % | {100 * changes[-1]:+.0f} % |"
                  + (f" lacks {told['lacking']}" if told["lacking"] else ""), flush=True)
    size = [abs(error) for error in errors]
    print(f"\nmedian error {100 * statistics.median(size):.0f} %, worst {100 * max(size):.0f} %, {sum(inside)} of {len(inside)} in their intervals; without "
          f"prices {100 * statistics.median(map(abs, changes)):.0f} and {100 * max(map(abs, changes)):.0f} %")


def surrounded(study, where, words, setup=None, env=None):
    """The processor time of a command in these surroundings, in ns."""
    watches = ["bpftrace", "-e", AGENT] if has_tracer() else [study.howslow, "bill", "--system", "--source", "ebpf", "--no-measure"]
    agent = subprocess.Popen(watches, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) if "agent" in where else None
    try:
        if agent:
            time.sleep(1.5)
        return used(study, words, setup, env)
    finally:
        if agent:
            agent.terminate()
            agent.wait()


def used(study, words, setup, env=None):
    """The processor time of a command and what it started, in ns."""
    if setup:
        run(["sh", "-c", setup], cwd=study.place)
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, cwd=study.place, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e9 * (end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime)


def slow(study):
    dd = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=500000"]
    program = study.place / "asks"
    run([os.environ.get("CC", "cc"), "-O2", "-o", program, ASKS])
    kinds = {"bare": [], "everything": [study.howslow, "bill", "--"],
             "counts only": [study.howslow, "bill", "--counts-only", "--"]}
    environment = {**os.environ, "HOWSLOW_DATA": str(study.data)}
    times, steady = {kind: [] for kind in kinds}, {kind: [] for kind in kinds}
    for _ in range(study.rounds if "--rounds" in sys.argv else 7):
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
    if len(words) < 2 or words[1] not in ("asks", "programs", "predict", "slow"):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(prefix="bills") as place:
        {"asks": asks, "programs": programs, "predict": predict, "slow": slow}[words[1]](Study(os.path.abspath(words[0]), rounds, place))


if __name__ == "__main__":
    main()
