"""A rewritten model without its plug-in: every fused node becomes the engine's operators that its plan names.
What comes out computes what the plug-in falls back to, so that the rewriting is tested without any kernel."""

import json

import onnx
from onnx import helper, numpy_helper
import numpy as np


TYPES = {"f": np.float32, "floats": np.float32, "u8": np.uint8, "s8": np.int8, "s32": np.int32}


def attribute(name, value):
    (kind, content), = value.items()
    if kind == "s":
        return helper.make_attribute(name, content)
    if kind in ("f", "floats"):
        content = float(content) if kind == "f" else [float(each) for each in content]
    return helper.make_attribute(name, content)


def own_operator(node):
    """An operator of the plug-in's between places: the engine's of the same name, on f32."""
    plain = [f"{node.output[0]}.{i}.f32" for i in range(len(node.input) + 1)]
    nodes = [helper.make_node("Cast", [name], [to], to=onnx.TensorProto.FLOAT) for name, to in zip(node.input, plain)]
    made = helper.make_node(node.op_type, plain[:-1], plain[-1:])
    made.attribute.extend(node.attribute)
    return nodes + [made, helper.make_node("Cast", plain[-1:], list(node.output), to=onnx.TensorProto.BFLOAT16)]


def expanded(model):
    result = onnx.ModelProto()
    result.CopyFrom(model)
    del result.graph.node[:]
    for node in model.graph.node:
        if node.domain != "ai.lehr":
            result.graph.node.append(node)
            continue
        given = {each.name: each for each in node.attribute}
        if "plan" not in given:
            result.graph.node.extend(own_operator(node))
            continue
        plan = json.loads(given["plan"].s)
        values = list(node.input)
        for at, each in enumerate(plan["nodes"]):
            last = at + 1 == len(plan["nodes"])
            inputs = []
            for i, number in enumerate(each["inputs"]):
                if isinstance(number, dict):
                    name = f"{node.output[0]}.{at}.{i}"
                    (kind, elements), = number["constant"].items()
                    array = np.array(elements, TYPES[kind])
                    array = array.reshape(number.get("shape", array.shape))
                    result.graph.initializer.append(numpy_helper.from_array(array, name))
                    inputs.append(name)
                else:
                    inputs.append("" if number < 0 else values[number])
            output = node.output[0] if last else f"{node.output[0]}.{at}"
            values.append(output)
            made = helper.make_node(each["op"], inputs, [output], domain=each["domain"])
            made.attribute.extend(attribute(name, value) for name, value in each["attributes"].items())
            result.graph.node.append(made)
    kept = [each for each in result.opset_import if each.domain != "ai.lehr"]
    del result.opset_import[:]
    result.opset_import.extend(kept)
    return result
