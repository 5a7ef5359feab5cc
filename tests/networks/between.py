"""Tests that the plug-in's own operators of bf16 between fused nodes compute the very numbers that numpy does, and
that the engine passes such tensors on."""

import ml_dtypes
import numpy
from onnx import helper

from fused import random, run, session, values


def rounded(x):
    return x.astype(ml_dtypes.bfloat16).astype("f4")


def with_specials(shape):
    x = rounded(random.standard_normal(shape).astype("f4"))
    flat = x.reshape(-1)
    for special in (numpy.nan, -numpy.nan, numpy.inf, -numpy.inf, -0.0):
        flat[random.integers(0, flat.size, 1 + flat.size // 500)] = special
    return x


def windows(x, attributes, reduce):
    """Returns `reduce` of each window of a pool over the last two dimensions. Positions outside of the image have no
    number."""
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
    """Yields the plug-in's own operators: operator, shapes, attributes, and their results. A sum of f32 may be added
    up in any order, so means are of whole numbers."""
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
    """Checks that the engine passes tensors of bf16 on."""
    x, axes = with_specials([2, 3, 4, 5]), {"shape": numpy.array([4, 12, 5]), "axis": numpy.array([1])}
    nodes = [("Identity", ["x"], {}), ("Concat", ["t0", "t0"], {"axis": 0}), ("Flatten", ["t1"], {"axis": 2}), ("Transpose", ["t2"], {"perm": [1, 0]}), ("Unsqueeze", ["t3", "axis"], {}), ("Squeeze", ["t4", "axis"], {}), ("Reshape", ["t5", "shape"], {})]
    made = [helper.make_node(op, taken, [f"t{i}" if i + 1 < len(nodes) else "y"], **attributes) for i, (op, taken, attributes) in enumerate(nodes)]
    y = run(session(made, {"x": "bf16"}, axes, "bf16"), {"x": "bf16"}, {"x": x})
    assert numpy.array_equal(y, numpy.concatenate([x, x]).reshape(12, 20).T.reshape(4, 12, 5), equal_nan=True)
