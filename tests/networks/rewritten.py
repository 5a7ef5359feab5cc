"""Tests that rewritten models compute what the originals do, with the plug-in and a library whose kernels are the
references of all workloads: the networks of the package onnx with seeded random weights, graphs with all nodes that
are folded, and the If for other sizes."""

import collections
import glob
import os
import shutil
import subprocess

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import quantization

import branched
import make_models
from networks import test_seed, with_kernels

SEED = test_seed(1)


def session(path, optimized=True):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.register_custom_ops_library(PLUGIN)
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options)


def rewritten(path, *words):
    """Returns the rewritten model, the matches that were kept, and its path."""
    out = path + ".out"
    ran = subprocess.run([PROGRAM, path, out, *words], check=True, capture_output=True, text=True)
    return onnx.load(out), ran.stdout.splitlines(), out


# The bound in bf16: a multiple of what rounding the matches' inputs does to the output by itself, since one input shows
# one draw.
NARROW = 4


def compare(path, batches, kept=0, tolerance=1e-4, precision=(), layout=()):
    original = session(path)
    rounded = session(rewritten(path, "rounded")[2]) if precision else None
    model, said, out = rewritten(path, *precision, *layout, *(["branched"] if len(batches) > 1 else []))
    assert len(said) == kept, (path, said)
    fused = sum(node.domain == "ai.lehr" for node in with_kernels(model).node)
    assert fused > 0, path
    engine = session(out)
    for batch in batches:
        rng = np.random.default_rng(SEED)
        feeds = {}
        constants = {each.name for each in onnx.load(path).graph.initializer}
        for each in original.get_inputs():
            if each.name in constants:
                continue
            shape = [size if isinstance(size, int) else batch for size in each.shape]
            feeds[each.name] = rng.standard_normal(shape).astype(np.float32)
        off = rounded.run(None, feeds) if precision else None
        for i, (want, got) in enumerate(zip(original.run(None, feeds), engine.run(None, feeds))):
            assert want.shape == got.shape, path
            assert np.abs(want).max() > 1e-3, (path, "an output that tells nothing")
            error = np.abs(want - got).max() / np.abs(want).max()
            if precision and batch != 1:
                assert np.array_equal(want, got), (path, "the original's nodes")
            elif precision:
                tolerance = NARROW * np.abs(want - off[i]).max() / np.abs(want).max()
                assert tolerance > 1e-5, (path, "nothing is rounded", tolerance)
                print(f"  {error / tolerance * NARROW:.2f} times what rounding does, {error:.2g}")
            assert error <= tolerance, (path, batch, error, tolerance)
    print(f"{os.path.basename(path)} {' '.join((*precision, *layout))}: {fused} nodes")


def with_random_weights(path, folder):
    """Replaces the weights that the package's networks make by ConstantOfShape with random ones, as initializers."""
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


class RandomImages(quantization.CalibrationDataReader):
    """Images of 32 x 32 to calibrate with."""

    def __init__(self):
        rng = np.random.default_rng(SEED)
        self.feeds = iter([{"input": rng.standard_normal((1, 3, 32, 32)).astype(np.float32)} for _ in range(4)])

    def get_next(self):
        return next(self.feeds, None)


