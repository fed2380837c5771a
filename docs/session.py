#!/usr/bin/env python3
"""Draws a terminal session as SVG from the real output of commands.

    pip install rich
    python3 docs/session.py target/release/howslow > docs/session.svg

Runs each command in a terminal of 100 columns and shows what it prints, with its colours. Long pages are cut, which the
picture says.
"""

import os
import subprocess
import sys

from rich.console import Console
from rich.text import Text

# The commands, and how many lines of each are shown.
SESSION = [
    (["run", "syscall.getppid", "pipe.roundtrip", "--budget", "8s"], 24),
    (["list", "context", "switch"], 10),
]
COLUMNS = 100


def main(program: str) -> None:
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w"), force_terminal=True)
    environment = os.environ | {"COLUMNS": str(COLUMNS)}
    for words, lines in SESSION:
        done = subprocess.run([program, *words, "--color", "always"], env=environment, capture_output=True, text=True)
        if done.returncode not in (0, 3):
            sys.exit(f"howslow {' '.join(words)}: {done.stderr}")
        console.print(Text("$ howslow " + " ".join(words), style="bold"))
        page = done.stdout.rstrip("\n").split("\n")
        for line in page[:lines]:
            console.print(Text.from_ansi(line), no_wrap=True, crop=True)
        if len(page) > lines:
            console.print(Text(f"... {len(page) - lines} more lines", style="dim"))
        console.print()
    print(console.export_svg(title="howslow"))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: session.py PROGRAM")
    main(sys.argv[1])
