"""Tests small networks with unusual inputs, outputs or operators, tuned for seconds: ids within their tables, bytes,
outputs that are made at random and show nothing, real inputs from a file, and nodes that no kernel covers."""

import filecmp
import json
import shutil

import numpy as np
import onnx
from onnx import TensorProto as T, helper as h, numpy_helper as n


def write_networks():
    rng = np.random.default_rng(0)
    draw = lambda name, *shape: n.from_array(rng.standard_normal(shape).astype("f4"), name)
    weights = draw("w", 64, 32)

    def save(name, inputs, nodes, constants=()):
        graph = h.make_graph([*nodes, h.make_node("MatMul", ["g", "w"], ["p"]), h.make_node("Relu", ["p"], ["y"])], "g",
                             [h.make_tensor_value_info(*each) for each in inputs], [h.make_tensor_value_info("y", T.FLOAT, None)],
                             [weights, *constants])
        if name == "random":
            graph.node.append(h.make_node("RandomNormalLike", ["y"], ["z"]))
            graph.output[0].name = "z"
        onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), name + ".onnx")

    save("tokens", [("ids", T.INT64, [16]), ("type_ids", T.INT64, [16])],
         [h.make_node("Gather", ["words", "ids"], ["a"]), h.make_node("Gather", ["types", "type_ids"], ["b"]),
          h.make_node("Add", ["a", "b"], ["g"])], [draw("words", 50, 64), draw("types", 2, 64)])
    for name, kind in (("bytes", T.UINT8), ("halves", T.FLOAT16), ("texts", T.STRING)):
        save(name, [("x", kind, [16, 64])], [h.make_node("Cast", ["x"], ["g"], to=T.FLOAT)])
    save("random", [("x", T.FLOAT, [16, 64])], [h.make_node("Identity", ["x"], ["g"])])
    # Weights are so small that inputs times 1000 do not saturate the LSTM, where rounding would show.
    lstm = [n.from_array(rng.standard_normal((1, 128, 32)).astype("f4") / 8000, name) for name in ("a", "r")]
    save("lstm", [("x", T.FLOAT, [16, 1, 64])],
         [h.make_node("MatMul", ["x", "w"], ["e"]), h.make_node("LSTM", ["e", "a", "r"], ["s"], hidden_size=32),
          h.make_node("Concat", ["s", "s"], ["g"], axis=3)], lstm)


def write_feeds():
    np.savez_compressed("ids.npz", ids=np.asfortranarray(np.arange(16)), type_ids=np.ones(16, "i8"))
    np.savez("unknown.npz", idx=np.arange(16))
    np.savez("type.npz", ids=np.arange(16, dtype="i4"))
    np.savez("shape.npz", ids=np.arange(15))
    np.savez("beyond.npz", ids=np.arange(50, 66))
    with open("ids.npz", "rb") as whole, open("cut.npz", "wb") as cut:
        cut.write(whole.read(300))


def run(lehr):
    write_networks()
    write_feeds()
    lehr.tune("--model tokens.onnx")
    lehr.export()

    def apply(line, *says, **more):
        shutil.rmtree("small", ignore_errors=True)
        model, _, flags = line.partition(" ")
        return lehr(f"apply {model}.onnx --threads 1 --bundle kernels.bundle --out small --time 1s {flags}", *says, wrote="small", **more)

    for line in ("tokens", "bytes", "halves", "tokens --feed ids.npz"):
        apply(line, "outputs within")
    for line, why in (("random", "at random"), ("texts", "the original does not run"),
                      ("tokens --feed beyond.npz", "the original does not run")):
        apply(line, why, code=4)
    for feed in ("unknown", "type", "shape"):
        apply(f"tokens --feed {feed}.npz", "--feed", code=1, lines=1)
    apply("tokens --feed cut.npz", code=1)
    not_covered(apply)
    apply("random --no-engine", "not verified")
    lehr("verify random.onnx --threads 1 --out small", "at random", code=4)
    # Nothing of the bundle is in this network; it stays what it was.
    lehr("tune gemm --m 8 --n 8 --k 8 --device cpu --no-baseline --trials 1 --db foreign.db")
    lehr.export("foreign.bundle", "foreign.db")
    lehr("apply bytes.onnx --bundle foreign.bundle --out same", "nothing gains")
    assert filecmp.cmp("bytes.onnx", "same/model.onnx", shallow=False)


def not_covered(apply):
    """Checks that the node is named: with its share of the measured time, else as not counted."""
    said = apply("lstm --json")
    document = json.loads(said[said.index("{"):])
    shares = {each["operator"]: each["share"] for each in document["not_covered"]}
    assert 0 <= document["covered_share"] < 1 and shares["LSTM"] > 0.05 and "Fused" not in shares, shares
    layers = document["layers"]
    assert all(abs(sum(each[f"{when}_us"] for each in layers) / document[f"{told}_us"] - 1) < 1e-9
               for when, told in (("before", "original"), ("after", "rewritten"))), layers
    assert sum(each["kernel"] for each in layers) == document["replaced"] and [each for each in layers if each["operator"] == "LSTM" and each["after_us"] > 0]
    assert abs(document["covered_share"] + sum(shares.values()) - 1) < 1e-9 and document["not_counted"]["LSTM"] == 1
    apply("lstm", "^kernels cover [0-9.]+ % of the original's time; not covered: .*LSTM [0-9.]+ %")
    apply("lstm --no-engine", ", [0-9.]+ % of the operations that are counted: ", "^not counted: 1 x Concat, 1 x LSTM$")