def quantized(path, folder):
    """Tests both forms that onnxruntime.quantization writes, of u8 and of s8. Weights have 7 bits, so the engine's
    sums of pairs do not saturate (https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html).
    Between two sums it rounds once more than the graph says, so whole numbers may be one apart; its own operators do
    the same."""
    kinds = quantization.QuantType
    for activations in (kinds.QUInt8, kinds.QInt8):
        for form in quantization.QuantFormat:
            for per_channel in (True, False):
                out = os.path.join(folder, f"{activations.name}.{form.name}.{per_channel}.onnx")
                quantization.quantize_static(path, out, RandomImages(), quant_format=form, activation_type=activations,
                                             weight_type=kinds.QInt8, per_channel=per_channel, reduce_range=True)
                for layout in ((), ("last",)):
                    compare(out, (1,), tolerance=0.03 if form == quantization.QuantFormat.QDQ else 0, layout=layout)


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
    """Tests all linear nodes behind convolutions and products, in every order that is folded, and nodes that are not
    folded."""
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
    """Tests constants of one element, and differences and quotients, before and behind nodes that are not linear:
    the learnt affine blocks and the hard swish of PaddleOCR's networks, the scores of attention."""
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
    """Tests convolutions over one dimension."""
    g = make_models.Graph(SEED)
    w = g.constant(g.random.standard_normal((6, 4, 3)).astype(np.float32))
    x = g.node("Conv", ["input", w, channels(g, 6)], pads=[1, 1], strides=[2])
    w = g.constant(g.random.standard_normal((6, 6, 3)).astype(np.float32))
    x = g.relu(g.node("Conv", [x, w], auto_pad="SAME_UPPER", strides=[2]))
    x = g.node("Mul", [g.node("Add", [x, channels(g, 6, 1)]), channels(g, 6, 1)])
    return graph_of(g, os.path.join(folder, "signals.onnx"), ["batch", 4, 30], x)


def captured(folder):
    """Tests that a value that a subgraph reads stays, though one node alone reads it outside."""
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


