#!/usr/bin/env python3
"""Tests networks as users have them, from an ONNX file to a faster one: tune --model, export, apply, verify, and
what ONNX Runtime says of it. Each kind of network is a module beside this one, with a function `run(lehr)`.

    networks.py KIND --packages FOLDER [--lehr PROGRAM] [--helper PROGRAM] [--library FILE] [--plugin FILE]

FOLDER keeps onnx and onnxruntime (PyPI). The others: what a kind needs beside lehr.
"""

import argparse
import contextlib
import glob
import importlib
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)


class Lehr:
    """The program, in a folder of its own, with the last text that it printed."""

    def __init__(self, arguments, folder):
        self.program, self.helper, self.packages = arguments.lehr, arguments.helper, arguments.packages
        self.library, self.plugin = arguments.library, arguments.plugin
        self.folder, self.said = folder, ""
        self.environment = {**os.environ, "CXX": f"{TESTS}/kept_compiler {self.packages}.kept", "PYTHONPATH": self.packages}

    def __call__(self, line, *says, code=0, wrote=None, lines=None, **environment):
        """Runs it and returns what it prints. Fails unless it ends with `code`, and every regular expression in
        `says` is found in what it says (and no expression that begins with "!"). After an error nothing may be at
        `wrote`, where it was to write. `lines`: the number of lines."""
        ended, self.said = self.ended(line, **environment)
        context = f"lehr {line}: exit code {ended}\n{self.said}"
        assert ended == code, context
        for each in says:
            found = re.search(each.removeprefix("!"), self.said, re.MULTILINE) is not None
            assert found != each.startswith("!"), f"'{each}' of {context}"
        assert lines is None or self.said.count("\n") == lines, context
        assert code == 0 or wrote is None or not os.path.exists(wrote), context
        return self.said

    def ended(self, line, **environment):
        """Returns the exit code, and what it prints."""
        done = subprocess.run([self.program, *line.split()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**self.environment, **environment})
        return done.returncode, done.stdout

    def tune(self, line, *says, limit="--trials 2"):
        return self(f"tune --device cpu --no-baseline --threads 1 --db log.db {limit} {line}", *says)

    def export(self, bundle="kernels.bundle", log="log.db"):
        return self(f"export --db {log} --out {bundle}")


def with_kernels(model):
    """Returns the graph that has the kernels: the branch for the stated sizes, where there are branches."""
    for node in model.graph.node:
        if node.name == "lehr.sizes":
            return next(each.g for each in node.attribute if each.name == "then_branch")
    return model.graph


def test_seed(fixed):
    """Returns the seed, as test_seed() of tests/support/seed.h does."""
    wanted = os.environ.get("LEHR_TEST_SEED")
    drawn = fixed if wanted is None else int.from_bytes(os.urandom(3), "little") if wanted == "random" else int(wanted)
    print(f"LEHR_TEST_SEED={drawn}", flush=True)
    return drawn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind")
    parser.add_argument("--packages", required=True)
    parser.add_argument("--lehr", default="lehr")
    parser.add_argument("--helper")
    parser.add_argument("--library")
    parser.add_argument("--plugin")
    arguments, rest = parser.parse_known_args()
    arguments.lehr, arguments.packages = os.path.abspath(arguments.lehr), os.path.abspath(arguments.packages)
    installed = subprocess.run([f"{TESTS}/onnxruntime_packages", arguments.packages], stderr=subprocess.PIPE, text=True)
    if installed.returncode:
        print(f"left out, onnxruntime cannot be had from PyPI here: {installed.stderr}")
        sys.exit(1 if "LEHR_CI" in os.environ else 0)
    sys.path[:0] = [arguments.packages, os.path.join(os.path.dirname(TESTS), "bench", "models")]
    sys.modules["networks"] = sys.modules["__main__"]
    kind = importlib.import_module(arguments.kind)
    for each in glob.glob(arguments.packages + ".kept/*"):
        with contextlib.suppress(FileNotFoundError):  # another kind has removed it
            if time.time() - os.path.getmtime(each) > 24 * 3600:
                os.remove(each)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        kind.run(Lehr(arguments, folder), *rest)


if __name__ == "__main__":
    main()
