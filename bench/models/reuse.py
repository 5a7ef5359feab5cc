"""Measures the worth of the log of other networks: tunes a network twice for the same time, from an empty log and
from a copy of a given one, and prints when each has reached a share of the speed with which the empty log's run
ends.

    python3 reuse.py --lehr build/ci/cli/lehr --model resnet50.onnx --log log.db --seconds 240 --threads 1 --out DIR
"""

import argparse
import os
import re
import shutil
import subprocess

LINE = re.compile(r"all (\d+) of (\d+) workloads: ([\d.]+) (us|ms|s) .* (\d+) trials, .*?, ((?:\d+ h )?(?:\d+ m )?\d+ s), ETA")
UNITS = {"us": 1, "ms": 1e3, "s": 1e6}


def seconds_of(text):
    return sum(int(number) * {"h": 3600, "m": 60, "s": 1}[unit] for number, unit in re.findall(r"(\d+) ([hms])", text))


def run(options, name, log):
    """Returns (seconds, trials, microseconds) each time that all workloads have a time, and the line on what was
    known."""
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(log + suffix) and name == "empty":
            os.remove(log + suffix)
    command = [options.lehr, "tune", "--model", options.model, "--dim", "batch=1", "--device", "cpu", "--threads",
               str(options.threads), "--time", f"{options.seconds}s", "--no-baseline", "--db", log]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    with open(os.path.join(options.out, f"{name}.txt"), "w") as file:
        file.write(said)
    points = [(seconds_of(match[6]), int(match[5]), float(match[3]) * UNITS[match[4]])
              for match in LINE.finditer(said) if match[1] == match[2]]
    return points, said.splitlines()[0]


def reached(points, level):
    for seconds, trials, us in points:
        if us <= level:
            return f"{seconds} s, {trials} trials"
    return "not reached"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("lehr", "model", "log", "out"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--seconds", type=int, default=240)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    copy = os.path.join(options.out, "with.db")
    shutil.copy(options.log, copy)
    with_log, known = run(options, "with", copy)
    empty, nothing = run(options, "empty", os.path.join(options.out, "empty.db"))
    end = min(us for _, _, us in empty)
    print(f"{os.path.basename(options.model)}, {options.threads} thread(s), {options.seconds} s each; with the log: {known}\n")
    print("| sum of all workloads' times | from an empty log | with the log |\n|---|---|---|")
    for share in (1.1, 1.05, 1.02, 1.0):
        print(f"| {end * share / 1000:.2f} ms ({share:.2f} of the empty log's end) | {reached(empty, end * share)} | {reached(with_log, end * share)} |")
    last = min(us for _, _, us in with_log)
    print(f"| at the end | {end / 1000:.2f} ms | {last / 1000:.2f} ms |")


main()
