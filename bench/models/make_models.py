"""Writes networks with seeded random weights as ONNX files, for benchmarks and tests: no weights need to be
fetched, and a fault in a filter's order shows. Structures are those of the papers named at each function.

    python3 make_models.py --out DIR [name ...]
"""

import argparse
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """Nodes and initializers in order; every method returns the name of the value that it makes."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.initializers = [], []
        self.channels = {}

    def constant(self, array, name=None):
        name = name or f"w{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op, inputs, **attributes):
        output = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], name=f"{op}_{len(self.nodes)}", **attributes))
        return output

    def conv(self, x, c, k, r, stride=1, group=1, gain=1.0):
        shape = (k, c // group, r, r)
        filters = self.random.standard_normal(shape) * gain * np.sqrt(2 / np.prod(shape[1:]))
        inputs = [x, self.constant(filters.astype(np.float32)),
                  self.constant((self.random.standard_normal(k) * 0.1).astype(np.float32))]
        return self.node("Conv", inputs, kernel_shape=[r, r], strides=[stride] * 2, pads=[r // 2] * 4, group=group)

    def linear(self, x, c, k):
        w = self.constant((self.random.standard_normal((c, k)) / np.sqrt(c)).astype(np.float32))
        b = self.constant((self.random.standard_normal(k) * 0.1).astype(np.float32))
        return self.node("Add", [self.node("MatMul", [x, w]), b])

    def head(self, x, c, classes=1000):
        flat = self.node("Flatten", [self.node("GlobalAveragePool", [x])])
        w = self.constant((self.random.standard_normal((classes, c)) / np.sqrt(c)).astype(np.float32))
        b = self.constant((self.random.standard_normal(classes) * 0.1).astype(np.float32))
        return self.node("Gemm", [flat, w, b], transB=1)

    def relu(self, x):
        return self.node("Relu", [x])

    def max_pool(self, x, r, stride, pad=0):
        return self.node("MaxPool", [x], kernel_shape=[r, r], strides=[stride] * 2, pads=[pad] * 4)

    def save(self, path, inputs, output):
        values = [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in inputs]
        self.nodes.append(helper.make_node("Identity", [output], ["output"]))
        graph = helper.make_graph(self.nodes, os.path.splitext(os.path.basename(path))[0], values,
                                  [helper.make_tensor_value_info("output", TensorProto.FLOAT, None)],
                                  self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="make_models")
        model.ir_version = 8
        onnx.save(model, path)


def image(size, channels=3):
    return [("input", TensorProto.FLOAT, ["batch", channels, size, size])]


def resnet(g, bottleneck, depths):
    """https://arxiv.org/abs/1512.03385, table 1, batch normalization folded."""
    x, c = g.max_pool(g.relu(g.conv("input", 3, 64, 7, 2)), 3, 2, 1), 64
    for stage, depth in enumerate(depths):
        width = 64 << stage
        out = width * (4 if bottleneck else 1)
        for block in range(depth):
            stride = 2 if stage > 0 and block == 0 else 1
            short = x if c == out and stride == 1 else g.conv(x, c, out, 1, stride)
            if bottleneck:
                y = g.relu(g.conv(x, c, width, 1))
                y = g.relu(g.conv(y, width, width, 3, stride))
                y = g.conv(y, width, out, 1, gain=0.5)  # residuals add up
            else:
                y = g.conv(g.relu(g.conv(x, c, width, 3, stride)), width, width, 3, gain=0.5)
            x, c = g.relu(g.node("Add", [y, short])), out
    return g.head(x, c)


def mobilenet_v2(g):
    """https://arxiv.org/abs/1801.04381, table 2."""
    low, high = (g.constant(np.float32(value)) for value in (0, 6))
    relu6 = lambda x: g.node("Clip", [x, low, high])
    x, c = relu6(g.conv("input", 3, 32, 3, 2)), 32
    for t, out, n, s in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                         (6, 320, 1, 1)]:
        for i in range(n):
            y = x if t == 1 else relu6(g.conv(x, c, c * t, 1))
            y = relu6(g.conv(y, c * t, c * t, 3, s if i == 0 else 1, group=c * t))
            y = g.conv(y, c * t, out, 1)
            x = g.node("Add", [x, y]) if c == out and (s == 1 or i > 0) else y
            c = out
    return g.head(relu6(g.conv(x, c, 1280, 1)), 1280)