def built(folder, name, nodes, constants, inputs, opset=17, ir=8, sparse=(), extra_inputs=()):
    """Returns a file of a graph that ends in `y`; constants by name, inputs and shapes by name."""
    info = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "g", [info(*each) for each in {**inputs, **dict(extra_inputs)}.items()],
                              [info("y", None)],
                              [numpy_helper.from_array(np.asarray(value), each) for each, value in constants.items()],
                              sparse_initializer=list(sparse))
    path = os.path.join(folder, name + ".onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir), path)
    return path


def agree(want, got):
    finite = np.isfinite(want)
    if want.shape != got.shape:
        return False
    if not finite.all() and finite.any() and np.abs(want[finite]).max() > 1e30:
        return True  # sums that overflow in one order do not in another
    if not np.array_equal(want[~finite], got[~finite], equal_nan=True) or not np.isfinite(got[finite]).all():
        return False
    return not finite.any() or np.abs(want[finite].astype(np.float64) - got[finite]).max() <= 1e-4 * np.abs(want[finite]).max()


def same(path, feeds, fused, kept=0, at=""):
    """Compares as compare(), for given inputs, with infinities and NaN at the same elements."""
    model, said, out = rewritten(path)
    assert len(said) == kept, (at, said)
    assert sum(node.domain == "ai.lehr" for node in model.graph.node) == fused, (at, fused)
    originals = [session(path, optimized) for optimized in (False, True)]  # the engine folds infinite factors into filters
    engine = session(out)
    for each in feeds:
        for got, *wanted in zip(engine.run(None, each), *(original.run(None, each) for original in originals)):
            assert any(agree(want, got) for want in wanted), (at, wanted, got)
    return model


def sparse_of(name, dense, linear=True):
    """Returns the elements that are not 0, with their positions as one number each or one for each dimension."""
    places = np.argwhere(dense) if not linear else np.flatnonzero(dense)
    values = numpy_helper.from_array(dense[dense != 0], name)
    return helper.make_sparse_tensor(values, numpy_helper.from_array(places.astype(np.int64)), list(dense.shape))


def sparse(folder):
    """Tests that sparse initializers are constants as others are: filters, folded values, sizes, a Constant's value."""
    rng = np.random.default_rng(SEED)
    thin = lambda *shape: (rng.standard_normal(shape) * (rng.random(shape) < 0.3) + np.eye(*shape[:2]).reshape(
        shape[:2] + (1,) * (len(shape) - 2)) if len(shape) > 1 else rng.standard_normal(shape)).astype(np.float32)
    factor = np.array([0, 1.5, 0, -2, 0.5, 0], np.float32)
    for linear in (True, False):
        nodes = [helper.make_node("Conv", ["x", "f"], ["c"], pads=[1] * 4),
                 helper.make_node("Mul", ["c", "s"], ["m"]),
                 helper.make_node("Relu", ["m"], ["r"]),
                 helper.make_node("Constant", [], ["v"], sparse_value=sparse_of("", thin(6, 5, 3, 3)[:, 0, :, :1].copy())),
                 helper.make_node("Reshape", ["r", "shape"], ["flat"]),
                 helper.make_node("MatMul", ["flat", "w"], ["p"]),
                 helper.make_node("Add", ["p", "b"], ["y"])]
        path = built(folder, "sparse", nodes, {}, {"x": [2, 3, 6, 6]}, sparse=[
            sparse_of("f", thin(6, 3, 3, 3), linear), sparse_of("s", factor.reshape(6, 1, 1), linear),
            sparse_of("shape", np.array([2, 216]), linear), sparse_of("w", thin(216, 7), linear),
            sparse_of("b", thin(7), linear)])
        model = same(path, [{"x": rng.standard_normal((2, 3, 6, 6)).astype(np.float32)}], 2, at=f"sparse {linear}")
        names = {each.values.name for each in model.graph.sparse_initializer}
        assert names == {"shape", "w", "b"}, names


def overridable(folder):
    """Tests initializers that are inputs. From IR 4 on they are defaults: nothing of them is folded, and callers may
    give another. Before, an engine takes no other: they are constants."""
    rng = np.random.default_rng(SEED)
    draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    constants = {"w": draw(4, 3, 3, 3), "s": draw(4, 1, 1), "t": draw(4, 1, 1), "b": draw(4), "m": draw(6, 5), "k": draw(5),
                 "truth": np.array(True)}
    branch = lambda op: helper.make_graph([helper.make_node(op, ["q", "s"], ["o"])], op, [],
                                          [helper.make_tensor_value_info("o", TensorProto.FLOAT, None)])
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"]), helper.make_node("Mul", ["c", "s"], ["d"]),
             helper.make_node("Identity", ["t"], ["u"]), helper.make_node("Add", ["d", "u"], ["e"]),
             helper.make_node("Relu", ["e"], ["q"]),
             helper.make_node("If", ["truth"], ["z"], then_branch=branch("Mul"), else_branch=branch("Add")),
             helper.make_node("MatMul", ["q", "m"], ["f"]), helper.make_node("Mul", ["f", "k"], ["g"]),
             helper.make_node("ReduceMean", ["z"], ["h"]), helper.make_node("Add", ["g", "h"], ["y"])]
    x = {"x": draw(2, 3, 8, 8)}
    given = {"s": [4, 1, 1], "t": [4, 1, 1], "b": [4], "m": [6, 5], "k": [5]}
    for ir in (3, 4, 8):
        path = built(folder, "overridable", nodes, constants, {"x": [2, 3, 8, 8]}, opset=13, ir=ir, extra_inputs=given.items())
        original = session(path)
        taken = {each.name for each in original.get_overridable_initializers()}
        assert taken == (set() if ir == 3 else set(given)), (ir, taken)
        try:
            original.run(None, {**x, "s": draw(4, 1, 1)})
            assert ir > 3, "IR 3's constants may be replaced"
        except Exception as error:
            assert ir == 3 and "Invalid input name" in str(error), (ir, error)
        feeds = [x] if ir == 3 else [x] + [{**x, name: draw(*shape)} for name, shape in given.items()]
        model = same(path, feeds, 2, at=f"overridable, IR {ir}")
        left = {each.name for each in model.graph.input}
        assert ir == 3 or left == {"x", *given}, left
    # Callers may override the filter itself from IR 4 on: the convolution stays the engine's. IR 3's is packed.
    for ir, fused in ((3, 1), (8, 0)):
        path = built(folder, "filter", [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("Mul", ["c", "s"], ["y"])],
                     {"w": constants["w"], "s": constants["s"]}, {"x": [2, 3, 8, 8]}, ir=ir,
                     extra_inputs={"w": [4, 3, 3, 3]}.items())
        same(path, [x], fused, at=f"filter, IR {ir}")


