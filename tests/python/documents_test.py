"""Runs the lines of README.md, docs/ and other pages that users copy: `lehr ...` in a shell, and Python.

    documents_test.py PROGRAM

Sizes become 64, times a trial or two seconds, and every network a convolution and a product. Not run are
other lines of the shell (they build, install, benchmark for minutes, or unpack what scripts/package makes)
and those of NOT_RUN; DocumentsOfCommands (tests/cli) holds all `lehr` lines to the flags that there are.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy
import onnx
import onnxruntime
from onnx import helper, numpy_helper

PROGRAM = Path(sys.argv.pop(1)).absolute()
os.environ["LEHR_PROGRAM"] = str(PROGRAM)
os.environ["PATH"] = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
os.environ.pop("LEHR_DB", None)
ROOT = Path(__file__).absolute().parents[2]
sys.path.insert(0, str(ROOT / "python"))
import lehr  # noqa: E402

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "python/README.md"]
PAGES.append(ROOT / "examples/model/README.md")

RUN = ("lehr ", "python3 examples/")

# Texts of lines that are not run here, and why.
NOT_RUN = {
    "'...'": "a part is left out",
    "--as model": "needs 20 trials",
    "--a e4m3": "needs a GPU",
    "--suite autotvm": "takes minutes",
    "lehr compile": "needs NVRTC",
    "yolov8n.onnx": "a large download",
    "--precision bf16": "tests/networks/narrow.py runs it",
}
if "avx2" not in Path("/proc/cpuinfo").read_text():
    NOT_RUN["--isa x86-64-v3"] = "this processor does not run it"


def blocks(page):
    """Returns the indented blocks of a page: lists of lines."""
    found, before = [], ""
    for line in page.read_text().splitlines():
        if line.startswith("    "):
            if not before.startswith("    "):
                found.append([])
            found[-1].append(line[4:])
        before = line
    return found


def is_python(block):
    text = "\n".join(block)
    try:
        return bool(ast.parse(text).body) and re.search(r"^(import|lehr|options|\w+ =)\b", text) is not None
    except SyntaxError:
        return False


def smaller(text):
    """Replaces sizes: those of three and more digits become 64, ranges of rows 1..4; fractions stay."""
    return re.sub(r"(?<![\d.])\d{3,}(?![\dA-Za-z])", "64", re.sub(r"(?<=\.\.)\d{3,}\b", "4", text))


def quick(line):
    """Returns a line of the shell that takes a second. Most tunings have a log of their own, which nobody
    exports."""
    command = line.partition(" #")[0].rstrip()
    if "gemm" in command:
        command = smaller(command)
    command = re.sub(r"--samples \d+", "--samples 1", re.sub(r" --time \S+", "", command))
    word = command.split()[1]
    if word == "tune" and ".." in command and "--m .." not in command:
        command += " --trials 8 --no-baseline"  # enough for a time at each size
    elif word == "tune" and "--model" not in command and "--trials" not in command:
        # The winner of a shorter tuning may not be proven.
        command += " --trials 1" if "--deterministic-check" in command else " --time 100ms"
        command += " --no-baseline" + (" --db tuned.db" if "--isa" not in command else "")
    if word == "tune" and "--isa" not in command and "--device" not in command:
        command += " --device cpu"
    if word in ("tune", "optimize", "apply") and "--threads" not in command:
        command += " --threads 1"
    if word in ("optimize", "apply") or "--model" in command:
        command += " --time 2s"
    if word == "verify":
        command += " --time 1s"
    if command.startswith("lehr bench gemm"):
        command += " --no-baseline --time 500ms"
    if word == "replay":
        command += " --trials 16 --seeds 1"
    return command


def key_of(command):
    """Returns a key that is the same for any order of flags."""
    return tuple(sorted(re.split(r" (?=--)", command)))


def quick_python(text):
    lines = []
    for line in text.splitlines():
        if "lehr.tune(" in line:
            trials = 8 if ".." in line else 1
            line = re.sub(r"time=\d+", f"trials={trials}, no_baseline=True, threads=1", line)
        if "lehr.optimize(" in line:
            line = re.sub(r", (time|threads)=\d+", "", line).replace(
                "lehr.optimize(", "lehr.optimize(time=2, threads=1, model="
            )
        line = re.sub(r'"(faster|OUT)/(liblehr|model)', r'"written/\2', line)
        lines.append(smaller(line).replace("threads=2", "threads=1"))
    return "\n".join(lines)


def network(batch):
    """Returns a model of a convolution and a product."""
    filters, weights = numpy.ones((8, 3, 3, 3), "f4"), numpy.ones((8, 10), "f4")
    nodes = [
        helper.make_node("Conv", ["x", "filters"], ["sums"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["sums"], ["positive"]),
        helper.make_node("GlobalAveragePool", ["positive"], ["means"]),
        helper.make_node("Flatten", ["means"], ["features"]),
        helper.make_node("Gemm", ["features", "weights"], ["classes"]),
    ]
    values = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name, shape in (("x", [batch, 3, 16, 16]), ("classes", [batch, 10]))
    ]
    constants = [numpy_helper.from_array(filters, "filters"), numpy_helper.from_array(weights, "weights")]
    graph = helper.make_graph(nodes, "network", values[:1], values[1:], constants)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


class Documents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        os.chdir(folder)
        cls.addClassCleanup(os.chdir, ROOT)
        shutil.copytree(ROOT / "examples/model", "examples/model")
        for name in ("resnet18.onnx", "resnet50.onnx", "examples/model/tiny.onnx"):
            onnx.save(network("batch"), name)
        onnx.save(network(1), "encoder.onnx")
        cls.image = numpy.ones((1, 3, 16, 16), "f4")
        numpy.savez("inputs.npz", x=cls.image)
        for folder in ("product", "third_party"):
            os.mkdir(folder)
        Path("FILE").write_text("gemm m=16 n=32 k=8\n")
        shutil.copy(ROOT / "tests/data/kernel_tuner_pnpoly_RTX_3060_laptop.json.gz", "table.json.gz")
        # So that no line depends on how much fits into its seconds, and on what stands behind it.
        ready = [
            "lehr tune --model resnet18.onnx --dim batch=1 --threads 1 --trials 1 --no-baseline --device cpu",
            "lehr tune gemm --m 16,64 --n 64 --k 64 --threads 1 --trials 1 --no-baseline --device cpu",
            quick("lehr tune gemm --m 1..2048 --n 1024 --k 1024 --b f32:row:constant --kernels 6 --time 10m"),
            "lehr export --out kernels.bundle",
            "lehr export --out library",
            "lehr optimize resnet18.onnx --dim batch=1 --threads 1 --time 2s",
            # With the plug-in, whatever pays on this machine: programs of the pages load this one.
            "lehr apply resnet18.onnx --dim batch=1 --threads 1 --bundle kernels.bundle --out written --no-engine",
        ]
        for line in ready:
            cls.run_line(line)
        cls.done = {key_of(line) for line in ready}
        for log in ("theirs.db", "node1.db", "node2.db", "torn.db"):
            shutil.copy("lehr.db", log)
        shutil.copytree("library", "product/kernels")
        shutil.copytree("faster", "OUT")

    @staticmethod
    def run_line(line):
        if re.match("lehr (export|apply|optimize) ", line) and "--replace" not in line:
            line += " --replace"  # several pages write to the same folder
        ran = subprocess.run(["bash", "-ec", line], capture_output=True, text=True, errors="replace")
        if ran.returncode != 0:
            raise AssertionError(
                f"{line}\nends with {ran.returncode}: {ran.stdout[-2000:]}{ran.stderr[-2000:]}"
            )

    def test_lines_of_the_shell(self):
        done, left_out = self.done, set()
        for page in PAGES:
            for line in (line for block in blocks(page) for line in block if line.startswith(RUN)):
                reasons = [each for each in NOT_RUN if each in line]
                left_out.update(reasons)
                command = quick(line)
                if reasons or key_of(command) in done:
                    continue
                done.add(key_of(command))
                with self.subTest(page.name, line=line, command=command):
                    self.run_line(command)
        self.assertGreater(len(done), 35)
        self.assertEqual(left_out, NOT_RUN.keys())

    def test_python(self):
        ran = 0
        documents = {}

        def run_once(command, *, text="", **options):
            if command[0] in ("export", "optimize") and "--replace" not in command:
                command = [*command, "--replace"]
            key = (*command, text)
            if key not in documents:
                documents[key] = run(command, text=text, **options)
            return documents[key]

        run = lehr.run
        self.enterContext(mock.patch.object(lehr, "run", run_once))
        # A library that pages import without a word on where it comes from.
        lehr.tune("gemm m=64 n=64 k=64 b=f32:row:constant", time=1, threads=1, device="cpu", db="imported.db")
        lehr.export(db="imported.db", out="imported")
        sys.path.insert(0, os.path.abspath("imported"))
        for page in PAGES:
            square = numpy.ones((64, 64), "f4")
            names = {
                "lehr": lehr,
                "onnxruntime": onnxruntime,
                "options": onnxruntime.SessionOptions(),
                "image": self.image,
                "a": square,
                "b": square,
            }
            found = ["\n".join(block) for block in blocks(page) if is_python(block)]
            found += re.findall(r"`(lehr\.[a-z]+\(.*?\))`", page.read_text())
            for text in found:
                ran += 1
                with self.subTest(page.name, text=text):
                    exec(compile(quick_python(text), page.name, "exec"), names)
        self.assertGreater(ran, 6)


if __name__ == "__main__":
    unittest.main()
