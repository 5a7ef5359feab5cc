"""Tests one If of the rewritten network and the original: the first for the stated sizes, the second for others. Its
graphs are hard to put into a branch. The values are the original's for every size, and a spoilt branch shows which
one computes them."""

import os

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
node = helper.make_node


def info(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def constant(name, values):
    return numpy_helper.from_array(np.asarray(values), name)


def draw(*shape):
    return np.random.default_rng(7).standard_normal(shape).astype("f4")


def saved(name, nodes, inputs, outputs, constants=(), opset=17, ir=8, between=(), sparse=(), functions=(), domains=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(constants), value_info=list(between), sparse_initializer=list(sparse))
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(each, 1) for each in domains]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=ir, functions=list(functions))
    onnx.save(model, name + ".onnx")
    return name + ".onnx"


def session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options)


def the_if(model):
    found = [each for each in model.graph.node if each.name == "lehr.sizes"]
    assert len(found) == 1 and found[0].op_type == "If", found
    return {each.name: each.g for each in found[0].attribute}


def spoilt(path):
    """Returns a session in which the branch for the stated sizes has spoilt outputs: real numbers become negative,
    whole ones one more."""
    model = onnx.load(path, load_external_data=False)
    graph = the_if(model)["then_branch"]
    kinds = {each.name: each.type.tensor_type.elem_type for each in model.graph.output}
    names = list(next(each for each in model.graph.node if each.name == "lehr.sizes").output)
    for i, (output, name) in enumerate(zip(graph.output, names)):
        if kinds[name] not in (FLOAT, INT64):
            continue
        if kinds[name] == FLOAT:
            graph.node.append(node("Neg", [output.name], [f"spoilt{i}"]))
        else:
            graph.initializer.append(constant(f"one{i}", np.int64(1)))
            graph.node.append(node("Add", [output.name, f"one{i}"], [f"spoilt{i}"]))
        output.name = f"spoilt{i}"
    onnx.save(model, path + ".spoilt")
    return session(path + ".spoilt")


def check(path, feeds, sizes="1..1", words=("none",)):
    """Checks both branches of a network. `feeds`: inputs, and whether they have the stated sizes."""
    out = path + ".both"
    PROGRAM(path, out, "branched", sizes, *words)
    PROGRAM(path, path + ".one", "unbranched", sizes, *words)
    if "none" in words:
        session(path + ".one")
    original, both, other = session(path), session(out), spoilt(out)
    for feed, is_stated in feeds:
        for i, (want, got, changed) in enumerate(zip(original.run(None, feed), both.run(None, feed), other.run(None, feed))):
            want, got, changed = (each if isinstance(each, list) else [each] for each in (want, got, changed))
            for one, two, three in zip(want, got, changed):
                assert one.dtype == two.dtype and one.shape == two.shape and np.array_equal(one, two), (path, i)
            if i == 0:
                assert is_stated != all(np.array_equal(*each) for each in zip(want, changed)), (path, is_stated, {k: v.shape for k, v in feed.items()})
    print("branched", path)


def outputs():
    """Tests an output that is an input, a constant, given twice, read by others, read within a loop."""
    body = helper.make_graph([node("Add", ["s", "y"], ["t"]), node("Identity", ["c"], ["d"]), node("Add", ["t", "k"], ["u"])], "body",
                             [info("i", [], INT64), info("c", [], TensorProto.BOOL), info("s", None)],
                             [info("d", [], TensorProto.BOOL), info("u", None)])
    nodes = [node("MatMul", ["x", "k"], ["y"]), node("Relu", ["y"], ["z"]), node("Loop", ["three", "", "z"], ["l"], body=body), node("Shape", ["l"], ["w"])]
    path = saved("outputs", nodes, [info("x", ["n", 24])], [info(each, None) for each in ("l", "y")] + [info("w", None, INT64)] + [info("x", ["n", 24]), info("k", [24, 24]), info("y", None)],
                 [constant("k", draw(24, 24)), constant("three", np.int64(3))], between=[info("z", ["n", 24])])
    check(path, [({"x": draw(24, 24)}, True), ({"x": draw(1, 24)}, False)], "24..24")


def inputs():
    """Tests several inputs and names, a rank that is not known, sizes that nobody states."""
    nodes = [node("Add", ["a", "b"], ["c"]), node("ReduceSum", ["d"], ["e"], keepdims=0), node("Add", ["c", "e"], ["y"])]
    path = saved("inputs", nodes, [info("a", ["n", "m"]), info("b", ["n", "m"]), info("d", [3, "n", None])], [info("y", None)])
    full = lambda *shape: np.full(shape, 2, "f4")
    feeds = lambda n, m, k, stated: ({"a": full(n, m), "b": full(n, m), "d": full(3, k, 5)}, stated)
    check(path, [feeds(1, 1, 1, True), feeds(2, 1, 1, False), feeds(1, 4, 1, False), feeds(1, 1, 2, False)])
    check(path, [feeds(2, 2, 2, True), feeds(4, 4, 4, True), feeds(5, 5, 5, False), feeds(1, 1, 1, False), feeds(3, 2, 3, True), feeds(2, 3, 3, False)], "2..4")