def hostile(folder):
    """Tests constants with which folding would give something else: each is right, folded or not."""
    rng = np.random.default_rng(SEED)
    draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    c = 4
    full = lambda value: np.full((c, 1, 1), value, np.float32)
    mixed = lambda value: np.array([1, value, -2, 0.5], np.float32).reshape(c, 1, 1)
    values = (0.0, -0.0, np.inf, -np.inf, np.nan, 3e38, 1e-38, 1e-42, 1e-45, 1e30, 1e-30)
    chains = [[(op, make(value))] for op in ("Mul", "Div", "Add", "Sub") for value in values for make in (full, mixed)]
    chains += [[("Mul", full(1e30)), ("Mul", full(1e30))], [("Mul", full(1e-30)), ("Mul", full(1e-30))],
               [("Mul", full(1e-25)), ("Div", full(1e-25))], [("Add", mixed(np.inf)), ("Mul", full(2))],
               [("Mul", full(0)), ("Div", full(0))], [("Add", full(3e38)), ("Add", full(3e38))],
               [("Div", full(1e-30)), ("Div", full(1e-30))], [("Relu", None), ("Div", mixed(0)), ("Add", full(1))],
               [("Relu", None), ("Mul", full(1e-30)), ("Mul", full(1e-12))], [("Relu", None), ("Mul", full(1e30)), ("Mul", full(1e30))]]
    chains += [[("Add", full(12582912)), ("Sub", full(12582912))],
               [("Add", full(12582912)), ("Sub", full(12582912)), ("Mul", mixed(3))], [("Mul", full(1e18)), ("Mul", full(1e18))],
               [("Mul", full(1e38)), ("Mul", full(1e-38)), ("Relu", None)], [("Mul", full(1e38)), ("Sigmoid", None)]]
    x = draw(1, 3, 5, 5)
    feeds = [{"x": (x * scale).astype(np.float32)} for scale in (1, 100, 1e10)] + [{"x": np.zeros_like(x)}]
    for filter_scale in (1, 1e-20):
        for chain in chains:
            constants = {"w": draw(c, 3, 3, 3) * np.float32(filter_scale)}
            nodes, last = [helper.make_node("Conv", ["x", "w"], ["v0"])], "v0"
            for i, (op, value) in enumerate(chain):
                out = "y" if i + 1 == len(chain) else f"v{i + 1}"
                if value is not None:
                    constants[f"c{i}"] = value
                nodes.append(helper.make_node(op, [last] + ([f"c{i}"] if value is not None else []), [out]))
                last = out
            at = f"{filter_scale} {[(op, value is not None and value.flatten().tolist()) for op, value in chain]}"
            path = built(folder, "hostile", nodes, constants, {"x": [1, 3, 5, 5]})
            model, said, _ = rewritten(path)
            same(path, feeds, sum(node.domain == "ai.lehr" for node in model.graph.node), len(said), at)
    for variance, scale in ((-1.0, 1.0), (-1e-5, 1.0), (0.0, 0.0), (np.inf, 1.0), (np.nan, 1.0), (1.0, np.inf), (1.0, 0.0)):
        epsilon = 1e-5
        constants = {"w": draw(c, 3, 3, 3), "s": np.full(c, scale, np.float32), "b": draw(c), "m": draw(c),
                     "v": np.array([1, variance, 2, 3], np.float32)}
        nodes = [helper.make_node("Conv", ["x", "w"], ["k"]),
                 helper.make_node("BatchNormalization", ["k", "s", "b", "m", "v"], ["y"], epsilon=epsilon)]
        same(built(folder, "hostile", nodes, constants, {"x": [1, 3, 5, 5]}), feeds[:2], 1, at=f"variance {variance}, scale {scale}")


