"""See rewrite_test, which starts this."""

import glob
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import make_models
from expand_plans import expanded

PROGRAM, PACKAGES = sys.argv[1:]
SEED = int.from_bytes(os.urandom(4), "little")
print(f"seed {SEED}")


def session(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model if isinstance(model, str) else model.SerializeToString(), options)


def rewritten(path):
    """The rewritten model and the places that were kept."""
    out = path + ".out"
    ran = subprocess.run([PROGRAM, path, out], check=True, capture_output=True, text=True)
    return onnx.load(out), ran.stdout.splitlines()


def compare(path, batches, kept=0):
    original = session(path)
    model, said = rewritten(path)
    assert len(said) == kept, (path, said)
    fused = sum(node.domain == "ai.lehr" for node in model.graph.node)
    assert fused > 0, path
    engine = session(expanded(model))
    for batch in batches:
        rng = np.random.default_rng(SEED)
        feeds = {}
        constants = {each.name for each in onnx.load(path).graph.initializer}
        for each in original.get_inputs():
            if each.name in constants:
                continue
            shape = [size if isinstance(size, int) else batch for size in each.shape]
            feeds[each.name] = rng.standard_normal(shape).astype(np.float32)
        for want, got in zip(original.run(None, feeds), engine.run(None, feeds)):
            assert want.shape == got.shape, path
            assert np.abs(want).max() > 1e-3, (path, "an output that tells nothing")
            error = np.abs(want - got).max() / np.abs(want).max()
            assert error < 1e-4, (path, batch, error)
    print(f"{os.path.basename(path)}: {fused} nodes")


def with_random_weights(path, folder):
    """The package's networks make their weights by ConstantOfShape: random ones instead, as initializers."""
    model = onnx.load(path)
    rng = np.random.default_rng(SEED)
    shapes = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    nodes = []
    variances = {node.input[4] for node in model.graph.node if node.op_type == "BatchNormalization"}
    for node in model.graph.node:
        if node.op_type != "ConstantOfShape":
            nodes.append(node)
            continue
        shape = [int(size) for size in shapes[node.input[0]]]
        values = rng.standard_normal(shape) * np.sqrt(1.5 / max(1, np.prod(shape[1:])))
        if node.output[0] in variances:
            values = 0.5 + np.abs(values)
        model.graph.initializer.append(numpy_helper.from_array(values.astype(np.float32), node.output[0]))
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    out = os.path.join(folder, os.path.basename(path))
    onnx.save(model, out)
    return out


def graph_of(g, path, shape, output, opset=17):
    g.save(path, [("input", TensorProto.FLOAT, shape)], output)
    model = onnx.load(path)
    model.opset_import[0].version = opset
    onnx.save(model, path)
    return path


def normalized(g, x, c):
    values = [1 + 0.2 * g.random.standard_normal(c), g.random.standard_normal(c), g.random.standard_normal(c),
              0.5 + g.random.random(c)]
    return g.node("BatchNormalization", [x] + [g.constant(each.astype(np.float32)) for each in values], epsilon=1e-3)


def channels(g, c, *shape):
    return g.constant(g.random.standard_normal((c, *shape)).astype(np.float32))


