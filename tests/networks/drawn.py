"""Tests random networks with constants over twelve orders of magnitude, masks, ids and quantized exports. Matches
that are counted are replaced, a written network is held to the original at five scales of inputs, and a fault is
planted in a kernel of each."""

import json
import os
import re

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from networks import test_seed, with_kernels

SCALES = {"0.01": 0.01, "1": 1.0, "30": 30.0, "1000": 1000.0, "images": None}
TOLERANCE = 1e-4  # of an output's range
OWN = 8  # times what the original differs from itself


class Network:
    """A random graph. Every value has its shape beside it."""

    def __init__(self, seed):
        self.rng, self.of_sizes = np.random.default_rng(seed), np.random.default_rng(seed + 1)
        self.stated, self.others = {}, {}  # sizes that the file leaves open, by name
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []
        self.shared = {}
        self.count = 0
        self.step = 0  # of a quantized output
        self.amplified = 0  # what a softmax of huge numbers makes of rounding
        kind = self.pick("image", "image", "matrix", "tokens", "masked", "masked", "quantized", "quantized")
        if kind == "quantized":
            value, shape = self.quantized()
        elif kind == "masked":
            value, shape = self.attention()
        else:
            value, shape = self.begin(kind)
            for _ in range(self.rng.integers(1, 4)):
                value, shape = self.layer(value, shape)
        self.finish(*self.hide(value, shape))

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def open(self, shape, names):
        """Returns a shape in which some of the named dimensions are open."""
        result = list(shape)
        for i, name in enumerate(names):
            if name and self.of_sizes.random() < 0.5:
                self.stated[name], result[i] = shape[i], name
        self.others = {name: size + int(self.of_sizes.integers(1, 3)) for name, size in self.stated.items()}
        kept = len(self.others) > 1 and self.of_sizes.choice(list(self.others))
        if kept:  # one alone may differ
            self.others[kept] = self.stated[kept]
        return result

    def dims(self, sizes=None):
        """Returns the flags for open dimensions."""
        return "".join(f" --dim {name}={size}" for name, size in (self.stated if sizes is None else sizes).items())

    def number(self):
        """Draws a number over twelve orders of magnitude, or one that exporters write."""
        if self.rng.random() < 0.4:
            return np.float32(self.pick(0, 1, -1, 0.5, 3, 6, 1 / 6, 255))
        return np.float32(10 ** self.rng.uniform(-6, 6) * self.pick(1, 1, -1))

    def constant(self, values, dtype="f4"):
        name = f"k{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def weights(self, *shape):
        """Draws weights, at times those of an earlier layer."""
        if shape in self.shared and self.rng.random() < 0.5:
            return self.shared[shape]
        fan = np.prod(shape[1:]) if len(shape) == 4 else shape[0]
        self.shared[shape] = self.constant(self.rng.standard_normal(shape) / np.sqrt(fan))
        return self.shared[shape]

    def add(self, op, *inputs, **attributes):
        self.count += 1
        name = f"v{self.count}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def begin(self, kind):
        if kind == "image":
            shape = (self.pick(1, 2), self.pick(3, 8, 16), *self.pick((8, 8), (12, 10), (17, 9)))
        elif kind == "matrix":
            shape = (self.pick(1, 5, 16), self.pick(16, 33, 64))
        else:
            rows, words, width = self.pick(2, 7, 50), self.pick(4, 12), self.pick(16, 32)
            self.inputs.append(helper.make_tensor_value_info("ids", TensorProto.INT64, self.open((1, words), ("batch", "words"))))
            ids = "ids"
            if self.rng.random() < 0.5:
                ids = self.add("Cast", ids, to=TensorProto.INT32)
            if self.rng.random() < 0.3:
                ids = self.add("Clip", ids, self.constant(0, "i4" if ids != "ids" else "i8"),
                               self.constant(rows - 1, "i4" if ids != "ids" else "i8"))
            table = self.constant(self.rng.standard_normal((rows, width)))
            self.ids = rows
            return self.add("Gather", table, ids), (1, words, width)
        self.inputs.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, self.open(shape, ("batch", "", "height", "width")[:len(shape)])))
        return "x", shape

    def attention(self):
        """Adds attention as exporters write it: a mask of whole or real numbers whose zeros add something very low
        to the scores."""
        words, width = self.pick(6, 8), self.pick(16, 32)
        self.ids = 50
        sizes = self.open((1, words), ("batch", "words"))
        ints = helper.make_tensor_value_info("ids", TensorProto.INT64, sizes)
        kind = self.pick(TensorProto.INT64, TensorProto.INT32, TensorProto.FLOAT, TensorProto.BOOL)
        self.inputs += [ints, helper.make_tensor_value_info("mask", kind, sizes)]
        x = self.add("Gather", self.constant(self.rng.standard_normal((self.ids, width))), "ids")
        q, k, v = (self.add("MatMul", x, self.weights(width, width)) for _ in range(3))
        scores = self.add("MatMul", q, self.add("Transpose", k, perm=[0, 2, 1]))
        scores = self.add("Mul", scores, self.constant(self.pick(1, 0.2, 1e4)))
        wide = self.add("Unsqueeze", "mask", self.constant([1], "i8"))
        real = wide if kind == TensorProto.FLOAT else self.add("Cast", wide, to=TensorProto.FLOAT)
        low = self.constant(self.pick(np.finfo("f4").min, -10000))
        hidden = self.add("Mul", self.add("Sub", self.constant(1), real), low)
        weights = self.add("Softmax", self.add("Add", scores, hidden), axis=-1)
        value = self.add("Add", self.add("MatMul", weights, v), x)
        return self.add("MatMul", value, self.weights(width, width)), (1, words, width)

    def coded(self, value, scale, style):
        """Adds QuantizeLinear and DequantizeLinear. Without a zero point the type is s8 as an attribute says it."""
        zero = [self.constant(self.pick(128, 0, 3), "u1")] if style == "u8" else []
        more = {} if zero else {"output_dtype": TensorProto.INT8}
        return self.add("DequantizeLinear", self.add("QuantizeLinear", value, scale, *zero, **more), scale, *zero)

    def coded_weights(self, shape, channels):
        """Adds quantized weights. `channels`: the axis with a scale for each, as the operator reads them."""
        wholes, scales = self.rng.integers(-127, 128, shape), self.rng.uniform(0.002, 0.01, shape[channels])
        style = self.pick("coded", "quantized here", "transposed")
        if style == "transposed" and len(shape) == 2:
            coded = self.add("DequantizeLinear", self.constant(wholes.T, "i1"), self.constant(scales), axis=1 - channels)
            return self.add("Transpose", coded, perm=[1, 0])
        if style == "coded":
            return self.add("DequantizeLinear", self.constant(wholes, "i1"), self.constant(scales), axis=channels)
        spread = scales.reshape([-1 if i == channels else 1 for i in range(len(shape))])
        scale, zero = self.constant(scales), self.constant(np.zeros(shape[channels]), "i1")
        whole = self.add("QuantizeLinear", self.constant(wholes * spread * 0.999), scale, zero, axis=channels)
        return self.add("DequantizeLinear", whole, scale, zero, axis=channels)

    def quantized(self):
        image, style = self.rng.random() < 0.6, self.pick("u8", "u8", "s8")
        shape = (1, 8, 10, 9) if image else (5, 32)
        self.inputs.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, self.open(shape, ("batch", "", "height", "width")[:len(shape)])))
        value = self.coded("x", self.constant(0.03), style)
        for _ in range(self.rng.integers(1, 4)):
            columns = self.pick(8, 16, 24)
            if image:
                value = self.add("Conv", value, self.coded_weights((columns, shape[1], 3, 3), 0), pads=[1] * 4)
                shape = (1, columns, *shape[2:])
            else:
                value = self.add("MatMul", value, self.coded_weights((shape[1], columns), 1))
                shape = (shape[0], columns)
            if self.rng.random() < 0.5:
                bias = self.rng.standard_normal(self.pick((columns, 1, 1), (1, columns, 1, 1)) if image else self.pick((columns,), (1, columns)))
                value = self.add("Add", value, self.constant(bias))
            if self.rng.random() < 0.5:
                value = self.add("Relu", value)
            self.step = self.pick(0.02, 0.05, 0.1)
            value = self.coded(value, self.constant(self.step), style)
        return value, shape

    def hide(self, value, shape):
        """Hides at times, behind an operator, what a layer computes, or how large it is."""
        kind = self.rng.integers(6)
        if kind > 2 or len(shape) == 4:
            return value, shape
        if kind == 0:
            value = self.add("Softmax", self.add("Mul", value, self.constant(1e4)), axis=-1)
            self.amplified = 0.02
        elif kind == 1:
            value = self.add("Mul", value, self.add("Sigmoid", self.constant(np.full(shape[-1], -200))))
        else:
            ones = self.constant(np.ones(shape[-1]))
            value = self.add("LayerNormalization", value, ones, axis=-1, epsilon=1e-9)
        self.step = 0
        return value, shape

    def layer(self, value, shape):
        before, before_shape = value, shape
        if len(shape) == 4:
            value, shape = self.convolution(value, shape)
        else:
            columns = shape[-1] if self.rng.random() < 0.5 else self.pick(8, 24, 40)
            value = self.add("MatMul", value, self.weights(shape[-1], columns))
            shape = (*shape[:-1], columns)
            if self.rng.random() < 0.5:
                value = self.add("Add", value, self.constant(self.rng.standard_normal(columns)))
        if self.rng.random() < 0.3:
            value = self.add(self.pick("Mul", "Add", "Sub", "Div"), value, self.constant(self.rng.standard_normal() + 2.5))
        if before_shape == shape and self.rng.random() < 0.3:
            value = self.add("Add", value, before)
        value = self.activation(value, shape)
        if len(shape) == 4 and min(shape[2:]) >= 4 and self.rng.random() < 0.25:
            op = self.pick("MaxPool", "AveragePool")
            value = self.add(op, value, kernel_shape=[2, 2], strides=[2, 2])
            shape = (*shape[:2], shape[2] // 2, shape[3] // 2)
        return value, shape

    def convolution(self, value, shape):
        channels = shape[1] if self.rng.random() < 0.4 else self.pick(4, 8, 16, 20)
        size = self.pick(1, 3, 3)
        inputs = [value, self.weights(channels, shape[1], size, size)]
        if self.rng.random() < 0.5:
            inputs.append(self.constant(self.rng.standard_normal(channels)))
        value = self.add("Conv", *inputs, pads=[size // 2] * 4)
        if self.rng.random() < 0.3:
            scale, bias, mean = (self.constant(self.rng.standard_normal(channels)) for _ in range(3))
            value = self.add("BatchNormalization", value, scale, bias, mean,
                             self.constant(self.rng.uniform(0.1, 2, channels)))
        return value, (shape[0], channels, *shape[2:])

    def activation(self, x, shape):
        kind = self.rng.integers(12)
        number = lambda: self.constant(self.number())
        if kind == 0:
            return self.add("Relu", x)
        if kind == 1:
            return self.add("LeakyRelu", x, alpha=float(self.pick(0.1, abs(self.number()))))
        if kind in (2, 3):
            low, high = sorted((self.number(), self.number()))
            bounds = self.pick((low, high), (low, None), (None, high), (0, high))
            clipped = self.add("Clip", x, *("" if each is None else self.constant(np.float32(each)) for each in bounds))
            return self.show(clipped, bounds[0], shape)
        if kind == 4:
            bound = self.number()
            return self.show(self.add("Max", x, self.constant(bound)), bound, shape)
        if kind == 5:
            return self.add("Min", self.add("Relu", x), number())
        if kind == 6:
            return self.add("Max", x, self.add("Mul", x, number()))
        if kind == 7:
            return self.add("Mul", x, self.add("HardSigmoid", x, alpha=float(self.pick(1 / 6, 0.2)), beta=0.5))
        if kind == 8:
            inner = self.add("Clip", x, self.constant(np.float32(-50)), self.constant(np.float32(50)))
            return self.add("Relu", inner) if self.rng.random() < 0.5 else self.add("Mul", x, self.add("Sigmoid", inner))
        if kind == 9:
            return self.add("Mul", x, self.add("Sigmoid", x))
        if kind == 10:
            half = self.constant(np.float32(0.5))
            erf = self.add("Erf", self.add("Div", x, self.constant(np.float32(np.sqrt(2)))))
            return self.add("Mul", self.add("Mul", x, self.add("Add", erf, self.constant(np.float32(1)))), half)
        return x

    def show(self, value, low, shape):
        """Adds at times an output that becomes infinite where a bound is lost."""
        if low is not None and low > 0 and self.rng.random() < 0.7:
            self.outputs.append((self.add(self.pick("Log", "Reciprocal", "Sqrt"), value), shape))
        return value

    def finish(self, value, shape):
        self.outputs.append((self.add("Identity", value), shape))
        if self.rng.random() < 0.3:
            self.outputs.append((self.add("ReduceMax", value, self.constant([-1], "i8"), keepdims=0), shape[:-1]))

    def model(self):
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * len(shape) if self.stated else shape) for name, shape in self.outputs]
        graph = helper.make_graph(self.nodes, "drill", self.inputs, outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        onnx.checker.check_model(model)
        return model


def session(path, plugin=None, optimized=True):
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    if not optimized:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    if plugin and os.path.exists(plugin):
        options.register_custom_ops_library(plugin)
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def inputs_at(network, scale, rng, sizes=None):
    feed = {}
    for value in network.inputs:
        shape = [(sizes or network.stated)[dim.dim_param] if dim.dim_param else dim.dim_value for dim in value.type.tensor_type.shape.dim]
        if value.name == "mask":
            kind = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            feed["mask"] = (np.arange(shape[1]) < rng.integers(2, shape[1] + 1, (shape[0], 1))).astype(kind)
        elif value.name == "ids":
            feed["ids"] = rng.integers(0, network.ids, shape)
        elif scale is None:
            feed[value.name] = rng.integers(0, 256, shape).astype("f4")
        else:
            feed[value.name] = (rng.standard_normal(shape) * scale).astype("f4")
    return feed


def differences(wanted, got):
    """Returns, for each output, the largest distance of finite elements, and whether elements that are not finite differ."""
    result = []
    for one, other in zip(wanted, got):
        one, other = np.asarray(one, "f8"), np.asarray(other, "f8")
        finite = np.isfinite(one) & np.isfinite(other)
        elsewhere = not np.array_equal(one[~finite], other[~finite], equal_nan=True)
        result.append((np.abs(one - other)[finite].max() if finite.any() else 0.0, elsewhere))
    return result


def nudged(value, rng):
    """Rounds real numbers in another way: no kernel is to blame for what an ill-conditioned network makes of that."""
    return (value * (1 + rng.choice((-1e-7, 1e-7), value.shape))).astype("f4") if value.dtype == np.float32 else value


def nudged_constants(original, rng):
    """Returns the network with constants that are rounded in another way: far below zero GELU's 1 + erf(x) is
    rounding alone."""
    model = onnx.load(original)
    for each in model.graph.initializer:
        each.CopyFrom(numpy_helper.from_array(nudged(numpy_helper.to_array(each), rng), each.name))
    path = original + ".nudged"
    onnx.save(model, path)
    return path


def compare(network, original, folder, rng):
    """Returns sentences about what is wrong, and whether the network itself is that exact."""
    first, plain = session(original), session(original, optimized=False)
    rounded = session(nudged_constants(original, rng), optimized=False)  # which would see the 1 of a GELU in 1.0000001
    other = session(folder + "/model.onnx", os.path.abspath(folder + "/liblehr_onnxruntime.so"))
    wrong, exact = [], True
    cases = [(called, scale, network.stated) for called, scale in SCALES.items()]
    cases += [("1, other sizes", 1, network.others)] if network.others != network.stated else []
    for called, scale, sizes in cases:
        feed = inputs_at(network, scale, rng, sizes)
        wanted = first.run(None, feed)
        moved = {name: nudged(value, rng) for name, value in feed.items()}
        own = [differences(wanted, each) for each in (plain.run(None, feed), first.run(None, moved), rounded.run(None, feed))]
        for i, (worst, elsewhere) in enumerate(differences(wanted, other.run(None, feed))):
            finite = np.abs(wanted[i][np.isfinite(wanted[i])])
            tolerance = max(TOLERANCE * (finite.max() if finite.size else 0), 3.1 * network.step)
            of_itself = max(each[i][0] for each in own)
            exact = exact and of_itself <= tolerance and not network.amplified
            allowed = max(tolerance, OWN * of_itself, network.amplified)
            excused = any(each[i][1] for each in own)
            if worst > allowed or (elsewhere and not excused):
                wrong.append(f"output {i} at scale {called}: {worst:.3g}, allowed {allowed:.3g}, other places: {elsewhere}")
    return wrong, exact


def values_of(path, names, feeds, plugin=None):
    """Returns, for each feed, a network's values of these names, in f64."""
    model = onnx.load(path)
    graph = with_kernels(model)
    if graph is not model.graph:
        for kind in ("node", "initializer"):
            del getattr(model.graph, kind)[:]
            getattr(model.graph, kind).extend(getattr(graph, kind))
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    onnx.save(model, path + ".values")
    runner = session(path + ".values", plugin)
    return [[np.asarray(each, "f8") for each in runner.run(None, feed)] for feed in feeds]


def shows(values):
    """Returns whether a value that was computed for several inputs follows these."""
    return any(np.isfinite(each).any() for each in values) and any(not np.array_equal(each, values[0], equal_nan=True) for each in values)


def plant(folder, rng):
    """Plants another filter in one kernel of a rewritten network. Returns its names in the original and here, and
    whether its channels are last; None where there is no kernel."""
    model = onnx.load(folder + "/model.onnx")
    graph = with_kernels(model)
    kernels = [node for node in graph.node if node.op_type.startswith("Fused") and node.domain == "ai.lehr"]
    constants = {each.name: each for each in graph.initializer}
    kernels = [node for node in kernels if node.input[1] in constants]
    if not kernels:
        return None
    node = kernels[rng.integers(len(kernels))]
    filter_ = numpy_helper.to_array(constants[node.input[1]])
    way = rng.integers(3)
    other = np.roll(filter_, 1, axis=0) if way == 0 else filter_[::-1] if way == 1 else (filter_ // 2 if filter_.dtype == np.int8 else filter_ * 2)
    planted = numpy_helper.from_array(np.ascontiguousarray(other.astype(filter_.dtype)), "planted")
    graph.initializer.append(planted)
    node.input[1] = "planted"
    os.mkdir(folder + ".planted")
    for each in os.listdir(folder):
        if each not in ("model.onnx", "model.constants"):
            os.symlink(os.path.join("..", os.path.basename(folder), each), os.path.join(folder + ".planted", each))
    onnx.save(model, folder + ".planted/model.onnx")
    workload = next(each.s for each in node.attribute if each.name == "workload")
    return node.name, node.output[0], b"layout=nhwc" in workload


class Drill:
    """Networks that are tuned into one log and take their kernels from one bundle."""

    def __init__(self, lehr, seeds):
        self.lehr, self.places, self.verified, self.planted, self.open = lehr, 0, 0, 0, 0
        networks = {seed: Network(seed) for seed in seeds}
        for seed, network in networks.items():
            onnx.save(network.model(), f"{seed}.onnx")
            lehr.tune(f"--model {seed}.onnx{network.dims()} --quiet", limit="--trials 1")
        self.bundle = f"bundle{seeds[0]}"
        lehr.export(self.bundle)
        for i, (seed, network) in enumerate(networks.items()):
            self.apply(seed, network, i % 2 == 0)

    def apply(self, seed, network, with_engine):
        tasks = json.loads(self.lehr(f"model {seed}.onnx{network.dims()} --device cpu --json"))["tasks"]
        counted = sum(len(each["places"]) for each in tasks if each["families"])  # and tuned
        self.lehr(f"apply {seed}.onnx{network.dims()} --threads 1 --bundle {self.bundle} --out {seed} --no-engine", f"^{counted} of [0-9]+ convolutions and products by kernels")
        wrong, exact = compare(network, f"{seed}.onnx", str(seed), np.random.default_rng(seed))
        assert not wrong, (seed, wrong)
        feeds = [inputs_at(network, scale, np.random.default_rng(seed)) for scale in SCALES.values()]
        if with_engine and exact:  # lehr verify knows of no rounding but the engine's
            self.verify(seed, network, feeds)
        self.find_planted(seed, network, feeds)
        self.places += sum(node.op_type.startswith("Fused") for node in with_kernels(onnx.load(f"{seed}/model.onnx")).node)
        self.open += network.stated != {}

    def verify(self, seed, network, feeds):
        """Verifies that the network is right, or that it names kernels whose outputs follow no input."""
        code, said = self.lehr.ended(f"verify {seed}.onnx{network.dims()} --threads 1 --out {seed}")
        self.verified += 1
        if code == 0:
            return
        named = re.findall(r"'([^']*)': it (?:is the same|has no finite)", said)
        blind = code == 4 and named and not any(map(shows, zip(*values_of(f"{seed}.onnx", named, feeds))))
        assert blind, (seed, code, said)

    def find_planted(self, seed, network, feeds):
        """Checks that a fault which changes what a kernel computes is found, whatever the network hides."""
        planted = plant(str(seed), np.random.default_rng(seed))
        if planted is None:
            return
        name, made, last = planted
        wanted = values_of(f"{seed}.onnx", [name], feeds)
        got = values_of(f"{seed}.planted/model.onnx", [made], feeds, os.path.abspath(f"{seed}/liblehr_onnxruntime.so"))
        changed = 0
        for (one,), (other,) in zip(wanted, got):
            other = np.moveaxis(other, -1, 1) if last else other
            finite = np.isfinite(one) & np.isfinite(other)
            if finite.any():
                changed = max(changed, np.abs(one - other)[finite].max() / max(np.abs(one[finite]).max(), 1e-30))
        if changed < 0.1:
            return
        self.planted += 1
        code, said = self.lehr.ended(f"verify {seed}.onnx{network.dims()} --threads 1 --out {seed}.planted")
        assert code == 4, f"network {seed}: '{name}' is {changed:.2g} of its range off, and lehr verify ends with {code}: {said}"


def run(lehr, first="555000"):
    first = int(first) if "LEHR_TEST_SEED" not in os.environ else test_seed(0)
    count = int(os.environ.get("LEHR_TEST_CONFIGS", 4))
    drills = [Drill(lehr, range(begin, min(begin + 10, first + count))) for begin in range(first, first + count, 10)]
    places, verified, planted, opened = (sum(getattr(drill, what) for drill in drills) for what in ("places", "verified", "planted", "open"))
    print(f"{count} networks from {first} on, {opened} with open sizes: {places} places by kernels, {verified} verified, {planted} faults planted and found")
    assert places > 0 and planted > 0 and verified > 0