def gemms(folder):
    """Tests every C that a Gemm may have, a constant or not, with all nodes behind it that are folded."""
    rng = np.random.default_rng(SEED)
    draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    m, k, n = 3, 4, 5
    behind = [[], [("Mul", draw(n))], [("Add", draw(n))], [("Sub", draw(1)), ("Div", draw(n) + 3)],
              [("Relu", None), ("Mul", draw(n)), ("Add", draw(1, n))], [("Mul", draw(1)), ("Relu", None), ("Sub", draw(n))]]
    for turned in (0, 1):
        for alpha, beta in ((1.0, 1.0), (0.5, 1.0), (1.0, 0.25), (-2.0, 0.0)):
            for shape in (None, (), (1,), (n,), (1, n), (m, 1), (m, n), (1, 1)):
                for variable in (False, True):
                    for chain in behind:
                        a, b = ([k, m] if turned else [m, k]), ([n, k] if turned else [k, n])
                        constants, inputs = {"b": draw(*b)}, {"a": a}
                        if shape is not None:
                            (inputs if variable else constants)["c"] = list(shape) if variable else draw(*shape)
                        nodes = [helper.make_node("Gemm", ["a", "b"] + ([] if shape is None else ["c"]), ["v0"],
                                                  alpha=alpha, beta=beta, transA=turned, transB=turned)]
                        for i, (op, value) in enumerate(chain):
                            if value is not None:
                                constants[f"k{i}"] = value
                            nodes.append(helper.make_node(op, [f"v{i}"] + ([f"k{i}"] if value is not None else []), [f"v{i + 1}"]))
                        nodes[-1].output[0] = "y"
                        path = built(folder, "gemm", nodes, constants, inputs)
                        feeds = {each: draw(*shape_of) for each, shape_of in inputs.items()}
                        is_served = shape in (None, (n,), (1, n), (m, n)) and (beta == 1 or shape is None)
                        same(path, [feeds], int(is_served),
                             at=f"turned {turned}, {alpha}, {beta}, C {shape}, variable {variable}, {[op for op, _ in chain]}")


def shared(folder):
    """Tests that layers which share a filter, and fold the same into it, share the result."""
    rng = np.random.default_rng(SEED)
    draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    constants = {"w": draw(6, 6, 3, 3) * np.float32(0.2), "s": draw(6, 1, 1), "t": draw(6, 1, 1), "other": draw(6, 1, 1)}
    nodes, last = [], "x"
    for i in range(5):
        nodes += [helper.make_node("Conv", [last, "w"], [f"c{i}"], pads=[1] * 4),
                  helper.make_node("Mul", [f"c{i}", "other" if i == 2 else "s"], [f"m{i}"]),
                  helper.make_node("Add", [f"m{i}", "t"], [f"a{i}"]),
                  helper.make_node("Relu", [f"a{i}"], [f"r{i}"])]
        last = f"r{i}"
    nodes[-1].output[0] = "y"
    path = built(folder, "shared", nodes, constants, {"x": [1, 6, 8, 8]})
    model = same(path, [{"x": draw(1, 6, 8, 8)}], 5, at="shared")
    made = [tuple(each.dims) for each in model.graph.initializer]
    assert sorted(made) == [(6,), (6, 6, 3, 3), (6, 6, 3, 3)], made


