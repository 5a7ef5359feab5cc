"""Tests a small network in f32: every match has a kernel, a planted fault is found, a second network is from the
log, and broken files are refused."""

import os
import shutil

import make_models
import onnx
from networks import with_kernels
from onnx import numpy_helper

NETWORK = "tiny.onnx --dim batch=1"
# A compiler that makes a plug-in with nothing in it.
EMPTY = """#!/bin/sh
previous=
for word; do
  [ "$previous" = -o ] && out=$word
  previous=$word
done
case " $* " in *" -shared "*) exec c++ -shared -o "$out" -x c++ /dev/null ;; esac
exec c++ "$@"
"""


def two_filters_change_places(graph):
    weights = next(each for each in graph.initializer if len(each.dims) == 4 and each.dims[0] >= 16)
    values = numpy_helper.to_array(weights).copy()
    values[[0, 1]] = values[[1, 0]]
    weights.CopyFrom(numpy_helper.from_array(values, weights.name))


def ten_classes_become_seven(model):
    for each in model.graph.initializer:
        if each.dims and each.dims[0] == 10:
            each.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(each)[:7], each.name))


def edited(edit, source, target):
    model = onnx.load(source)
    edit(model)
    onnx.save(model, target)


def run(lehr):
    inputs, build = make_models.MODELS["tiny"]
    graph = make_models.Graph(1)
    graph.save("tiny.onnx", inputs, build(graph))
    lehr.tune("--model " + NETWORK, "^0 of 10 workloads known from the log, 0 near, 10 new")
    lehr.export()
    applied(lehr)
    checked(lehr)
    edited(ten_classes_become_seven, "tiny.onnx", "other.onnx")
    lehr.tune("--model other.onnx --dim batch=1", "^9 of 10 workloads known from the log, 1 near, 0 new", limit="--trials 1")
    threads(lehr)
    refused(lehr)


def applied(lehr):
    apply = f"apply {NETWORK} --threads 1 --bundle kernels.bundle --out "
    lehr(apply + "faster --time 1s", "^[0-9]+ of 10 convolutions and products by kernels", "outputs within")
    if "are for batch=1" in lehr.said:
        assert "at batch=2, by the original's nodes: original " in lehr.said and "session: made in " in lehr.said, lehr.said
    lehr(apply + "all --no-engine", "^10 of 10 convolutions and products by kernels(, [0-9]+ with channels last)?, 100.0 %")
    model = onnx.load("all/model.onnx")
    assert [node.op_type for node in model.graph.node] == ["Shape", "Gather", "Equal", "If"]
    nodes = [node.op_type for node in with_kernels(model).node]
    assert nodes.count("Fused") == 10 and not {"Conv", "Gemm", "MatMul", "Relu", "Add"} & set(nodes), nodes
    lehr(apply + "unasked", "not verified: no ONNX Runtime is here", LEHR_ONNXRUNTIME=shutil.which("true"))
    with open("cxx", "w") as file:
        file.write(EMPTY)
    os.chmod("cxx", 0o755)
    lehr(apply + "refused", "nothing is written", code=4, wrote="refused", CXX=os.path.abspath("cxx"))


def checked(lehr):
    for seed in (1, 2):
        lehr(f"verify {NETWORK} --threads {seed} --seed {seed} --out all")
    lehr("verify tiny.onnx --dim batch=3 --out all", "^the original's nodes compute these sizes: the kernels are for batch=1$")
    for wrong, edit in (("wrong", lambda model: two_filters_change_places(with_kernels(model))),
                        ("wrong_else", lambda model: two_filters_change_places(model.graph.node[-1].attribute[1].g))):
        shutil.copytree("all", wrong)
        edited(edit, "all/model.onnx", wrong + "/model.onnx")
        for batch in (1, 3):
            lehr(f"verify tiny.onnx --dim batch={batch} --out {wrong}", code=4 if (batch == 1) == (wrong == "wrong") else 0)


def threads(lehr):
    """Tests that kernels for another number of threads do not serve this one. Their own number need not be said: to
    apply, nor to verify."""
    apply = f"apply {NETWORK} --bundle kernels.bundle --out same "
    lehr(apply + "--threads 7", "kernels.bundle has no kernel for 7 threads, but for 1: ", code=1, wrote="same")
    lehr(apply + "--no-engine", "^for 1 thread, as the bundle's kernels are", "^10 of 10 ")
    lehr(f"verify {NETWORK} --out same", "^ONNX Runtime .*, 1 thread: ")


def refused(lehr):
    with open("tiny.onnx", "rb") as whole, open("cut.onnx", "wb") as cut:
        cut.write(whole.read(5000))
    os.mkdir("foreign")
    open("foreign/file", "w").close()
    bundle = "--threads 1 --bundle kernels.bundle"
    for line in ("apply cut.onnx --bundle kernels.bundle --out new", f"apply {NETWORK} --bundle nowhere --out new",
                 f"apply {NETWORK} --no-engine {bundle} --out foreign", "verify tiny.onnx --out foreign",
                 "tune --model cut.onnx", "tune --model tiny.onnx --dim size=4",
                 "apply tiny.onnx --bundle kernels.bundle --out new --seed x", "verify tiny.onnx --out all --tolerance 2"):
        lehr(line, code=1, wrote="new", lines=1)
        assert os.listdir("foreign") == ["file"], line
    for line in (f"apply {{}} {bundle} --out new", "tune --model {}", "model {}", "optimize {} --out new", "verify {} --out all"):
        lehr(line.format("all/model.onnx --dim batch=1"), "all/model.onnx is a network that `lehr apply` has written", code=1, wrote="new", lines=1)
