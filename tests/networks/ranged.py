"""Tests a range of batches: products of which only the rows vary have kernels for all of them, the engine computes
all else that varies, and the original computes every other batch."""

import ctypes
import json

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper as h, numpy_helper as n

SIZES = "encoder.onnx --dim batch=2..5"


def write_network():
    """Writes a layer of a transformer: its attention has products of the inputs alone, which batches multiply."""
    rng = np.random.default_rng(5)
    draw = lambda name, *shape: n.from_array((rng.standard_normal(shape) / np.sqrt(shape[0])).astype("f4"), name)
    weights = [draw("q", 32, 32), draw("k", 32, 32), draw("v", 32, 32), draw("up", 32, 64), draw("b", 64), draw("down", 64, 32)]
    nodes = [h.make_node("MatMul", ["x", each], ["x" + each]) for each in "qkv"]
    nodes += [h.make_node("Transpose", ["xk"], ["t"], perm=[0, 2, 1]), h.make_node("MatMul", ["xq", "t"], ["s"]),
              h.make_node("Softmax", ["s"], ["p"], axis=-1), h.make_node("MatMul", ["p", "xv"], ["a"]), h.make_node("Add", ["a", "x"], ["r"]),
              h.make_node("MatMul", ["r", "up"], ["u"]), h.make_node("Add", ["u", "b"], ["ub"]), h.make_node("Relu", ["ub"], ["f"]),
              h.make_node("MatMul", ["f", "down"], ["d"]), h.make_node("Add", ["d", "r"], ["y"])]
    info = lambda name: h.make_tensor_value_info(name, 1, ["batch", 6, 32])
    graph = h.make_graph(nodes, "g", [info("x")], [info("y")], weights)
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), "encoder.onnx")


def write_remainder():
    """Writes a product with as many rows as the batch leaves when it is divided by 9: fewer in the middle of a range
    than at its ends, at times 0."""
    whole = lambda name, value: n.from_array(np.asarray([value]), name)
    nodes = [h.make_node("Shape", ["x"], ["sizes"]), h.make_node("Gather", ["sizes", "zero"], ["batch"]), h.make_node("Div", ["batch", "nine"], ["nines"]),
             h.make_node("Mul", ["nines", "nine"], ["most"]), h.make_node("Sub", ["batch", "most"], ["rest"]), h.make_node("Slice", ["x", "zero", "rest"], ["z"]),
             h.make_node("MatMul", ["z", "w"], ["y"])]
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info("x", 1, ["batch", 16])], [h.make_tensor_value_info("y", 1, [None, 8])],
                         [whole("zero", 0), whole("nine", 9), n.from_array(np.ones((16, 8), "f4"), "w")])
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), "remainder.onnx")


def run(lehr):
    write_network()
    write_remainder()
    lehr("model remainder.onnx --dim batch=1..8 --device cpu", "gemm m=1..8 n=8 k=16")
    lehr("model remainder.onnx --dim batch=1..20 --device cpu", "1 x MatMul: .*more of it varies than its rows")
    lehr("model encoder.onnx --dim batch=2..5 --device cpu", "gemm m=12..30 n=64 k=32 .*epilogue=bias", "2 x MatMul: .*more of it varies than its rows")
    lehr("model encoder.onnx --dim batch=5..2", "the range ends before it begins", code=1, lines=1)
    lehr.tune("--model " + SIZES, "^0 of 3 workloads known from the log")
    said = lehr.tune("--model " + SIZES + " --fresh --json")
    tasks = json.loads(said[said.index("{"):said.rindex("}") + 1])["tasks"]
    assert [(each["summary"], each["range"]["workload"]) for each in tasks] == [(None, each["workload"]) for each in tasks], tasks
    lehr.tune("--model " + SIZES, "^3 of 3 workloads known from the log")
    lehr.export()
    lehr(f"apply {SIZES} --bundle kernels.bundle --no-engine --out all", "^5 of 7 convolutions and products by kernels")
    computed()
    for size in (2, 3, 5, 9):
        lehr(f"verify encoder.onnx --dim batch={size} --out all")
    lehr(f"apply {SIZES} --bundle kernels.bundle --out faster --time 1s", "outputs within")
    lehr("verify encoder.onnx --dim batch=2..5 --out all")


def computed():
    """Checks that kernels compute batches within the range, and the engine those beyond it."""
    options = ort.SessionOptions()
    options.register_custom_ops_library("./all/liblehr_onnxruntime.so")
    original, applied = ort.InferenceSession("encoder.onnx"), ort.InferenceSession("all/model.onnx", options)
    kernel_calls = ctypes.CDLL("./all/liblehr_onnxruntime.so").lehr_onnxruntime_kernel_calls
    kernel_calls.restype = ctypes.c_uint64
    for batch in (1, 2, 3, 4, 5, 6, 40):
        before, x = kernel_calls(), np.random.default_rng(batch).standard_normal((batch, 6, 32)).astype("f4")
        want, got = original.run(None, {"x": x})[0], applied.run(None, {"x": x})[0]
        assert np.abs(want - got).max() <= 1e-4 * np.abs(want).max(), batch
        assert kernel_calls() - before == (5 if 2 <= batch <= 5 else 0), batch