def biases(folder):
    """Tests additions behind a quantized product or convolution: constants of each shape, as they are and
    dequantized, functions with numbers of each shape, whole exponents, and a sum that is no bias. `y` is in whole
    steps."""
    rng = np.random.default_rng(SEED)
    node = helper.make_node
    step = np.float32(0.05)
    for image in (True, False):
        shapes = ((16, 1, 1), (1, 16, 1, 1), (1, 16, 12, 12)) if image else ((16,), (1, 16), (1, 1, 16), (2, 4, 16))
        for shape in shapes:
            for coded in (False, True):
                for behind in ("", "HardSwish", "Pow", "u8"):
                    constants = {"s": np.float32(0.02), "z": np.uint8(128), "t": np.float32(0.01), "o": np.int8(0), "u": step, "i": np.int8(3),
                                 "w": rng.integers(-64, 65, (16, 8, 3, 3) if image else (32, 16)).astype(np.int8),
                                 "b": rng.integers(-99, 99, shape).astype(np.int8) if coded else rng.standard_normal(shape).astype(np.float32)}
                    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["d"]),
                             node("DequantizeLinear", ["w", "t", "o"], ["e"]), node("Conv" if image else "MatMul", ["d", "e"], ["g"])]
                    added = "b"
                    if coded:
                        nodes.insert(0, node("DequantizeLinear", ["b", "t", "i"], ["c"]))
                        added = "c"
                    nodes.append(node("Add", [added, "g"], ["a"]))
                    last, zero = "a", "z" if behind == "u8" else "o"
                    if behind == "HardSwish":
                        constants |= {"three": np.full((1, 1), 3, np.float32), "six": np.full((1,), 6, np.float32), "l": np.float32(0), "h": np.float32(6)}
                        nodes += [node("Add", ["a", "three"], ["h0"]), node("Clip", ["h0", "l", "h"], ["h1"]), node("Mul", ["a", "h1"], ["h2"]), node("Div", ["h2", "six"], ["h3"])]
                        last = "h3"
                    if behind == "Pow":
                        constants |= {"p": np.array(3), "r": np.full((1, 1), 0.044715, np.float32), "v": np.float32(np.sqrt(2 / np.pi)), "one": np.full((1,), 1, np.float32), "half": np.full((1, 1), 0.5, np.float32)}
                        nodes += [node("Pow", ["a", "p"], ["p0"]), node("Mul", ["p0", "r"], ["p1"]), node("Add", ["a", "p1"], ["p2"]), node("Mul", ["p2", "v"], ["p3"]), node("Tanh", ["p3"], ["p4"]),
                                  node("Add", ["p4", "one"], ["p5"]), node("Mul", ["a", "p5"], ["p6"]), node("Mul", ["p6", "half"], ["p7"])]
                        last = "p7"
                    nodes += [node("QuantizeLinear", [last, "u", zero], ["r0"]), node("DequantizeLinear", ["r0", "u", zero], ["y"])]
                    at = f"{shape}, {'coded' if coded else 'f32'}, {behind}"
                    path = built(folder, "biases", nodes, constants, {"x": [1, 8, 14, 14] if image else [2, 4, 32]})
                    model, said, out = rewritten(path)
                    assert not said and sum(each.domain == "ai.lehr" for each in model.graph.node) == 1, (at, said)
                    assert operators(model).get("Add", 0) == 0, (at, operators(model))
                    feed = {"x": rng.standard_normal((1, 8, 14, 14) if image else (2, 4, 32)).astype(np.float32)}
                    want, got = session(path).run(None, feed)[0], session(out).run(None, feed)[0]
                    assert want.shape == got.shape and np.abs(want).max() > 0.5, at
                    assert np.abs(want - got).max() <= 1.01 * step, (at, np.abs(want - got).max())


def operators(model):
    """Counts how often each operator occurs; those of the plug-in's domain have a star. The Identity is the test's."""
    return dict(collections.Counter(node.op_type + "*" * (node.domain == "ai.lehr") for node in model.graph.node
                                    if node.op_type != "Identity"))