def folds(folder):
    """All that is linear behind convolutions and products, in every order that is folded, and what is not."""
    g = make_models.Graph(SEED)
    bare = lambda x, c, k, r: g.node("Conv", [x, g.constant(g.random.standard_normal((k, c, r, r)).astype(np.float32) * 0.2)],
                                     pads=[r // 2] * 4)
    x = normalized(g, bare("input", 3, 8, 3), 8)                                # no bias
    x = normalized(g, g.relu(g.conv(x, 8, 8, 3)), 8)                            # behind what is not linear
    x = g.node("Mul", [g.conv(x, 8, 12, 3), channels(g, 12, 1, 1)])             # a factor
    x = g.node("Add", [g.node("Mul", [channels(g, 12, 1, 1), bare(x, 12, 12, 1)]), channels(g, 12, 1, 1)])
    x = g.relu(normalized(g, g.node("Add", [bare(x, 12, 16, 3), channels(g, 16, 1, 1)]), 16))
    y = g.node("HardSwish", [normalized(g, g.conv(x, 16, 16, 3, group=4), 16)])
    x = g.node("Add", [y, x])
    z = g.conv(x, 16, 16, 1)
    x = g.node("Mul", [z, g.node("Sigmoid", [z])])
    x = g.node("Clip", [g.conv(x, 16, 8, 3), g.constant(np.float32(-0.5)), g.constant(np.float32(2))])
    x = g.node("LeakyRelu", [g.conv(x, 8, 8, 3)], alpha=0.1)
    x = g.max_pool(g.relu(g.conv(x, 8, 8, 3)), 2, 2)
    flat = g.node("Flatten", [g.node("GlobalAveragePool", [x])])
    y = g.node("MatMul", [flat, g.constant(g.random.standard_normal((8, 6)).astype(np.float32))])
    y = g.node("Mul", [g.node("Add", [y, channels(g, 6)]), channels(g, 6)])
    w = g.constant(g.random.standard_normal((5, 6)).astype(np.float32))
    y = g.node("Mul", [g.node("Gemm", [y, w, channels(g, 5)], transB=1, alpha=0.5), channels(g, 5)])
    return graph_of(g, os.path.join(folder, "folds.onnx"), ["batch", 3, 12, 16], y)


def numbers(folder):
    """Constants of one element, and differences and quotients, before and behind what is not linear: the learnt affine
    blocks and the hard swish of PaddleOCR's networks, the scores of attention."""
    g = make_models.Graph(SEED)
    number = lambda value, *shape: g.constant(np.full(shape, value, np.float32))

    def swished(x):
        gate = g.node("Clip", [g.node("Add", [x, number(3)]), number(0), number(6)])
        return g.node("Div", [g.node("Mul", [x, gate]), number(6)])

    x = "input"
    for group, c, k in ((1, 3, 8), (8, 8, 8), (1, 8, 12)):
        x = g.node("Mul", [number(0.9, 1), g.conv(x, c, k, 3, group=group)])
        x = swished(g.node("Add", [x, number(0.5, 1)]))
        x = g.node("Add", [g.node("Mul", [number(0.7, 1), x]), number(-0.2, 1, 1)])
    x = g.node("Sub", [g.node("Div", [g.conv(x, 12, 6, 1), channels(g, 6, 1, 1)]), channels(g, 6, 1, 1)])
    x = g.node("Div", [g.node("Sub", [g.relu(x), number(0.3)]), channels(g, 6, 1, 1)])
    x = g.node("Sub", [number(1), g.node("Sigmoid", [g.conv(x, 6, 6, 3)])])
    x = g.node("Mul", [g.node("Relu", [normalized(g, g.conv(x, 6, 6, 1), 6)]), number(2)])
    x = g.relu(normalized(g, g.node("Add", [x, channels(g, 6, 1, 1)]), 6))
    rows = g.node("Flatten", [x], axis=3)
    weights = g.constant(g.random.standard_normal((16, 10)).astype(np.float32))
    y = g.node("Mul", [g.node("Tanh", [g.node("Add", [g.node("MatMul", [rows, weights]), number(0.1)])]), number(3)])
    turned = g.node("Transpose", [y], perm=[1, 0])
    scores = g.node("Div", [g.node("MatMul", [y, turned]), number(7)])
    return graph_of(g, os.path.join(folder, "numbers.onnx"), ["batch", 3, 12, 16], g.node("Softmax", [scores]))


def signals(folder):
    """Convolutions over one dimension."""
    g = make_models.Graph(SEED)
    w = g.constant(g.random.standard_normal((6, 4, 3)).astype(np.float32))
    x = g.node("Conv", ["input", w, channels(g, 6)], pads=[1, 1], strides=[2])
    w = g.constant(g.random.standard_normal((6, 6, 3)).astype(np.float32))
    x = g.relu(g.node("Conv", [x, w], auto_pad="SAME_UPPER", strides=[2]))
    x = g.node("Mul", [g.node("Add", [x, channels(g, 6, 1)]), channels(g, 6, 1)])
    return graph_of(g, os.path.join(folder, "signals.onnx"), ["batch", 4, 30], x)


def captured(folder):
    """A value that a subgraph reads stays, though one node alone reads it outside."""
    g = make_models.Graph(SEED)
    x = g.conv("input", 3, 4, 3)
    y = g.relu(x)
    inner = lambda op: helper.make_graph([helper.make_node(op, [x], ["o"])], op, [],
                                         [helper.make_tensor_value_info("o", TensorProto.FLOAT, None)])
    z = g.node("If", [g.constant(np.array(True))], then_branch=inner("Neg"), else_branch=inner("Abs"))
    return graph_of(g, os.path.join(folder, "captured.onnx"), ["batch", 3, 6, 6], g.node("Add", [y, z]))


def external(folder):
    path = folds(folder)
    out = os.path.join(folder, "external.onnx")
    onnx.save(onnx.load(path), out, save_as_external_data=True, location="weights.bin", size_threshold=0)
    return out


def main():
    with tempfile.TemporaryDirectory() as folder:
        for make in (folds, numbers, signals, captured, external):
            compare(make(folder), (1, 3))
        for name in ("tiny", "encoder"):
            inputs, build = make_models.MODELS[name]
            g = make_models.Graph(SEED)
            g.save(os.path.join(folder, name + ".onnx"), inputs, build(g))
            compare(os.path.join(folder, name + ".onnx"), (1,))
        lights = sorted(glob.glob(PACKAGES + "/onnx/backend/test/data/light/*.onnx"))
        assert len(lights) == 9, lights
        for path in lights:
            if any(name in path for name in ("squeezenet", "shufflenet", "resnet50", "inception_v2")):
                compare(with_random_weights(path, folder), (1,))


main()
