"""Measures whether a tuning ends in the time that it was given. Tunes three CPU workloads and a network, each from
an empty log, and writes a table: the given time, the whole command's, trials, and where the time went.

    python3 bench/time_limit.py --lehr build/package/cli/lehr --seconds 3 10 [--model FILE.onnx] [-- FLAG ...]
"""

import argparse
import json
import os
import subprocess
import tempfile
import time

WORKLOADS = {
    "64 x 1000 x 512": "gemm --m 64 --n 1000 --k 512",
    "512 cubed": "gemm --m 512 --n 512 --k 512",
    "ResNet-18 C1": "conv2d --h 224 --w 224 --c 3 --k 64 --r 7 --stride 2 --pad 3",
}
PARTS = ("setup", "hints", "proposals", "compile", "trials", "finals")


def run(lehr, flags, seconds):
    """Returns wall seconds of the command, and its document."""
    with tempfile.TemporaryDirectory() as folder:
        command = [lehr, "tune", *flags, "--device", "cpu", "--time", f"{seconds}s", "--quiet", "--json",
                   "--db", os.path.join(folder, "log.db")]
        begin = time.monotonic()
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return time.monotonic() - begin, json.loads(out)


def row(name, seconds, took, documents):
    parts = [sum(d["elapsed_s"].get("phases", {}).get(part, 0) for d in documents) for part in PARTS]
    contested = sum(d["contested"] for d in documents)
    cells = [name, f"{seconds:g}", f"{took:.2f}", f"{took - seconds:+.2f} ({100 * (took / seconds - 1):+.0f} %)",
             sum(d["trials"]["measured"] for d in documents),
             f"{contested} of {len(documents)}" if len(documents) > 1 else "yes" if contested else "no",
             *(f"{part:.1f}" for part in parts)]
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lehr", required=True)
    parser.add_argument("--seconds", type=float, nargs="+", default=[10])
    parser.add_argument("--model", default="tests/fuzz/seeds/onnx/network.onnx")
    parser.add_argument("flags", nargs="*", help="for each tuning")
    options = parser.parse_args()
    head = ["workload", "asked, s", "took, s", "beyond", "trials", "contested", *PARTS]
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for seconds in options.seconds:
        for name, flags in WORKLOADS.items():
            took, document = run(options.lehr, [*flags.split(), *options.flags], seconds)
            row(name, seconds, took, [document])
        took, document = run(options.lehr, ["--model", options.model, *options.flags], seconds)
        row(os.path.basename(options.model), seconds, took, [t["summary"] for t in document["tasks"] if t["summary"]])


if __name__ == "__main__":
    main()