def narrow(folder):
    """Tests that images between matches in bf16 stay so: through nodes of the engine that move them, and the
    plug-in's own pools and sums. Casts are where f32 is read or made, and nowhere else."""
    g = make_models.Graph(SEED)
    x = g.relu(g.conv("input", 3, 8, 3))
    y = g.node("Concat", [g.relu(g.conv(x, 8, 8, 1)), g.relu(g.conv(x, 8, 4, 3))], axis=1)
    y = g.node("MaxPool", [y], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, ceil_mode=1)
    y = g.node("Add", [g.relu(g.conv(y, 12, 12, 3)), y])  # behind what is not linear: a residual
    z = g.node("Relu", [g.node("Add", [g.node("AveragePool", [y], kernel_shape=[2, 2], strides=[2, 2]),
                                       g.node("MaxPool", [y], kernel_shape=[2, 2], strides=[2, 2])])])
    z = g.conv(z, 12, 6, 3)
    first = g.node("Slice", [z] + [g.constant(np.array(each)) for each in ([0], [4], [1])])
    rows = g.node("Reshape", [first, g.constant(np.array([0, -1]))])
    y = g.node("MatMul", [rows, g.constant(g.random.standard_normal((4 * 3 * 4, 10)).astype(np.float32) * 0.02)])
    path = graph_of(g, os.path.join(folder, "narrow.onnx"), ["batch", 3, 12, 16], g.node("Softmax", [y]))
    compare(path, (1, 3), precision=("bf16",))
    model = rewritten(path, "bf16")[0]
    found = operators(model)
    assert found == {"Cast": 1, "FusedBf16*": 5, "Fused*": 1, "Concat": 1, "MaxPool*": 2, "AveragePool*": 1, "Add*": 1,
                     "Relu*": 1, "Slice": 1, "Reshape": 1, "Softmax": 1}, found
    # A value that a node of f32 reads as well is cast once: Softmax of an image that a convolution reads, too.
    g = make_models.Graph(SEED)
    x = g.relu(g.conv("input", 3, 8, 3))
    y = g.node("Add", [g.conv(g.relu(g.conv(x, 8, 8, 3)), 8, 8, 1), g.node("Softmax", [x])])
    path = graph_of(g, os.path.join(folder, "both.onnx"), ["batch", 3, 6, 6], g.node("Exp", [g.node("Mul", [y, x])]))
    compare(path, (1, 2), precision=("bf16",))
    found = operators(rewritten(path, "bf16")[0])
    assert found == {"Cast": 2, "FusedBf16*": 1, "Fused*": 2, "Softmax": 1, "Mul": 1, "Exp": 1}, found


def last(folder):
    """Tests that images have their channels last from one convolution to the next, through nodes that compute the
    same of them. They are transposed once before and behind."""
    g = make_models.Graph(SEED)
    x = g.relu(g.conv("input", 3, 8, 3))
    y = g.node("Concat", [g.relu(g.conv(x, 8, 8, 1)), g.node("Relu", [x])], axis=-3)
    y = g.node("Mul", [g.relu(g.conv(y, 16, 12, 3)), g.node("Sigmoid", [g.conv(g.node("GlobalAveragePool", [y]), 16, 12, 1)])])
    y = g.node("Add", [g.relu(g.conv(y, 12, 12, 3)), y])
    y = g.node("Exp", [g.node("LeakyRelu", [g.node("Sub", [y, g.constant(np.float32(0.5))])])])
    path = graph_of(g, os.path.join(folder, "last.onnx"), ["batch", 3, 12, 16], g.conv(y, 12, 6, 3))
    for precision in ((), ("bf16",)):
        compare(path, (1, 3), precision=precision, layout=("last",))
    found = operators(rewritten(path, "last")[0])
    # Two for each of the mean, the Exp, and the network's own ends.
    assert found == {"Transpose": 6, "Fused*": 6, "Relu": 1, "Concat": 1, "GlobalAveragePool": 1, "Mul": 1, "Exp": 1}, found


