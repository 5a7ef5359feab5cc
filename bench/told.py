#!/usr/bin/env python3
"""Tests whether a tuning reports the fastest kernel that it measured.

  bench/told.py BUILD OUT [SECONDS] [SEED] [COUNT]

Tunes COUNT random ordinary workloads of SEED for SECONDS each, the first on one thread, the second on two, and so
on. Then `lehr bench` times each verdict's config beside the three fastest trials of its log, 3 s, twice. Prints how
far each verdict is behind the fastest of them in both runs. A difference that only one run shows is the machine's.
Resumable: a document that OUT has is not made again.
"""
import json
import os
import sqlite3
import subprocess
import sys

CONV_TYPES = ("x", "f", "y")  # given by --dtype, whose default they are


def run(command, path):
    """Returns the document that `command` prints, kept in `path`."""
    if not os.path.exists(path):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode not in (0, 4):
            sys.exit(f"{' '.join(command)}\nexit {done.returncode}: {done.stderr[-500:]}")
        with open(path + ".part", "w") as file:
            file.write(done.stdout)
        os.rename(path + ".part", path)
    with open(path) as file:
        document = json.load(file)
    return document


def flags_of(workload):
    """Returns the flags of `lehr bench` for a canonical text."""
    operator, *fields = workload.split()
    flags = [operator]
    for field in fields:
        key, value = field.split("=", 1)
        if operator == "gemm" or key not in CONV_TYPES:
            flags += ["--" + key, value]
    return flags


def fastest_of(log):
    query = "SELECT config, min(time_us) AS us FROM trial WHERE time_us IS NOT NULL GROUP BY config ORDER BY us LIMIT 3"
    with sqlite3.connect(log) as connection:
        return [config for config, _ in connection.execute(query)]


def main():
    build, out = sys.argv[1:3]
    seconds, seed, count = (sys.argv[3:] + ["6", "2027", "60"][len(sys.argv) - 3 :])[:3]
    lehr = os.path.join(build, "cli", "lehr")
    os.makedirs(out, exist_ok=True)
    draw = [os.path.join(build, "bench", "ordinary_workloads"), "cpu", seed, count, "2", "f32"]
    workloads = subprocess.run(draw, capture_output=True, text=True, check=True).stdout.splitlines()
    behind, provisional, uncontested = [], 0, 0
    print("| workload | threads | told us | behind | |\n|---|---|---|---|---|")
    for number, workload in enumerate(workloads):
        base = os.path.join(out, f"{number:03d}")
        device = ["--device", "cpu"] + (["--threads", "1"] if number % 2 == 0 else [])
        asked = base + ".txt"
        with open(asked, "w") as file:
            file.write(workload + "\n")
        tune = [lehr, "tune", "--problems", asked, *device, "--time", seconds + "s", "--patience", "2000", "--seed", "1"]
        tune += ["--fresh", "--transfer", "off", "--db", base + ".db", "--json", "--quiet"]
        told = run(tune, base + ".json")
        told = told[0] if isinstance(told, list) else told
        winner = told["best"]["config"]
        configs = [winner] + [config for config in fastest_of(base + ".db") if config != winner]
        bench = [lehr, "bench", *flags_of(workload), *device, "--time", "3s", "--json", "--no-baseline"]
        bench += [word for config in configs for word in ("--config", config)]
        losses = []
        for attempt in range(2):
            entries = run(bench, f"{base}.bench{attempt}.json")
            entries = entries if isinstance(entries, list) else entries["entries"]
            losses.append(entries[0]["time_us"] / min(each["time_us"] for each in entries if each["time_us"]) - 1)
        behind.append(min(losses))
        provisional += told["provisional"]
        uncontested += not told["contested"]
        notes = ["not proven"] * told["provisional"] + ["no contest"] * (not told["contested"])
        threads = 1 if number % 2 == 0 else "all"
        print(f"| {workload} | {threads} | {told['best']['time_us']:.2f} | {100 * losses[0]:.1f} %, {100 * losses[1]:.1f} % | {', '.join(notes)} |", flush=True)
    print(f"\n{len(behind)} verdicts of {seconds} s, seed {seed}: {sum(loss > 0.1 for loss in behind)} more than 10 % behind the fastest of "
          f"their log's best three, {sum(loss > 0.25 for loss in behind)} more than 25 %; {provisional} not proven, {uncontested} without a contest.")


if __name__ == "__main__":
    main()