def vgg11(g):
    """https://arxiv.org/abs/1409.1556, table 1, A, with a global pool in front of one linear layer."""
    x, c = "input", 3
    for layer in [64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0]:
        x, c = (g.relu(g.conv(x, c, layer, 3)), layer) if layer else (g.max_pool(x, 2, 2), c)
    return g.head(x, c)


def squeezenet(g):
    """https://arxiv.org/abs/1602.07360, version 1.1."""
    x, c = g.max_pool(g.relu(g.conv("input", 3, 64, 3, 2)), 3, 2), 64
    for i, (s, e) in enumerate([(16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256)]):
        squeezed = g.relu(g.conv(x, c, s, 1))
        x = g.node("Concat", [g.relu(g.conv(squeezed, s, e, 1)), g.relu(g.conv(squeezed, s, e, 3))], axis=1)
        c = 2 * e
        if i in (1, 3):
            x = g.max_pool(x, 3, 2)
    x = g.relu(g.conv(x, c, 1000, 1))
    return g.node("Flatten", [g.node("GlobalAveragePool", [x])])


def encoder(g, layers=4, width=256, heads=4, length=128):
    """https://arxiv.org/abs/1810.04805's encoder, four layers of width 256, on embedded tokens."""
    half, one, root = (g.constant(np.float32(v)) for v in (0.5, 1, np.sqrt(2)))

    def normalized(x):
        gain = g.constant((1 + 0.1 * g.random.standard_normal(width)).astype(np.float32))
        shift = g.constant((0.1 * g.random.standard_normal(width)).astype(np.float32))
        return g.node("LayerNormalization", [x, gain, shift], axis=-1)

    x = "input"
    for _ in range(layers):
        x = normalized(g.node("Add", [attention(g, x, width, heads, length), x]))
        y = g.linear(x, width, 4 * width)
        gelu = g.node("Mul", [g.node("Mul", [y, g.node("Add", [g.node("Erf", [g.node("Div", [y, root])]), one])]), half])
        x = normalized(g.node("Add", [g.linear(gelu, 4 * width, width), x]))
    return x