def rows(folder):
    """Tests nodes that compute row by row between products: masks that rows read in different ways, sums that are
    read again, statistics, and a region whose first output is read before the last of its nodes."""
    def norm(g, x, width, **attributes):
        gain, shift = (g.constant(g.random.standard_normal(width).astype(np.float32)) for _ in range(2))
        return g.node("LayerNormalization", [x, gain, shift], axis=-1, **attributes)

    def attention(g):
        x = g.node("Reshape", ["input", g.constant(np.array([2, 4, 24, 24]))])
        for shape in ((2, 1, 1, 24), (1, 1, 24, 24), (2, 4, 24, 1), (24,), (1, 4, 24, 24)):
            mask = g.node("Mul", ["input", g.constant(np.float32(2))])  # of the input, so that nothing is known beforehand
            mask = g.node("Reshape", [g.node("Slice", [g.node("Reshape", [mask, g.constant(np.array([-1]))]), g.constant(np.array([0])),
                                                       g.constant(np.array([int(np.prod(shape))]))]), g.constant(np.array(shape))])
            x = g.node("MatMul", [g.node("Softmax", [g.node("Add", [g.node("Mul", [x, g.constant(np.float32(0.2))]), mask])]), x])
        return x

    def residuals(g):
        x = g.node("Reshape", ["input", g.constant(np.array([48, 96]))])
        y = norm(g, x, 96)
        y = g.node("Add", [g.node("Neg", [g.linear(y, 96, 96)]), x])  # read here, and behind the next product
        z = norm(g, y, 96, epsilon=0.01)
        return g.node("Sub", [g.node("Exp", [g.node("Tanh", [g.linear(z, 96, 96)])]), y])

    def before(g):
        """Draws a region whose first output has a reader before its last node."""
        x = g.node("Reshape", ["input", g.constant(np.array([48, 96]))])
        first = g.node("Abs", [x])
        product = g.linear(first, 96, 96)
        second = g.node("Exp", [g.node("Neg", [first])])
        return g.node("Add", [g.node("Sqrt", [g.node("Abs", [product])]), second])

    def statistics(g):
        x = g.node("Reshape", ["input", g.constant(np.array([48, 96]))])
        mean = g.node("ReduceMean", [x], axes=[-1])
        off = g.node("Sub", [x, mean])
        root = g.node("Sqrt", [g.node("ReduceMean", [g.node("Pow", [off, g.constant(np.float32(2))])], axes=[1])])
        y = g.linear(g.node("Div", [off, root]), 96, 96)
        return g.node("Add", [g.node("Mul", [g.node("Exp", [g.node("Neg", [y])]), root]), mean])

    for make, fused in ((attention, 10), (residuals, 5), (before, 3), (statistics, 3)):
        g = make_models.Graph(SEED)
        path = graph_of(g, os.path.join(folder, make.__name__ + ".onnx"), [4608], make(g))
        for precision in ((), ("bf16",)):
            compare(path, (1,), precision=precision)
        model = rewritten(path)[0]
        found = operators(model)
        assert found["Fused*"] == fused, (make.__name__, found)
        made = {"input", *(each.name for each in model.graph.initializer)}
        for node in model.graph.node:
            assert made.issuperset(node.input), (make.__name__, node.name)
            made.update(node.output)


def run(lehr):
    global PROGRAM, PLUGIN
    PROGRAM, PLUGIN, folder = lehr.helper, os.path.abspath("engine/liblehr_onnxruntime.so"), os.path.abspath("networks")
    for each in ("engine", "networks"):  # onnx writes constants to no file of a name that the current folder has
        os.mkdir(each)
    shutil.copy(lehr.plugin, PLUGIN)
    shutil.copy(lehr.library, "engine/libkernels.so")
    branched.run(lambda *words: subprocess.run([PROGRAM, *words], check=True))
    narrow(folder)
    for make in (folds, numbers, signals, captured, external):
        compare(make(folder), (1, 3), precision=("bf16",))
    rows(folder)
    last(folder)
    for make in (folds, numbers, signals, captured, external):
        compare(make(folder), (1, 3))
        compare(make(folder), (1, 3), layout=("last",))
        compare(make(folder), (1,), precision=("bf16",), layout=("last",))
    for check in (sparse, overridable, hostile, gemms, shared, biases):
        check(folder)
        print(check.__name__)
    for name in ("tiny", "encoder"):
        inputs, build = make_models.MODELS[name]
        g = make_models.Graph(SEED)
        g.save(os.path.join(folder, name + ".onnx"), inputs, build(g))
        for precision in ((), ("bf16",)):
            compare(os.path.join(folder, name + ".onnx"), (1,), precision=precision)
    quantized(os.path.join(folder, "tiny.onnx"), folder)
    lights = sorted(glob.glob(lehr.packages + "/onnx/backend/test/data/light/*.onnx"))
    assert len(lights) == 9, lights
    for path in lights:
        if any(name in path for name in ("squeezenet", "shufflenet", "resnet50", "inception_v2")):
            compare(with_random_weights(path, folder), (1,))
