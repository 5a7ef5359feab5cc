"""Tests that fused nodes, written by hand, compute what the engine's own operators compute: in f32, bf16 and
integers, with kernels that were tuned for a moment. All numbers are whole, so that every sum is exact."""

import ctypes
import threading

import ml_dtypes
import numpy
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

random = numpy.random.default_rng(1)
TYPES = {"f32": numpy.float32, "bf16": ml_dtypes.bfloat16, "u8": numpy.uint8, "s8": numpy.int8, "s32": numpy.int32}
OPERATORS = {"f32": "Fused", "bf16": "FusedBf16", "u8": "FusedU8", "s8": "FusedS8"}
PLUGIN = "fused/liblehr_onnxruntime.so"
IMAGE = "conv2d --h 14 --w 14 --c 16 --k 16 --r 3 --pad 1"
WORKLOADS = (IMAGE + " --epilogue bias+relu --threads 2", IMAGE + " --epilogue bias+residual+relu --threads 1",
             "gemm --m 8 --n 96 --k 64 --b f32:column:constant --epilogue bias --threads 2",
             "gemm --m 1..24 --n 48 --k 64 --b f32:row:constant --threads 1",
             "conv2d --h 1 --w 64 --c 8 --k 16 --r 1 --s 5 --stride 1x2 --pad 0x2 --epilogue bias --threads 1",
             IMAGE + " --dtype u8 --zero input --y u8 --epilogue bias+dequant+relu+quant --threads 1",
             IMAGE + " --dtype bf16 --epilogue bias+residual+relu --threads 1",
             "gemm --m 8 --n 96 --k 64 --a u8 --b s8:column:constant --zero input --epilogue bias+dequant --threads 1",
             "gemm --m 8 --n 96 --k 64 --a bf16 --b bf16:column:constant --c f32 --epilogue bias --threads 2")


def counter(name):
    function = getattr(ctypes.CDLL(PLUGIN), "lehr_onnxruntime_" + name)
    function.restype = ctypes.c_uint64
    return function()


