"""Benchmarks in Python for howslow; the protocol is in docs/BENCH.md.

    import howslow_bench

    @howslow_bench.bench(args=[10, 1000])
    def total(count):
        return sum(range(count))

    @howslow_bench.bench
    def sort():
        numbers = list(range(1000, 0, -1))   # set-up
        yield lambda: sorted(numbers)        # what is timed
        numbers.clear()                      # tear-down

    if __name__ == "__main__":
        howslow_bench.main()

With howslow on PATH, `python FILE` is measured by howslow; `python FILE --against OLD_FILE` compares. Otherwise plain times are
printed, and `python FILE -o FILE.json` writes them as pyperf does.
"""

import argparse
import functools
import inspect
import itertools
import json
import os
import sys
import time

__all__ = ["bench", "main"]
__version__ = "0.1.0"

_ALL = {}
# The options of a program of its own, with the number of their words.
_OWN = {"-o": 2, "--output": 2, "--list": 1, "-h": 1, "--help": 1}


def bench(function=None, *, args=None, name=None):
    """Registers a function, once for each of its arguments. A generator is set-up, the function to time, and tear-down."""
    if function is None:
        return lambda function: bench(function, args=args, name=name)
    label = name or function.__name__
    generator = inspect.isgeneratorfunction(function)
    if args is None:
        _ALL[_free(label)] = _Case(function, generator)
    for argument in args or ():
        _ALL[_free(f"{label}/{argument}")] = _Case(functools.partial(function, argument), generator)
    return function


def _free(label):
    """A name for it that no other has, as howslow shows names: in one line that is not long."""
    name = free = "".join(letter if letter.isprintable() else "?" for letter in label[:200])
    numbers = itertools.count(2)
    while free in _ALL:
        free = f"{name}#{next(numbers)}"
    return free


def _run(work, times):
    """Runs it; returns elapsed time and processor time in ns."""
    processor = time.process_time_ns()
    start = time.perf_counter_ns()
    for _ in itertools.repeat(None, times):
        work()
    elapsed = time.perf_counter_ns() - start
    return elapsed, time.process_time_ns() - processor


class _Case:
    """What is timed, between its set-up and its tear-down."""

    def __init__(self, function, generator=False):
        self.function, self.generator = function, generator

    def __enter__(self):
        if not self.generator:
            return self.function
        self.steps = self.function()
        return next(self.steps)

    def __exit__(self, *_):
        if self.generator:
            next(self.steps, None)


_EMPTY = _Case(lambda: None)


def _serve(descriptors):
    requests, answers = (int(number) for number in descriptors.split(","))
    requests, answers = os.fdopen(requests, "r"), os.fdopen(answers, "w")

    def say(line):
        answers.write(line.replace("\n", " ") + "\n")
        answers.flush()

    say(f"howslow-bench 1 python {__version__}")
    for line in requests:
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == "list":
            for name in _ALL:
                say(f"bench {name}")
            say("end")
        elif word == "prepare":
            case = _EMPTY if rest == "-" else _ALL.get(rest)
            if case is None:
                say("failed there is no such benchmark")
                continue
            try:
                with case as work:
                    say("ready")
                    _batches(work, requests, say)
                say("dropped")
            except Exception as error:
                say(f"failed {type(error).__name__}: {error}")
        elif word == "quit":
            return
        else:
            say("failed no such request")


def _batches(work, requests, say):
    for line in requests:
        word, _, times = line.rstrip("\n").partition(" ")
        if word == "run":
            elapsed, processor = _run(work, int(times))
            say(f"ran {elapsed} cpu={processor}")
        elif word == "count":
            say("counted")
        elif word == "drop":
            return
        else:
            say("failed no such request")


def _plain(case, seconds=0.5, least=1_000_000):
    """Iterations of a batch, and the seconds per iteration of each batch."""
    with case as work:
        times, values = 1, []
        while _run(work, times)[0] < least:
            times *= 2
        end = time.monotonic() + seconds
        while not values or time.monotonic() < end:
            values.append(_run(work, times)[0] / times / 1e9)
    return times, values


def _written(path, results):
    """Writes results in the form of pyperf, so that its compare_to reads them."""
    date = time.strftime("%Y-%m-%d %H:%M:%S")
    benchmarks = [
        {
            "metadata": {"name": name, "loops": times, "unit": "second"},
            "runs": [{"metadata": {"date": date}, "values": values, "warmups": [[times, values[0]]]}],
        }
        for name, (times, values) in results.items()
    ]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"version": "1.0", "benchmarks": benchmarks, "metadata": {"unit": "second"}}, file)
        file.write("\n")


def _hand_over(program, words):
    """Starts howslow in place of this program. Returns if there is none."""
    if not program:
        return
    os.environ["HOWSLOW_PYTHON"] = sys.executable
    try:
        os.execvp(program, [program, "time", "--bench", os.path.abspath(sys.argv[0]), *words])
    except OSError:
        return


def main():
    """Runs the benchmarks of this program: hands over to howslow, or prints plain times."""
    descriptors = os.environ.get("HOWSLOW_BENCH")
    if descriptors:
        _serve(descriptors)
        return
    parser = argparse.ArgumentParser(allow_abbrev=False, epilog="From any other option on, all is for howslow time --bench.")
    parser.add_argument("filter", nargs="*", help="only benchmarks whose name contains it")
    parser.add_argument("-o", "--output", help="write plain times in the form of pyperf")
    parser.add_argument("--list", action="store_true", help="list the benchmarks")
    words, place = sys.argv[1:], 0
    while place < len(words) and (words[place].partition("=")[0] in _OWN or not words[place].startswith("-")):
        place += _OWN.get(words[place], 1)
    given, rest = parser.parse_intermixed_args(words[:place]), words[place:]
    if given.output and rest:
        sys.exit(f"-o writes plain times, and {rest[0]} is an option of howslow; -o behind it is howslow's")
    names = [name for name in _ALL if not given.filter or any(text in name for text in given.filter)]
    if given.list:
        print("\n".join(names))
        return
    if not given.output:
        filters = [word for text in given.filter for word in ("--filter", text)]
        _hand_over(os.environ.get("HOWSLOW", "howslow"), filters + rest)
    if rest:
        sys.exit(f"{rest[0]} is an option of howslow, which is not on PATH; install it or set HOWSLOW")
    results = {name: _plain(_ALL[name]) for name in names}
    for name, (_, values) in results.items():
        values = sorted(values)
        print(f"{name}: {values[len(values) // 2] * 1e9:.1f} ns (least {values[0] * 1e9:.1f} ns)")
    if given.output:
        _written(given.output, results)
    else:
        print("Plain times; with howslow on PATH they have intervals, and two files can be compared.")
