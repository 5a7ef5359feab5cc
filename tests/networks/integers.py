"""Tests quantized networks, in both forms and of both types that onnxruntime.quantization writes. With a kernel for
every match the outputs are the engine's, bit for bit; other sizes are the original's nodes."""

import make_models
import numpy as np
import onnx
import onnxruntime as ort
from onnxruntime import quantization as q

from networks import test_seed, with_kernels

U8, S8 = q.QuantType.QUInt8, q.QuantType.QInt8
NETWORKS = {"pairs": (q.QuantFormat.QDQ, U8, S8, "FusedU8"),
            "operators": (q.QuantFormat.QOperator, U8, S8, "FusedU8"),
            "unsigned": (q.QuantFormat.QDQ, U8, U8, "FusedU8"),
            "signed": (q.QuantFormat.QDQ, S8, S8, "FusedS8")}


class Images(q.CalibrationDataReader):
    def __init__(self, drawn):
        rng = np.random.default_rng(drawn)
        self.feeds = iter([{"input": rng.standard_normal((1, 3, 32, 32)).astype(np.float32)} for _ in range(4)])

    def get_next(self):
        return next(self.feeds, None)


def compare(name, batch, fused):
    nodes = with_kernels(onnx.load("all/model.onnx")).node
    ours = [node.op_type for node in nodes if node.domain == "ai.lehr"]
    assert set(ours) <= {"Fused", "FusedU8", "FusedS8"} and ours.count(fused) >= 9, ours
    assert not {"Conv", "Add", "QLinearConv", "QLinearAdd"} & {node.op_type for node in nodes}, nodes
    options = ort.SessionOptions()
    options.register_custom_ops_library("./all/liblehr_onnxruntime.so")
    sessions = ort.InferenceSession(name + ".onnx"), ort.InferenceSession("all/model.onnx", options)
    for drawn in range(4):
        x = np.random.default_rng(drawn).standard_normal((batch, 3, 32, 32)).astype(np.float32)
        want, got = (session.run(None, {"input": x})[0] for session in sessions)
        assert np.abs(want).max() > 0
        # The engine adds residuals in another order, so a number may be the next one.
        unit = 1.01 * np.unique(np.abs(np.diff(np.unique(want)))).min()
        assert np.abs(want - got).max() <= 2 * unit, (name, batch, np.abs(want - got).max(), unit)


def run(lehr, name):
    inputs, build = make_models.MODELS["tiny"]
    graph = make_models.Graph(1)
    graph.save("tiny.onnx", inputs, build(graph))
    form, activations, weights, fused = NETWORKS[name]
    # Weights have 7 bits: with 8 the engine's sums of pairs saturate without VNNI.
    q.quantize_static("tiny.onnx", name + ".onnx", Images(test_seed(1)), quant_format=form, activation_type=activations,
                      weight_type=weights, per_channel=True, reduce_range=True)
    lehr.tune(f"--model {name}.onnx --dim batch=1", limit="--trials 1")
    lehr.export()
    apply = f"apply {name}.onnx --dim batch=1 --threads 1 --bundle kernels.bundle --out "
    lehr(apply + "all --no-engine", "^10 of 10 convolutions and products by kernels(, [0-9]+ with channels last)?, 100.0 %")
    for batch in (1, 3):
        compare(name, batch, fused)
    lehr(f"verify {name}.onnx --dim batch=1 --threads 1 --out all")
    lehr(apply + "faster --time 1s", "outputs within")
