"""typed.py FOLDER: fused nodes of bf16 and integers, written by hand, compute the very numbers that the engine's own operators compute,
and so do the plug-in's operators between them. Arguments as of plugin.py."""

import ctypes
import json
import sys

import ml_dtypes
import numpy
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]
has_kernels = len(sys.argv) == 2
plugin = folder + "/liblehr_onnxruntime.so"
counters = ctypes.CDLL(plugin)
counters.lehr_onnxruntime_kernel_calls.restype = ctypes.c_uint64
random = numpy.random.default_rng(1)
TYPES = {"f32": numpy.float32, "bf16": ml_dtypes.bfloat16, "u8": numpy.uint8, "s8": numpy.int8, "s32": numpy.int32}
OPERATORS = {"f32": "Fused", "bf16": "FusedBf16", "u8": "FusedU8", "s8": "FusedS8"}


def session(nodes, inputs, constants, made="f32", opset=17, threads=1):
    """A model; those of bf16 are f32 for numpy's sake: cast where they come and go."""
    nodes = [helper.make_node("Cast", ["f32_" + name], [name], to=TensorProto.BFLOAT16) for name, kind in inputs.items() if kind == "bf16"] + nodes
    if made == "bf16":
        nodes.append(helper.make_node("Cast", ["y"], ["f32_y"], to=TensorProto.FLOAT))
    told = lambda name, kind: helper.make_tensor_value_info("f32_" + name if kind == "bf16" else name, helper.np_dtype_to_tensor_dtype(numpy.dtype(TYPES["f32" if kind == "bf16" else kind])), None)
    graph = helper.make_graph(nodes, "typed", [told(*one) for one in inputs.items()], [told("y", made)], [numpy_helper.from_array(data, name) for name, data in constants.items()])
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.lehr", 1), helper.make_opsetid("com.microsoft", 1)]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.x64quantprecision", "1")  # no sums in 16 bits
    options.register_custom_ops_library(plugin)
    return onnxruntime.InferenceSession(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(model, inputs, feeds):
    return model.run(None, {"f32_" + name if inputs[name] == "bf16" else name: data.astype(TYPES["f32"]) if inputs[name] == "bf16" else data for name, data in feeds.items()})[0]


def values(kind, shape):
    """Whole numbers, whose sums f32 has exactly; filters of 7 bits, whose sums of two 16 bits have."""
    low, high = {"u8": (0, 256), "s8": (-64, 64), "s32": (-5000, 5000)}.get(kind, (-4, 5))
    return random.integers(low, high, size=shape).astype(TYPES[kind])


class Case:
    """`inputs`: type and shape of each, in a workload's order; `constants` those of them that are initializers. `nodes` as plugin.py has
    them, with types and what they make: (operator, [name | (type, number or list of any dimensions)], types, attributes, made)."""

    def __init__(self, name, workload, inputs, constants, nodes, vary, made, opset=17):
        self.inputs, self.constants, self.made, self.opset = inputs, constants, made, opset
        self.variable = {one: kind for one, (kind, _) in inputs.items() if one not in constants}
        names, self.nodes, self.small, self.plain = list(inputs), [], {}, []
        for called, taken, types, attributes, makes in nodes:
            domain, op = called.split(":") if ":" in called else ("", called)
            numbers, inits = [], []
            for one in taken:
                literal = f"literal{len(self.plain)}_{len(inits)}"
                inits.append(literal if isinstance(one, tuple) else one)
                if isinstance(one, tuple):
                    array = self.small[literal] = numpy.array(one[1], TYPES[one[0]])
                    kind = one[0] if one[0] != "f32" else "f" if array.ndim == 0 else "floats"
                    numbers.append({"constant": {kind: array.flatten().tolist() if array.ndim else one[1]}, **({"shape": array.shape} if array.ndim > 1 else {})})
                else:
                    numbers.append(names.index(one) if one else -1)
            written = {key: {"ints" if isinstance(a, list) else "i": a} for key, a in attributes.items()}
            node = {"op": op, "domain": domain, "version": 1 if domain else opset, "inputs": numbers, "types": types, "attributes": written}
            self.nodes.append({**node, **({} if makes == "f32" else {"makes": makes})})
            self.plain.append(helper.make_node(op, inits, [f"t{len(self.plain)}"], domain=domain, **attributes))
            names.append(f"t{len(self.plain) - 1}")
        self.plain[-1].output[0] = "y"
        self.workload, self.name, self.vary = workload, name, vary

    def feeds(self, changed):
        return {one: values(kind, [changed.get(i, size) for i, size in enumerate(self.inputs[one][1])]) for one, kind in self.variable.items()}

    def unfused(self, threads=1):
        return session(self.plain, self.variable, {**self.constants, **self.small}, self.made, self.opset, threads)

    def fused(self, output, changed=(), threads=1, made=None):
        plan = {
            "shapes": [shape for _, shape in self.inputs.values()],
            "types": [kind for kind, _ in self.inputs.values()],
            "output": output,
            "makes": self.made,
            "vary": self.vary,
            "constant": [i for i, one in enumerate(self.inputs) if one in self.constants],
            "nodes": self.nodes,
            **dict(changed),
        }
        node = helper.make_node(OPERATORS[made or self.made], list(self.inputs), ["y"], domain="ai.lehr", name="node_" + self.name, version=2, workload=self.workload, plan=json.dumps(plan))
        return session([node], self.variable, self.constants, made or self.made, self.opset, threads)

    def check(self, sizes):
        """`sizes`: other sizes of dimensions, and whether a kernel answers."""
        for threads in (1, 2):
            plain = self.unfused(threads)
            fused = self.fused(list(run(plain, self.variable, self.feeds({})).shape), threads=threads)
            for changed, by_kernel in sizes:
                feeds = self.feeds(changed)
                wanted = run(plain, self.variable, feeds)
                for _ in range(2):
                    before = counters.lehr_onnxruntime_kernel_calls()
                    y = run(fused, self.variable, feeds)
                    assert y.dtype == wanted.dtype and numpy.array_equal(y, wanted), (self.name, changed, y.shape, wanted.shape, numpy.abs(y.astype("f8") - wanted).max())
                    assert (counters.lehr_onnxruntime_kernel_calls() > before) == (by_kernel and has_kernels), (self.name, changed)


SCALES = [0.01 + 0.001 * i for i in range(16)]
MORE_SCALES = [0.01 + 0.0001 * i for i in range(96)]


def single(kind, number):
    return numpy.array(number, TYPES[kind])


# What QLinearConv multiplies its sums by, as the engine does it in f32.
X_SCALE, Y_SCALE = numpy.float32(0.05), numpy.float32(0.75)
CONV = Case(
    "quantized",
    "conv2d n=1 h=14 w=14 c=16 k=16 r=3 s=3 pad=1 x=u8 f=s8 y=u8 accum=s32 epilogue=bias+dequant+relu+quant zero=input",
    {"x": ("u8", [1, 16, 14, 14]), "f": ("s8", [16, 16, 3, 3]), "x_zero": ("u8", []), "b": ("s32", [16]), "d": ("f32", [16]), "q": ("f32", []), "z": ("u8", [])},
    {
        "f": values("s8", [16, 16, 3, 3]),
        "x_zero": single("u8", 117),
        "b": values("s32", [16]),
        "d": X_SCALE * numpy.array(SCALES, "f4") / Y_SCALE,
        "q": single("f32", 1),
        "z": single("u8", 0),
    },
    [("QLinearConv", ["x", ("f32", float(X_SCALE)), "x_zero", "f", ("f32", SCALES), ("s8", [0] * 16), ("f32", float(Y_SCALE)), "z", "b"], {"T1": "u8", "T2": "s8", "T3": "u8", "T4": "s32"}, {"pads": [1, 1, 1, 1]}, "u8")],
    {"n": [[0, 0]], "h": [[0, 2]], "w": [[0, 3]]},
    "u8",
)


def cast(name, to):
    return ("Cast", [name], {"T1": "f32" if to == "bf16" else "bf16", "T2": to}, {"to": TensorProto.BFLOAT16 if to == "bf16" else TensorProto.FLOAT}, to)


BF16_CONV = Case(
    "bf16",
    "conv2d n=1 h=14 w=14 c=16 k=16 r=3 s=3 pad=1 x=bf16 f=bf16 y=bf16 epilogue=bias+residual+relu",
    {"x": ("bf16", [1, 16, 14, 14]), "f": ("bf16", [16, 16, 3, 3]), "b": ("bf16", [16]), "r": ("bf16", [1, 16, 14, 14])},
    {"f": values("bf16", [16, 16, 3, 3]), "b": values("bf16", [16])},
    [cast(one, "f32") for one in "xfbr"]
    + [("Conv", ["t0", "t1", "t2"], {"T": "f32"}, {"pads": [1, 1, 1, 1]}, "f32"), ("Add", ["t4", "t3"], {"T": "f32"}, {}, "f32"), ("Relu", ["t5"], {"T": "f32"}, {}, "f32"), cast("t6", "bf16")],
    {"n": [[0, 0]], "h": [[0, 2]], "w": [[0, 3]]},
    "bf16",
)
GEMM = Case(
    "gemm",
    "gemm m=8 n=96 k=64 a=u8 b=s8:column:constant c=f32 accum=s32 epilogue=bias+dequant zero=input",
    {"x": ("u8", [8, 64]), "w": ("s8", [96, 64]), "x_zero": ("u8", []), "b": ("s32", [96]), "d": ("f32", [96])},
    {"w": values("s8", [96, 64]), "x_zero": single("u8", 117), "b": values("s32", [96]), "d": X_SCALE * numpy.array(MORE_SCALES, "f4")},
    [("com.microsoft:QGemm", ["x", ("f32", float(X_SCALE)), "x_zero", "w", ("f32", MORE_SCALES), ("s8", [0] * 96), "b"], {"T": "f32", "TA": "u8", "TB": "s8", "TC": "s32", "TY": "f32"}, {"transB": 1}, "f32")],
    {"m": [[0, 0]]},
    "f32",
)
BF16_GEMM = Case(
    "bf16_gemm",
    "gemm m=8 n=96 k=64 a=bf16 b=bf16:column:constant c=f32 epilogue=bias",
    {"x": ("bf16", [8, 64]), "w": ("bf16", [96, 64]), "b": ("f32", [96])},
    {"w": values("bf16", [96, 64]), "b": values("f32", [96])},
    [cast("x", "f32"), cast("w", "f32"), ("Gemm", ["t0", "t1", "b"], {"T": "f32"}, {"transB": 1}, "f32")],
    {"m": [[0, 0]]},
    "f32",
)


def operators(opset):
    """The engine's operators of integers, each followed by another one: what it computes lies in memory of the plug-in."""
    dequantize = {"T": "u8"} if opset < 19 else {"T1": "u8", "T2": "f32"}
    quantize = {"T1": "f32", "T2": "u8"} if opset < 23 else {"T1": "f32", "T2": "f32", "T3": "u8"}
    scale, zero = ("f32", 0.25), ("u8", 117)
    last = ("DequantizeLinear", ["t0", scale, zero], dequantize, {}, "f32")
    image, filters = {"x": ("u8", [1, 4, 9, 9])}, {"f": ("s8", [6, 2, 3, 3])}
    conv = {"T1": "u8", "T2": "s8", "T3": "u8", "T4": "s32"}
    yield image | filters, [("QLinearConv", ["x", scale, zero, "f", ("f32", 0.5), ("s8", 0), ("f32", 2.0), zero], conv, {"group": 2, "strides": [2, 1]}, "u8"), last], 2
    yield image, [("MaxPool", ["x"], {"T": "u8", "I": "s64"}, {"kernel_shape": [3, 3], "strides": [2, 2]}, "u8"), last], 3
    yield {"x": ("u8", [2, 5, 8]), "w": ("s8", [8, 7])}, [("QLinearMatMul", ["x", scale, zero, "w", ("f32", 0.5), ("s8", 0), ("f32", 2.0), zero], {"T1": "u8", "T2": "s8", "T3": "u8"}, {}, "u8"), last], 1
    gemm = {"T": "f32", "TA": "u8", "TB": "s8", "TC": "s32", "TYZ": "u8", "TY": "u8"}
    yield {"x": ("u8", [5, 8]), "w": ("s8", [7, 8]), "b": ("s32", [7])}, [("com.microsoft:QGemm", ["x", scale, zero, "w", ("f32", 0.5), ("s8", 0), "b", ("f32", 2.0), zero], gemm, {"transB": 1}, "u8"), last], 0
    yield {"x": ("u8", [2, 5, 8]), "r": ("u8", [5, 1])}, [("com.microsoft:QLinearAdd", ["x", scale, zero, "r", ("f32", 0.5), ("u8", 3), ("f32", 0.75), zero], {"T": "u8"}, {}, "u8"), last], 0
    whole = {key: "s8" if one == "u8" else one for key, one in dequantize.items()}
    reals = ("Add", ["t0", ("f32", [[[0.5]], [[1.5]], [[-2]], [[4]]])], {"T": "f32"}, {}, "f32")
    coded = [("DequantizeLinear", [("s8", [[[[1]], [[2]], [[-3]], [[5]]]]), ("f32", 0.5), ("s8", 0)], whole, {}, "f32"), ("Mul", ["t0", "t1"], {"T": "f32"}, {}, "f32")]
    for behind in ([reals], coded):
        yield image, [("DequantizeLinear", ["x", scale, zero], dequantize, {}, "f32"), *behind], 3
    yield image, [("DequantizeLinear", ["x", scale, zero], dequantize, {}, "f32"), ("Sqrt", ["t0"], {"T": "f32"}, {}, "f32"), ("QuantizeLinear", ["t1", ("f32", 0.01), zero], quantize, {}, "u8")], 2
    yield filters, [("DequantizeLinear", ["f", ("f32", [0.5, 0.25]), ("s8", [1, 2])], {key: "s8" if one == "u8" else one for key, one in dequantize.items()}, {"axis": 1}, "f32"), ("Abs", ["t0"], {"T": "f32"}, {}, "f32")], 2


def check_operators():
    for opset in (13, 17, 21):
        for inputs, nodes, dimension in operators(opset):
            size = list(inputs.values())[0][1][dimension]
            case = Case(nodes[0][0], "unheard", inputs, {one: values(*inputs[one]) for one in inputs if one in "wbr"}, nodes, {}, nodes[-1][4], opset)
            case.check([({}, False), ({dimension: size + 3}, False)] if list(case.variable) == ["x"] else [({}, False)])


def check_refusals():
    def refused(case, sentence, changed=(), made=None):
        try:
            case.fused([1, 16, 14, 14], changed, made=made)
        except Exception as error:
            assert sentence in str(error), error
        else:
            raise AssertionError(f"accepted: {sentence}")

    types = [kind for kind, _ in CONV.inputs.values()]
    refused(CONV, "its operator makes s8, and its plan u8", made="s8")
    refused(CONV, "its input 0 is of u8, and its plan says s8", {"types": ["s8"] + types[1:]})
    refused(CONV, "its plan is none: its 'types' are not as many as its 'shapes'", {"types": types + ["f32"]})
    refused(CONV, "its plan is none: a tensor has an unknown type", {"types": ["u7"] + types[1:]})
    refused(CONV, "its plan is none: its last node makes another type than it", {"makes": "s8"})
    node = CONV.nodes[0]
    for constant, sentence in (
        ({"u8": 256}, "a constant is out of its type's range"),
        ({"s8": [0, -129]}, "a constant is out of its type's range"),
        ({"u8": 0.5}, "a whole number of a node is none"),
        ({"u8": []}, "a list of a node is empty"),
        ({"s16": 1}, "a constant's type is none of f, floats, i, ints, u8, s8 and s32"),
    ):
        refused(CONV, sentence, {"nodes": [{**node, "inputs": node["inputs"][:5] + [{"constant": constant}] + node["inputs"][6:]}]})


def rounded(x):
    return x.astype(ml_dtypes.bfloat16).astype("f4")


def with_specials(shape):
    x = rounded(random.standard_normal(shape).astype("f4"))
    flat = x.reshape(-1)
    for special in (numpy.nan, -numpy.nan, numpy.inf, -numpy.inf, -0.0):
        flat[random.integers(0, flat.size, 1 + flat.size // 500)] = special
    return x


def windows(x, attributes, reduce):
    """Each window of a pool over the last two dimensions; what lies around the image is no number of it."""
    kernel, strides, pads, dilations = (attributes.get(name, otherwise) for name, otherwise in (("kernel_shape", None), ("strides", [1, 1]), ("pads", [0] * 4), ("dilations", [1, 1])))
    size = [(x.shape[2 + i] + pads[i] + pads[2 + i] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1 for i in (0, 1)]
    y = numpy.empty([*x.shape[:2], *size], "f4")
    for i, j in numpy.ndindex(*size):
        rows, columns = ([k for k in (at * strides[d] - pads[d] + tap * dilations[d] for tap in range(kernel[d])) if 0 <= k < x.shape[2 + d]] for d, at in ((0, i), (1, j)))
        y[:, :, i, j] = reduce(x[:, :, rows][:, :, :, columns], kernel[0] * kernel[1])
    return y


def largest(taken, _):
    return taken.max(axis=(2, 3))


def mean(taken, _):
    return taken.mean(axis=(2, 3), dtype="f4")


def mean_with_pads(taken, size):
    return taken.sum(axis=(2, 3), dtype="f4") / numpy.float32(size)


def between():
    """The plug-in's own operators: operator, shapes, attributes, and what they compute; a sum of f32 may be added up in any order, so means
    are of whole numbers."""
    for shape in ([2, 3, 9, 11], [1, 40, 33, 50], [1, 2, 5, 200]):
        for attributes in (
            {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]},
            {"kernel_shape": [2, 2], "strides": [2, 2]},
            {"kernel_shape": [5, 5], "pads": [2, 2, 2, 2]},
            {"kernel_shape": [3, 2], "strides": [3, 4], "pads": [1, 0, 2, 1], "dilations": [1, 2]},
        ):
            yield "MaxPool", [shape], attributes, lambda x, a=attributes: windows(x, a, largest)
            if "dilations" not in attributes:
                yield "AveragePool", [shape], attributes, lambda x, a=attributes: windows(x, a, mean)
                yield "AveragePool", [shape], {**attributes, "count_include_pad": 1}, lambda x, a=attributes: windows(x, a, mean_with_pads)
    for upper in (True, False):
        pads = [0, 0, 1, 1] if upper else [1, 1, 0, 0]
        yield "MaxPool", [[1, 3, 10, 12]], {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER" if upper else "SAME_LOWER"}, lambda x, p=pads: windows(x, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": p}, largest)
    yield "MaxPool", [[1, 3, 10, 12]], {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}, lambda x: windows(x, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [0, 0, 1, 1]}, largest)
    yield "MaxPool", [[2, 3, 40]], {"kernel_shape": [3], "strides": [2]}, lambda x: windows(x[:, :, None], {"kernel_shape": [1, 3], "strides": [1, 2]}, largest)[:, :, 0]
    yield "GlobalAveragePool", [[2, 300, 7, 7]], {}, lambda x: x.mean(axis=(2, 3), dtype="f4", keepdims=True)
    for shapes in ([[2, 3, 64, 515]] * 2, [[2, 3, 4, 5], [3, 1, 1]], [[3, 1, 1], [2, 3, 4, 50]], [[2, 1, 4, 1], [3, 1, 51]], [[7], []]):
        yield "Add", shapes, {}, lambda a, b: a + b
    yield "Relu", [[50, 1301]], {}, lambda x: numpy.where(numpy.isnan(x), x, numpy.maximum(x, 0))


def check_between():
    for op, shapes, attributes, compute in between():
        inputs = {f"x{i}": "bf16" for i in range(len(shapes))}
        feeds = {one: rounded(values("f32", shape)) if "Average" in op else with_specials(shape) for one, shape in zip(inputs, shapes)}
        with numpy.errstate(invalid="ignore"):  # sums of inf and -inf
            wanted = rounded(compute(*feeds.values()))
        for threads in (1, 2):
            y = run(session([helper.make_node(op, list(inputs), ["y"], domain="ai.lehr", **attributes)], inputs, {}, "bf16", threads=threads), inputs, feeds)
            assert y.shape == wanted.shape and numpy.array_equal(y, wanted, equal_nan=True), (op, shapes, attributes)


def check_passing():
    """The engine passes tensors of bf16 on."""
    x, axes = with_specials([2, 3, 4, 5]), {"shape": numpy.array([4, 12, 5]), "axis": numpy.array([1])}
    nodes = [("Identity", ["x"], {}), ("Concat", ["t0", "t0"], {"axis": 0}), ("Flatten", ["t1"], {"axis": 2}), ("Transpose", ["t2"], {"perm": [1, 0]}), ("Unsqueeze", ["t3", "axis"], {}), ("Squeeze", ["t4", "axis"], {}), ("Reshape", ["t5", "shape"], {})]
    made = [helper.make_node(op, taken, [f"t{i}" if i + 1 < len(nodes) else "y"], **attributes) for i, (op, taken, attributes) in enumerate(nodes)]
    y = run(session(made, {"x": "bf16"}, axes, "bf16"), {"x": "bf16"}, {"x": x})
    assert numpy.array_equal(y, numpy.concatenate([x, x]).reshape(12, 20).T.reshape(4, 12, 5), equal_nan=True)


for case in (CONV, BF16_CONV):
    case.check([({}, True), ({0: 3}, True), ({0: 2, 3: 19}, False)])
for case in (GEMM, BF16_GEMM):
    case.check([({}, True), ({0: 16}, True)])
check_operators()
check_refusals()
check_between()
check_passing()
print(f"onnxruntime {onnxruntime.__version__}: {counters.lehr_onnxruntime_kernel_calls()} calls by kernels")
