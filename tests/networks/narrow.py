"""Tests a network with matches in bf16, and with all nodes between them that carry bf16: Concat, pools, a residual,
a mean, Flatten. With other sizes, tolerances and bundles it is another network that is right, or it is refused."""

import collections
import json
import shutil
import sqlite3

import numpy as np
import onnx
from networks import with_kernels
from onnx import TensorProto as T, helper as h, numpy_helper as n

NETWORK = "net17.onnx --dim batch=1"
SIZES = "--dim h=16 --dim w=16"


def write_networks():
    rng = np.random.default_rng(0)
    nodes, constants = [], []

    def constant(*shape):
        values = (rng.standard_normal(shape) * (2 / np.prod(shape[1:])) ** 0.5).astype("f4")
        constants.append(n.from_array(values, f"c{len(constants)}"))
        return constants[-1].name

    def node(op, inputs, **attributes):
        nodes.append(h.make_node(op, inputs, [f"v{len(nodes)}"], **attributes))
        return nodes[-1].output[0]

    def conv(x, c, k, r, relu=True):
        y = node("Conv", [x, constant(k, c, r, r), constant(k)], pads=[r // 2] * 4)
        return node("Relu", [y]) if relu else y

    x = conv("x", 3, 16, 3)
    x = node("Concat", [conv(x, 16, 16, 1), conv(x, 16, 16, 3)], axis=1)
    x = node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    x = node("Relu", [node("Add", [conv(x, 32, 32, 3, relu=False), x])])
    x = node("Flatten", [node("GlobalAveragePool", [x])])
    x = node("Gemm", [x, constant(10, 32), constant(10)], transB=1)
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info("x", T.FLOAT, ["batch", 3, "h", "w"])],
                         [h.make_tensor_value_info(x, T.FLOAT, ["batch", 10])], constants)
    for opset in (12, 17):
        onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=8), f"net{opset}.onnx")


def run(lehr):
    write_networks()
    for command in ("tune --model", "apply --bundle nowhere --out never", "optimize --out never"):
        lehr(f"{command} {NETWORK} {SIZES} --precision f16", "f32, bf16", code=1, wrote="never")
    lehr("tune gemm --m 8 --n 8 --k 8 --precision bf16", code=1)
    lehr(f"tune --model net12.onnx --dim batch=1 {SIZES} --precision bf16 --threads 1 --db log.db", "opset 12", code=1)
    tuned(lehr)
    lehr.export("both.bundle")
    # The log keeps one form alone, so that it is taken whatever is faster here.
    for name, other in (("narrow", "nhwc"), ("last", "nchw")):
        shutil.copy("log.db", f"{name}.db")
        with sqlite3.connect(f"{name}.db") as log:
            for table in ("verdict", "trial"):
                log.execute(f"delete from {table} where workload not like '%bf16%' or workload like '%layout={other}%'")
        lehr.export(f"{name}.bundle", f"{name}.db")
    applied(lehr)
    held_to_a_tolerance(lehr)
    lehr(f"optimize {NETWORK} {SIZES} --threads 1 --precision bf16 --db log.db --time 2s --out optimized", "outputs within")


def tuned(lehr):
    """Tests that both types of each match are tasks, and that the log answers them the next time."""
    lehr.tune(f"--model {NETWORK} {SIZES} --precision bf16", "^ +of 5 are faster in bf16: [0-5]; with channels last: [0-4]; ", "--precision bf16 --bundle",
              "!no time was left for it", limit="--trials 2 --time 3m")
    said = lehr.tune(f"--model {NETWORK} {SIZES} --precision bf16 --json", limit="--trials 1")
    document = json.loads(said[said.index("\n{") if not said.startswith("{") else 0:])
    tasks = document["tasks"]
    assert len(tasks) == 14 and all(task["log"] in ("known", "near") for task in tasks), said
    best = {task["workload"]: task["best_us"] for task in tasks}
    assert sum("bf16" in name for name in best) == 9 and sum("nhwc" in name for name in best) == 4 and all(best.values()), best
    assert sum(task["uses"] for task in tasks) == 5, said
    assert document["best_us"] <= sum(us for name, us in best.items() if "bf16" not in name) * 1.0001, said


def applied(lehr):
    apply = f"apply {NETWORK} {SIZES} --threads 1 --bundle "
    lehr(apply + "both.bundle --out plain --no-engine", "^5 of 5", "!bf16", "!channels last")
    lehr(apply + "both.bundle --precision bf16 --out faster --time 1s", "outputs within")
    lehr(apply + "narrow.bundle --precision bf16 --out narrow --no-engine",
         "^5 of 5 convolutions and products by kernels, 5 of them in bf16")
    found = {"FusedBf16*": 4, "Fused*": 1, "Concat": 1, "MaxPool*": 1, "GlobalAveragePool*": 1, "Flatten": 1}
    assert operators("narrow") == {"Cast": 1, **found}, operators("narrow")
    lehr(apply + "last.bundle --precision bf16 --out last --no-engine",
         "^5 of 5 convolutions and products by kernels, 5 of them in bf16, 4 with channels last")
    # Before the first convolution, before each input of the Concat and behind its pool, and before the mean.
    assert operators("last") == {"Cast": 1, "Transpose": 5, **found}, operators("last")
    lehr(f"verify {NETWORK} {SIZES} --threads 1 --tolerance 0.03 --out last")
    # Kernels serve other numbers of threads, too; other sizes get the original.
    for batch, height, width, threads in ((1, 16, 16, 1), (1, 16, 16, 2), (3, 16, 16, 1), (1, 24, 20, 1)):
        lehr(f"verify net17.onnx --dim batch={batch} --dim h={height} --dim w={width} --threads {threads} --tolerance 0.03 --out narrow")
    lehr(f"verify {NETWORK} {SIZES} --out narrow", "of which 0.0001 is allowed", code=4)


def operators(folder):
    nodes = with_kernels(onnx.load(f"{folder}/model.onnx")).node
    return collections.Counter(node.op_type + "*" * (node.domain == "ai.lehr") for node in nodes)


def held_to_a_tolerance(lehr):
    """Tests that the default tolerance is what rounding explains, and stays with the network. A stated tolerance
    replaces it."""
    apply = f"apply {NETWORK} {SIZES} --threads 1 --bundle narrow.bundle --precision bf16 "
    if "in bf16" in lehr(apply + "--out narrow --replace --time 1s", "outputs within"):
        assert "the same class first" in lehr.said, lehr.said
        lehr(f"verify {NETWORK} {SIZES} --threads 1 --out narrow", "the same class first")
    lehr(apply + "--out never --tolerance 1e-6 --time 1s", "of which .*e-06 is allowed", code=4, wrote="never")
    lehr(apply + "--out narrow --replace --no-engine")
    written = open("narrow/model.onnx", "rb").read()
    for tolerance, code in (("0.03", 0), ("1e-7", 4)):
        model = onnx.load_from_string(written)
        del model.metadata_props[:]
        entry = model.metadata_props.add()
        entry.key, entry.value = "lehr.tolerance", tolerance
        onnx.save(model, "narrow/model.onnx")
        lehr(f"verify {NETWORK} {SIZES} --out narrow", code=code)