def attention(g, x, width, heads, length, mask=None):
    shape = lambda *sizes: g.constant(np.array(sizes, np.int64))
    scale = g.constant(np.float32(1 / np.sqrt(width // heads)))
    split = lambda y: g.node("Transpose", [g.node("Reshape", [y, shape(0, length, heads, width // heads)])],
                             perm=[0, 2, 1, 3])
    q, k, v = (split(g.linear(x, width, width)) for _ in range(3))
    scores = g.node("Mul", [g.node("MatMul", [q, g.node("Transpose", [k], perm=[0, 1, 3, 2])]), scale])
    if mask:
        scores = g.node("Add", [scores, mask])
    mixed = g.node("MatMul", [g.node("Softmax", [scores], axis=-1), v])
    mixed = g.node("Reshape", [g.node("Transpose", [mixed], perm=[0, 2, 1, 3]), shape(0, length, width)])
    return g.linear(mixed, width, width)


def masked_encoder(g, layers=6, width=384, heads=12, length=128):
    """https://arxiv.org/abs/2002.10957's encoder of six layers, with a mask of the positions without a token.
    Normalizations and GELU are written as by exporters that have no node for these."""
    two, tiny, half, one, root = (g.constant(np.float32(v)) for v in (2, 1e-12, 0.5, 1, np.sqrt(2)))

    def normalized(x):
        gain = g.constant((1 + 0.1 * g.random.standard_normal(width)).astype(np.float32))
        shift = g.constant((0.1 * g.random.standard_normal(width)).astype(np.float32))
        off = g.node("Sub", [x, g.node("ReduceMean", [x], axes=[-1])])
        spread = g.node("ReduceMean", [g.node("Pow", [off, two])], axes=[-1])
        off = g.node("Div", [off, g.node("Sqrt", [g.node("Add", [spread, tiny])])])
        return g.node("Add", [g.node("Mul", [off, gain]), shift])

    mask = g.node("Mul", [g.node("Sub", [one, "mask"]), g.constant(np.float32(-10000))])
    x = normalized("input")
    for _ in range(layers):
        x = normalized(g.node("Add", [attention(g, x, width, heads, length, mask), x]))
        y = g.linear(x, width, 4 * width)
        gelu = g.node("Mul", [g.node("Mul", [y, g.node("Add", [g.node("Erf", [g.node("Div", [y, root])]), one])]), half])
        x = normalized(g.node("Add", [g.linear(gelu, 4 * width, width), x]))
    return x


def gated(g, layers=4, width=512, heads=8, length=128):
    """https://arxiv.org/abs/2302.13971's blocks without the turned positions: root mean squares, a causal mask, a gate of SiLU."""
    two, tiny, one = (g.constant(np.float32(v)) for v in (2, 1e-6, 1))
    mask = g.constant(np.triu(np.full((1, 1, length, length), -1e9, np.float32), 1))

    def normalized(x):
        spread = g.node("ReduceMean", [g.node("Pow", [x, two])], axes=[-1])
        scaled = g.node("Mul", [x, g.node("Div", [one, g.node("Sqrt", [g.node("Add", [spread, tiny])])])])
        return g.node("Mul", [scaled, g.constant((1 + 0.1 * g.random.standard_normal(width)).astype(np.float32))])

    x = "input"
    for _ in range(layers):
        x = g.node("Add", [attention(g, normalized(x), width, heads, length, mask), x])
        y = normalized(x)
        gate, up = (g.linear(y, width, 4 * width) for _ in range(2))
        hidden = g.node("Mul", [g.node("Mul", [gate, g.node("Sigmoid", [gate])]), up])
        x = g.node("Add", [g.linear(hidden, 4 * width, width), x])
    return normalized(x)


def tiny(g):
    """Three blocks of a residual network on images of 32 x 32: small enough to come with a repository."""
    x, c = g.relu(g.conv("input", 3, 16, 3)), 16
    for out, stride in [(16, 1), (32, 2), (40, 2)]:
        y = g.conv(g.relu(g.conv(x, c, out, 3, stride)), out, out, 3)
        short = x if c == out else g.conv(x, c, out, 1, stride)
        x, c = g.relu(g.node("Add", [y, short])), out
    return g.head(x, c, 10)


MODELS = {
    "resnet18": (image(224), lambda g: resnet(g, False, [2, 2, 2, 2])),
    "resnet34": (image(224), lambda g: resnet(g, False, [3, 4, 6, 3])),
    "resnet50": (image(224), lambda g: resnet(g, True, [3, 4, 6, 3])),
    "mobilenet_v2": (image(224), mobilenet_v2),
    "vgg11": (image(224), vgg11),
    "squeezenet": (image(224), squeezenet),
    "encoder": ([("input", TensorProto.FLOAT, ["batch", 128, 256])], encoder),
    "masked_encoder": ([("input", TensorProto.FLOAT, ["batch", 128, 384]), ("mask", TensorProto.FLOAT, ["batch", 1, 1, 128])],
                       masked_encoder),
    "gated": ([("input", TensorProto.FLOAT, ["batch", 128, 512])], gated),
    "tiny": (image(32), tiny),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("names", nargs="*", help=", ".join(MODELS))
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    for name in options.names or MODELS:
        inputs, build = MODELS[name]
        g = Graph(options.seed)
        g.save(os.path.join(options.out, f"{name}.onnx"), inputs, build(g))


if __name__ == "__main__":
    main()