def constants():
    """Tests large constants of every form: raw, as numbers, of nodes, in a file of their own, sparse."""
    w, v = draw(32, 32), draw(32, 32) + 1
    listed = helper.make_tensor("listed", FLOAT, (32, 32), v.flatten())
    made = node("Constant", [], ["made"], value=constant("", v * 2))
    places = np.flatnonzero(np.eye(32, dtype="f4"))
    sparse = helper.make_sparse_tensor(constant("eye", np.ones(32, "f4")), constant("places", places), (32, 32))
    nodes = [made] + [node("MatMul", [left, right], [to]) for left, right, to in
                      (("x", "w", "a"), ("a", "listed", "b"), ("b", "made", "c"), ("c", "again", "d"), ("d", "eye", "y"))]
    path = saved("constants", nodes, [info("x", ["n", 32])], [info("y", None)], [constant("w", w), listed, constant("again", w)], sparse=[sparse])
    check(path, [({"x": draw(1, 32)}, True), ({"x": draw(3, 32)}, False)])
    assert 3 * 4096 <= os.path.getsize(path + ".both.constants") < 4 * 4096
    assert os.path.getsize(path + ".both") < 8000
    onnx.save(onnx.load(path), "apart.onnx", save_as_external_data=True, location="apart.weights", size_threshold=0)
    check("apart.onnx", [({"x": draw(1, 32)}, True), ({"x": draw(3, 32)}, False)])


def versions():
    """Tests the oldest versions that are read, the newest, and what IR 3 and 4 have among their inputs."""
    for opset in (7, 8, 9, 10, 11, 13, 15, 17, 20):
        nodes = [node("MatMul", ["x", "w"], ["a"]), node("Relu", ["a"], ["y"])]
        path = saved(f"opset{opset}", nodes, [info("x", ["n", 8])], [info("y", ["n", 4])], [constant("w", draw(8, 4))], opset=opset, ir=9 if opset > 17 else 8)
        check(path, [({"x": draw(1, 8)}, True), ({"x": draw(5, 8)}, False)])
        if opset >= 9:
            check(path, [({"x": draw(1, 8)}, False), ({"x": draw(5, 8)}, True)], "2..8")
    for ir in (3, 4):
        path = saved(f"old{ir}", nodes, [info("x", ["n", 8]), info("w", [8, 4])], [info("y", ["n", 4])], [constant("w", draw(8, 4))], opset=8, ir=ir)
        check(path, [({"x": draw(1, 8)}, True), ({"x": draw(5, 8)}, False)])
        if ir == 4:
            check(path, [({"x": draw(1, 8), "w": draw(8, 4) * 2}, True), ({"x": draw(5, 8), "w": draw(8, 4) * 2}, False)])


def domains():
    """Tests functions of the model's own, sequences, branches within the branch that read an output's value."""
    double = helper.make_function("own", "Double", ["v"], ["r"], [node("Add", ["v", "v"], ["r"])], [helper.make_opsetid("", 17)])
    inner = lambda op: helper.make_graph([node(op, ["y"], ["o"])], op, [], [info("o", None)])
    nodes = [node("Double", ["x"], ["y"], domain="own"), node("ReduceMax", ["y"], ["m"], keepdims=0), node("Greater", ["m", "zero"], ["is"]),
             node("If", ["is"], ["z"], then_branch=inner("Neg"), else_branch=inner("Exp")), node("SplitToSequence", ["z"], ["s"], axis=0)]
    given = [info("y", None), info("z", None), helper.make_tensor_sequence_value_info("s", FLOAT, None)]
    path = saved("domains", nodes, [info("x", ["n", 4])], given, [constant("zero", np.float32(0))], functions=[double], domains=["own"])
    check(path, [({"x": draw(1, 4)}, True), ({"x": draw(3, 4)}, False), ({"x": -np.abs(draw(1, 4))}, True)])


def overridden():
    """Tests that a host which fixes the sizes gets one of the networks, without the If."""
    w = draw(16, 16)
    path = saved("fixed", [node("MatMul", ["x", "w"], ["a"]), node("Relu", ["a"], ["y"])], [info("x", ["n", "m"])], [info("y", None)], [constant("w", w)])
    PROGRAM(path, path + ".both", "branched", "none", "16..16")
    for sizes, graph in (((16, 16), "then"), ((2, 16), "else")):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.optimized_model_filepath = path + ".optimized"
        for name, size in zip("nm", sizes):
            options.add_free_dimension_override_by_name(name, size)
        runner = onnxruntime.InferenceSession(path + ".both", options)
        left = [each.op_type for each in onnx.load(path + ".optimized", load_external_data=False).graph.node]
        assert "If" not in left and "Shape" not in left, (graph, left)
        np.testing.assert_array_equal(runner.run(None, {"x": draw(*sizes)})[0], np.maximum(session(path).run(None, {"x": draw(*sizes)})[0], 0))


def run(program):
    global PROGRAM
    PROGRAM = program
    for each in (outputs, inputs, constants, versions, domains, overridden):
        each()