def session(nodes, inputs, constants, made="f32", threads=1):
    """Returns a session. Inputs and outputs in bf16 are f32 for numpy, and cast at both ends."""
    nodes = [helper.make_node("Cast", ["f32_" + name], [name], to=TensorProto.BFLOAT16) for name, kind in inputs.items() if kind == "bf16"] + nodes
    if made == "bf16":
        nodes.append(helper.make_node("Cast", ["y"], ["f32_y"], to=TensorProto.FLOAT))
    told = lambda name, kind: helper.make_tensor_value_info("f32_" + name if kind == "bf16" else name, helper.np_dtype_to_tensor_dtype(numpy.dtype(TYPES["f32" if kind == "bf16" else kind])), None)
    graph = helper.make_graph(nodes, "fused", [told(*one) for one in inputs.items()], [told("y", made)], [numpy_helper.from_array(data, name) for name, data in constants.items()])
    opsets = [helper.make_opsetid(domain, version) for domain, version in (("", 17), ("ai.lehr", 1), ("com.microsoft", 1))]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    options.add_session_config_entry("session.x64quantprecision", "1")  # no sums in 16 bits
    options.register_custom_ops_library(PLUGIN)
    return onnxruntime.InferenceSession(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(model, inputs, feeds):
    return model.run(None, {"f32_" + name if inputs[name] == "bf16" else name: data.astype(TYPES["f32"]) if inputs[name] == "bf16" else data for name, data in feeds.items()})[0]


def values(kind, shape):
    """Returns values. Filters have 7 bits: the sum of two of their products fits into 16 bits."""
    low, high = {"u8": (0, 256), "s8": (-64, 64), "s32": (-5000, 5000)}.get(kind, (-4, 5))
    return random.integers(low, high, size=shape).astype(TYPES[kind])


def node(op, inputs, output, domain="", **attributes):
    return helper.make_node(op, inputs, [output], domain=domain, **attributes)


def cast(name, output, to="f32"):
    return node("Cast", [name], output, to=TensorProto.BFLOAT16 if to == "bf16" else TensorProto.FLOAT)


class Case:
    """A fused node, and nodes of the engine, `plain`, that compute the same. `inputs`: type and shape of each, in
    the workload's order. Inputs in `constants` are initializers; `plain` may read further constants. `output`: the
    shape. A 0 in its first dimension and in that of the first input means any size."""

    def __init__(self, workload, inputs, constants, plain, output, made="f32", threads=1):
        self.workload, self.inputs, self.constants, self.plain = workload, inputs, constants, plain
        self.output, self.made, self.threads = output, made, threads
        self.variable = {one: kind for one, (kind, _) in inputs.items() if one not in constants}

    def feeds(self, batch):
        return {one: values(kind, [batch, *self.inputs[one][1][1:]]) for one, kind in self.variable.items()}

    def unfused(self):
        return session(self.plain, self.variable, self.constants, self.made)

    def fused(self, threads=1, **changes):
        shapes = [number for _, shape in self.inputs.values() for number in (len(shape), *shape)]
        attributes = {"version": 4, "library": "kernels", "workload": self.workload, "threads": self.threads, "shapes": shapes, "output_shapes": [len(self.output), *self.output], **changes}
        made = helper.make_node(OPERATORS[self.made], list(self.inputs), ["y"], domain="ai.lehr", name="a_node", **attributes)
        return session([made], self.variable, {one: data for one, data in self.constants.items() if one in self.inputs}, self.made, threads)

    def expect_right(self, plain, fused, batch):
        feeds = self.feeds(batch)
        wanted = run(plain, self.variable, feeds)
        for _ in range(2):
            y = run(fused, self.variable, feeds)
            assert y.dtype == wanted.dtype and numpy.array_equal(y, wanted), (self.workload, batch, y.shape, wanted.shape)

    def check(self):
        sizes = (1, 2) if self.output[0] == 0 else (self.output[0],)
        plain = self.unfused()
        for threads in (1, 2):
            fused = self.fused(threads)
            for size in sizes:
                before = counter("kernel_calls")
                self.expect_right(plain, fused, size)
                assert counter("kernel_calls") == before + 2
            refused(lambda: run(fused, self.variable, self.feeds(3 * max(sizes))), "node 'a_node': its input")


def refused(call, sentence):
    try:
        call()
    except Exception as error:
        assert sentence in str(error), error
    else:
        raise AssertionError(f"accepted: {sentence}")


def single(kind, number):
    return numpy.array(number, TYPES[kind])


FILTER, BIAS = values("f32", [16, 16, 3, 3]), values("f32", [16])
SCALES = numpy.array([0.01 + 0.001 * i for i in range(16)], "f4")
MORE_SCALES = numpy.array([0.01 + 0.0001 * i for i in range(96)], "f4")
# The factor of QLinearConv's sums, as the engine computes it in f32.
X_SCALE, Y_SCALE = numpy.float32(0.05), numpy.float32(0.75)
PADS = {"pads": [1, 1, 1, 1]}
IMAGES = [1, 16, 14, 14]
CASES = [
    Case("conv2d n=1 h=14 w=14 c=16 k=16 r=3 s=3 pad=1 epilogue=bias+relu", {"x": ("f32", IMAGES), "f": ("f32", [16, 16, 3, 3]), "b": ("f32", [16])},
         {"f": FILTER, "b": BIAS}, [node("Conv", ["x", "f", "b"], "t", **PADS), node("Relu", ["t"], "y")], IMAGES, threads=2),
    Case("conv2d n=1 h=14 w=14 c=16 k=16 r=3 s=3 pad=1 epilogue=bias+residual+relu",
         {"x": ("f32", IMAGES), "f": ("f32", [16, 16, 3, 3]), "b": ("f32", [16]), "r": ("f32", IMAGES)}, {"f": FILTER, "b": BIAS},
         [node("Conv", ["x", "f", "b"], "t", **PADS), node("Add", ["t", "r"], "u"), node("Relu", ["u"], "y")], IMAGES),
    Case("gemm m=8 n=96 k=64 b=f32:column:constant epilogue=bias", {"x": ("f32", [8, 64]), "w": ("f32", [96, 64]), "b": ("f32", [96])},
         {"w": values("f32", [96, 64]), "b": values("f32", [96])}, [node("Gemm", ["x", "w", "b"], "y", transB=1)], [8, 96], threads=2),
    Case("gemm m=1..24 n=48 k=64 b=f32:row:constant", {"x": ("f32", [0, 12, 64]), "w": ("f32", [64, 48])}, {"w": values("f32", [64, 48])},
         [node("MatMul", ["x", "w"], "y")], [0, 12, 48]),
    Case("conv2d n=1 h=1 w=64 c=8 k=16 r=1 s=5 stride=1x2 pad=0x0x2x2 epilogue=bias", {"x": ("f32", [1, 8, 64]), "f": ("f32", [16, 8, 5]), "b": ("f32", [16])},
         {"f": values("f32", [16, 8, 5]), "b": values("f32", [16])}, [node("Conv", ["x", "f", "b"], "y", pads=[2, 2], strides=[2])], [1, 16, 32]),
    Case("conv2d n=1 h=14 w=14 c=16 k=16 r=3 s=3 pad=1 x=u8 f=s8 y=u8 accum=s32 epilogue=bias+dequant+relu+quant zero=input",
         {"x": ("u8", IMAGES), "f": ("s8", [16, 16, 3, 3]), "x_zero": ("u8", []), "b": ("s32", [16]), "d": ("f32", [16]), "q": ("f32", []), "z": ("u8", [])},
         {"f": values("s8", [16, 16, 3, 3]), "x_zero": single("u8", 117), "b": values("s32", [16]), "d": X_SCALE * SCALES / Y_SCALE, "q": single("f32", 1),
          "z": single("u8", 0), "x_scale": X_SCALE, "scales": SCALES, "zeros": numpy.zeros(16, "i1"), "y_scale": Y_SCALE},
         [node("QLinearConv", ["x", "x_scale", "x_zero", "f", "scales", "zeros", "y_scale", "z", "b"], "y", **PADS)], IMAGES, "u8"),
    Case("conv2d n=1 h=14 w=14 c=16 k=16 r=3 s=3 pad=1 x=bf16 f=bf16 y=bf16 epilogue=bias+residual+relu",
         {"x": ("bf16", IMAGES), "f": ("bf16", [16, 16, 3, 3]), "b": ("bf16", [16]), "r": ("bf16", IMAGES)}, {"f": FILTER.astype(TYPES["bf16"]), "b": BIAS.astype(TYPES["bf16"])},
         [*(cast(one, one + "1") for one in "xfbr"), node("Conv", ["x1", "f1", "b1"], "t", **PADS), node("Add", ["t", "r1"], "u"), node("Relu", ["u"], "v"), cast("v", "y", "bf16")], IMAGES, "bf16"),
    Case("gemm m=8 n=96 k=64 a=u8 b=s8:column:constant c=f32 accum=s32 epilogue=bias+dequant zero=input",
         {"x": ("u8", [8, 64]), "w": ("s8", [96, 64]), "x_zero": ("u8", []), "b": ("s32", [96]), "d": ("f32", [96])},
         {"w": values("s8", [96, 64]), "x_zero": single("u8", 117), "b": values("s32", [96]), "d": X_SCALE * MORE_SCALES, "x_scale": X_SCALE, "scales": MORE_SCALES, "zeros": numpy.zeros(96, "i1")},
         [node("QGemm", ["x", "x_scale", "x_zero", "w", "scales", "zeros", "b"], "y", "com.microsoft", transB=1)], [8, 96]),
    Case("gemm m=8 n=96 k=64 a=bf16 b=bf16:column:constant c=f32 epilogue=bias", {"x": ("bf16", [8, 64]), "w": ("bf16", [96, 64]), "b": ("f32", [96])},
         {"w": values("bf16", [96, 64]), "b": values("f32", [96])}, [cast("x", "x1"), cast("w", "w1"), node("Gemm", ["x1", "w1", "b"], "y", transB=1)], [8, 96], threads=2),
]


def check_at_once(case):
    """Tests two sessions, each from two threads."""
    plain, sessions, wrong = case.unfused(), [case.fused(2) for _ in range(2)], []

    def call(fused):
        try:
            for _ in range(50):
                case.expect_right(plain, fused, 1)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=call, args=(fused,)) for fused in sessions * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong


def check():
    for case in CASES:
        case.check()
    for case in (CASES[0], CASES[3]):
        check_at_once(case)
    case = CASES[0]
    kept = case.fused()
    assert counter("prepacked_bytes") > 0
    del kept
    assert counter("prepacked_bytes") == 0
    refused(lambda: case.fused(version=2), "node 'a_node': it is of version 2, and this plug-in knows 4")
    refused(lambda: case.fused(library="others"), "node 'a_node': its kernels cannot be loaded: ")
    refused(lambda: case.fused(workload="conv2d n=1 h=9 w=9 c=9 k=9 r=3 s=3"), "libkernels.so: the library has no kernel for ")
    print(f"onnxruntime {onnxruntime.__version__}: {counter('kernel_calls')} calls")
