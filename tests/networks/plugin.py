"""plugin.py FOLDER: fused nodes, written by hand, compute what the engine's own operators compute. FOLDER holds
liblehr_onnxruntime.so and kernels/. With a second argument kernels/ is not to be of use, and the engine computes everything."""

import ctypes
import json
import sys
import threading

import numpy
import onnxruntime
from onnx import TensorProto, checker, helper, numpy_helper

folder = sys.argv[1]
has_kernels = len(sys.argv) == 2
plugin = folder + "/liblehr_onnxruntime.so"
counters = ctypes.CDLL(plugin)
for name in ("kernel_calls", "engine_calls", "prepacked_bytes"):
    getattr(counters, "lehr_onnxruntime_" + name).restype = ctypes.c_uint64
OPSET = 17
random = numpy.random.default_rng(1)


def tensor(*shape):
    return random.standard_normal(shape, dtype=numpy.float32)


def value(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


class Case:
    """A model of `nodes` over x (and r), and the one that has a fused node in their place."""

    def __init__(self, name, workload, nodes, shapes, output, constants, vary, threads=0):
        self.name, self.constants, self.shapes = name, constants, shapes
        inputs = list(shapes)
        self.variable = [one for one in inputs if one not in constants]
        plan = {
            "shapes": list(shapes.values()),
            "output": output,
            "vary": vary,
            "constant": [i for i, one in enumerate(inputs) if one in constants],
            "nodes": [],
        }
        names, plain = list(inputs), []
        for called, taken, attributes in nodes:
            domain, op = called.split(":") if ":" in called else ("", called)
            numbers = [{"constant": {"f": one}} if isinstance(one, float) else -1 if one == "" else names.index(one) for one in taken]
            written = {key: {"ints" if isinstance(a, list) else "s" if isinstance(a, str) else "f" if isinstance(a, float) else "i": a} for key, a in attributes.items()}
            plan["nodes"].append({"op": op, "domain": domain, "version": 1 if domain else OPSET, "inputs": numbers, "types": {"T": "f32", **({"I": "s64"} if op == "MaxPool" else {})}, "attributes": written})
            names.append(f"t{len(plain)}")
            literal = {f"literal{len(plain)}_{i}": one for i, one in enumerate(taken) if isinstance(one, float)}
            self.constants = {**self.constants, **{key: numpy.array(one, "f4") for key, one in literal.items()}}
            plain.append(helper.make_node(op, [f"literal{len(plain)}_{i}" if isinstance(one, float) else one for i, one in enumerate(taken)], [names[-1]], domain=domain, **attributes))
        plain[-1].output[0] = "y"
        self.plain = self.model(plain)
        more = {"threads": threads} if threads else {}
        fused = helper.make_node("Fused", inputs, ["y"], domain="ai.lehr", name="node_" + name, version=1, workload=workload, plan=json.dumps(plan), **more)
        self.fused = self.model([fused])

    def model(self, nodes):
        graph = helper.make_graph(
            nodes,
            self.name,
            [value(one, [None] * len(self.shapes[one])) for one in self.variable],
            [value("y", None)],
            [numpy_helper.from_array(data, key) for key, data in self.constants.items()],
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.lehr", 1), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()

    def session(self, model, threads):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.register_custom_ops_library(plugin)
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


FILTER, BIAS = tensor(16, 16, 3, 3), tensor(16)
CASES = [
    Case(
        "conv",
        "conv2d n=1 h=14 w=14 c=16 k=16 r=3 s=3 pad=1 epilogue=bias+relu",
        [("Conv", ["x", "f", "b"], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [1, 1], "dilations": [1, 1], "group": 1}), ("Relu", ["t0"], {})],
        {"x": [1, 16, 14, 14], "f": [16, 16, 3, 3], "b": [16]},
        [1, 16, 14, 14],
        {"f": FILTER, "b": BIAS},
        {"n": [[0, 0]], "h": [[0, 2]], "w": [[0, 3]]},
    ),
    Case(
        "residual",
        "conv2d n=1 h=14 w=14 c=16 k=16 r=3 s=3 pad=1 epilogue=bias+residual+relu",
        [("Conv", ["x", "f", "b"], {"auto_pad": "SAME_UPPER"}), ("Add", ["t0", "r"], {}), ("Clip", ["t1", 0.0, ""], {})],
        {"x": [1, 16, 14, 14], "f": [16, 16, 3, 3], "b": [16], "r": [1, 16, 14, 14]},
        [1, 16, 14, 14],
        {"f": FILTER, "b": BIAS},
        {"n": [[0, 0]], "h": [[0, 2]], "w": [[0, 3]]},
        threads=1,
    ),
    Case(
        "gemm",
        "gemm m=8 n=96 k=64 b=f32:column:constant epilogue=bias",
        [("Gemm", ["x", "w", "b"], {"transB": 1, "alpha": 1.0, "beta": 1.0})],
        {"x": [8, 64], "w": [96, 64], "b": [96]},
        [8, 96],
        {"w": tensor(96, 64), "b": tensor(96)},
        {"m": [[0, 0]]},
        threads=2,
    ),
    Case(
        "matmul",
        "gemm m=24 n=48 k=64 b=f32:row:constant",
        [("MatMul", ["x", "w"], {})],
        {"x": [2, 12, 64], "w": [64, 48]},
        [2, 12, 48],
        {"w": tensor(64, 48)},
        {"m": [[0, 0], [0, 1]]},
    ),
    Case(
        "conv1d",
        "conv2d n=1 h=1 w=64 c=8 k=16 r=1 s=5 stride=1x2 pad=0x0x2x2 epilogue=bias",
        [("Conv", ["x", "f", "b"], {"kernel_shape": [5], "pads": [2, 2], "strides": [2]})],
        {"x": [1, 8, 64], "f": [16, 8, 5], "b": [16]},
        [1, 16, 32],
        {"f": tensor(16, 8, 5), "b": tensor(16)},
        {"n": [[0, 0]], "w": [[0, 2]]},
    ),
    Case(
        "pool",  # a workload that no bundle has: the engine's operators, a last window that is not whole, and an intermediate
        "conv2d n=1 h=17 w=17 c=2 k=4 r=3 s=3 stride=2 epilogue=maxpool(3)",
        [
            ("Conv", ["x", "f"], {"strides": [2, 2]}),
            ("LeakyRelu", ["t0"], {"alpha": 1e-1}),
            ("MaxPool", ["t1"], {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
        ],
        {"x": [1, 2, 17, 17], "f": [4, 2, 3, 3]},
        [1, 4, 4, 4],
        {"f": tensor(4, 2, 3, 3)},
        {"n": [[0, 0]]},
    ),
]


def compare(case, session, feeds, wanted):
    """What answered."""
    before = counters.lehr_onnxruntime_kernel_calls()
    (y,) = session.run(None, feeds)
    assert y.shape == wanted.shape, (case.name, y.shape, wanted.shape)
    off = numpy.abs(y - wanted).max() / max(1e-9, numpy.ptp(wanted))
    assert off < 1e-4, (case.name, {key: data.shape for key, data in feeds.items()}, off)
    return counters.lehr_onnxruntime_kernel_calls() > before


def operators():
    """Each of the engine's operators that a plan may have, without the attributes that have defaults: nothing but they computes it."""
    image, signal, volume = [2, 4, 11, 13], [2, 4, 17], [1, 2, 5, 6, 7]
    yield "Conv", image, [[6, 4, 3, 3]], {}, 3
    yield "Conv", image, [[6, 2, 3, 2], [6]], {"group": 2, "dilations": [2, 1], "strides": [1, 2], "pads": [0, 1, 2, 0]}, 2
    for pad in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        yield "Conv", image, [[6, 4, 3, 2]], {"auto_pad": pad, "strides": [2, 3]}, 3
        yield "MaxPool", image, [], {"auto_pad": pad, "kernel_shape": [3, 2], "strides": [2, 3]}, 2
        yield "AveragePool", image, [], {"auto_pad": pad, "kernel_shape": [2, 3], "strides": [1, 2]}, 2
    yield "Conv", signal, [[5, 4, 3]], {"pads": [1, 1]}, 2
    yield "Conv", volume, [[3, 2, 2, 3, 2]], {"strides": [2, 1, 2]}, 4
    yield "com.microsoft:FusedConv", image, [[6, 4, 3, 3], [6]], {"activation": "Relu"}, 3
    yield "ConvTranspose", image, [[4, 3, 3, 3]], {}, 2
    yield "ConvTranspose", image, [[4, 3, 3, 2]], {"group": 2, "strides": [2, 3], "dilations": [1, 2], "pads": [1, 0, 0, 1], "output_padding": [1, 2]}, 2
    yield "MaxPool", image, [], {"kernel_shape": [2, 2]}, 2
    yield "MaxPool", image, [], {"kernel_shape": [3, 3], "strides": [2, 2], "dilations": [1, 2], "ceil_mode": 1}, 3
    yield "AveragePool", image, [], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "count_include_pad": 1}, 3
    yield "LpPool", image, [], {"kernel_shape": [2, 2]}, 3
    yield "GlobalMaxPool", image, [], {}, 2
    yield "GlobalAveragePool", image, [], {}, 3
    yield "Gemm", [5, 7], [[7, 6]], {}, 0
    yield "Gemm", [5, 7], [[6, 5], [6]], {"transA": 1, "transB": 1, "alpha": 0.5}, 1
    yield "MatMul", [3, 1, 5, 7], [[2, 7, 6]], {}, 2
    for op in ("Add", "Sub", "Mul", "Div", "PRelu"):
        yield op, image, [[4, 1, 1]], {}, 3
    yield "Pow", image, [[1]], {}, 3
    yield "BatchNormalization", image, [[4]] * 4, {}, 2
    yield "LayerNormalization", [2, 5, 8], [[8], [8]], {}, 1
    for op in "Relu LeakyRelu ThresholdedRelu Clip Elu Selu Celu Sigmoid HardSigmoid Tanh Erf Exp Log Sqrt Reciprocal Abs Neg Softplus Softsign".split():
        yield op, image, [], {}, 3
    for op in ("Gelu", "FastGelu", "QuickGelu"):
        yield "com.microsoft:" + op, image, [], {}, 3


def check_operators():
    for op, shape, more, attributes, dimension in operators():
        constants = {f"w{i}": numpy.abs(tensor(*one)) + numpy.float32(0.5) for i, one in enumerate(more)}
        shapes = {"x": shape, **{name: list(data.shape) for name, data in constants.items()}}
        nodes = [(op, list(shapes), attributes), ("Abs", ["t0"], {})]  # what is computed lies in memory of the plug-in first
        feeds = {"x": numpy.abs(tensor(*shape))}
        unknown = Case("engine", "unheard", nodes, shapes, [1], constants, {})
        (wanted,) = unknown.session(unknown.plain, 1).run(None, feeds)
        case = Case(op, "unheard", nodes, shapes, list(wanted.shape), constants, {})
        plain, fused = case.session(case.plain, 2), case.session(case.fused, 2)
        for size in (shape[dimension], shape[dimension] + 3):
            feeds = {"x": numpy.abs(tensor(*[size if i == dimension else other for i, other in enumerate(shape)]))}
            (wanted,) = plain.run(None, feeds)
            assert not compare(case, fused, feeds, wanted)


def check_auto_pad():
    """Of an image of 13 this pads all sides, of one of 14 the bottom and the right alone; the bundle has a kernel for 14 with all sides."""
    shapes, output = {"x": [1, 16, 13, 13], "f": [16, 16, 3, 3], "b": [16]}, [1, 16, 7, 7]
    nodes = [("Conv", ["x", "f", "b"], {"auto_pad": "SAME_UPPER", "strides": [2, 2]})]
    workload = "conv2d n=1 h=13 w=13 c=16 k=16 r=3 s=3 stride=2 pad=1 epilogue=bias"
    case = Case("auto_pad", workload, nodes, shapes, output, {"f": FILTER, "b": BIAS}, {"n": [[0, 0]], "h": [[0, 2]], "w": [[0, 3]]})
    plain, fused = case.session(case.plain, 1), case.session(case.fused, 1)
    for size in (13, 14):
        feeds = feeds_of(case, {2: size, 3: size})
        assert not compare(case, fused, feeds, plain.run(None, feeds)[0])


def feeds_of(case, changed):
    """`changed`: other sizes of dimensions of the image, and of what is as large."""
    shapes = {one: [changed.get(i, size) for i, size in enumerate(case.shapes[one])] for one in case.variable}
    return {one: tensor(*shape) for one, shape in shapes.items()}


def check(case, threads):
    plain, fused = case.session(case.plain, threads), case.session(case.fused, threads)
    changes = [({}, True), ({0: 3}, True), ({0: 2, len(case.shapes["x"]) - 1: case.shapes["x"][-1] + 5}, False)]
    if case.name in ("gemm", "matmul"):  # rows are put together where they are no fewer than a size
        changes = [({}, True), ({0: 2 * case.shapes["x"][0]}, True), ({0: 3}, case.name == "matmul" or None)]
    for changed, by_kernel in changes:
        feeds = feeds_of(case, changed)
        (wanted,) = plain.run(None, feeds)
        for _ in range(2):
            answered = compare(case, fused, feeds, wanted)
        expected = by_kernel and has_kernels and case.name != "pool"
        assert by_kernel is None or answered == expected, (case.name, changed, answered)


def check_at_once(case):
    """Two sessions, each from two threads, with shapes of their own."""
    sessions = [case.session(case.fused, 2) for _ in range(2)]
    plain = case.session(case.plain, 1)
    wrong = []

    def call(session, batch):
        feeds = feeds_of(case, {0: batch})
        (wanted,) = plain.run(None, feeds)
        try:
            for _ in range(50):
                compare(case, session, feeds, wanted)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=call, args=(session, batch)) for session in sessions for batch in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong


def refused(model, sentence):
    try:
        CASES[0].session(model, 1)
    except Exception as error:
        assert sentence in str(error), error
    else:
        raise AssertionError(f"accepted: {sentence}")


for case in CASES:
    for threads in (1, 2):
        check(case, threads)
check_operators()
check_auto_pad()
for case in CASES[:3]:
    check_at_once(case)
assert (counters.lehr_onnxruntime_prepacked_bytes() == 0) or has_kernels
session = CASES[2].session(CASES[2].fused, 1)
if has_kernels:
    try:
        session.run(None, {"x": tensor(8, 63)})
    except Exception as error:
        assert "node 'node_gemm': Gemm has matrices that do not go together" in str(error), error
    else:
        raise AssertionError("matrices that do not go together")
    refused(CASES[0].fused.replace(b'"nodes"', b'"knots"'), "node 'node_conv': its plan is none: it has no 'nodes'")
    refused(CASES[0].fused.replace(b'"shapes": [[1, 16', b'"shapes": [[1, 17'), "node 'node_conv': no kernel computes it (its kernel's tensors are not those of the plan), nor do its nodes: Conv has a filter for another number of channels")
    refused(CASES[0].fused.replace(b"[16, 16, 3, 3]", b"[16, 16, 3, 4]"), "its initializer 1 has another shape than its plan says")
print(f"onnxruntime {onnxruntime.__version__}: {counters.lehr_onnxruntime_kernel_calls()} calls by kernels, {counters.lehr_onnxruntime_engine_calls()} by the engine")
