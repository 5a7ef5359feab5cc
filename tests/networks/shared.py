"""Tests that layers with the same weights share their prepacked form. A sparse initializer is a constant, and one
that callers may override is not."""

import ctypes
import json

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper as h, numpy_helper as n


def write_network():
    draw = lambda *shape: np.random.default_rng(3).standard_normal(shape).astype(np.float32) / 8
    nodes, last = [], "x"
    for i in range(4):
        nodes += [h.make_node("MatMul", [last, "w"], [f"p{i}"]), h.make_node("Mul", [f"p{i}", "f"], [f"m{i}"]),
                  h.make_node("Relu", [f"m{i}"], [f"r{i}"])]
        last = f"r{i}"
    nodes += [h.make_node("MatMul", [last, "s"], ["q"]), h.make_node("Mul", ["q", "d"], ["y"])]
    thin = draw(64, 64) * np.eye(64, dtype=np.float32)
    sparse = h.make_sparse_tensor(n.from_array(np.diag(thin).copy(), "s"), n.from_array(np.arange(64) * 65), [64, 64])
    info = lambda name, *shape: h.make_tensor_value_info(name, 1, shape)
    graph = h.make_graph(nodes, "g", [info("x", 8, 64), info("d", 64)], [info("y", 8, 64)],
                         [n.from_array(draw(64, 64), "w"), n.from_array(draw(64) + 1, "f"), n.from_array(draw(64), "d")],
                         sparse_initializer=[sparse])
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), "shared.onnx")


def run(lehr):
    write_network()
    lehr.tune("--model shared.onnx")
    lehr.export()
    said = lehr("apply shared.onnx --threads 1 --bundle kernels.bundle --no-engine --out layers --json",
                "1 of its initializers are inputs as well")
    document = json.loads(said[said.index("{"):said.rindex("}") + 1])
    options = ort.SessionOptions()
    options.register_custom_ops_library("./layers/liblehr_onnxruntime.so")
    original, applied = ort.InferenceSession("shared.onnx"), [ort.InferenceSession("layers/model.onnx", options) for _ in range(2)]
    assert sum(node.op_type == "Fused" for node in onnx.load("layers/model.onnx").graph.node) == 5
    prepacked = ctypes.CDLL("./layers/liblehr_onnxruntime.so").lehr_onnxruntime_prepacked_bytes
    prepacked.restype = ctypes.c_uint64
    assert prepacked() == document["prepacked_bytes"], prepacked()
    x = np.random.default_rng(4).standard_normal((8, 64)).astype(np.float32)
    for feeds in ({"x": x}, {"x": x, "d": np.full(64, 7, np.float32)}):
        want = original.run(None, feeds)[0]
        assert all(np.abs(want - each.run(None, feeds)[0]).max() < 1e-4 * np.abs(want).max() for each in applied), feeds
    del applied
    assert prepacked() == 0
