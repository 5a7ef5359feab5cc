"""Tests the nine networks that the package onnx (PyPI) brings, against its own inference of shapes: `lehr model`
names a workload for every convolution and product, and finds the shapes of their outputs that the package finds."""

import glob
import json

import onnx


def run(lehr):
    files = sorted(glob.glob(lehr.packages + "/onnx/backend/test/data/light/*.onnx"))
    assert len(files) == 9, files
    for file in files:
        said = json.loads(lehr(f"model {file} --device cpu --json"))
        model = onnx.shape_inference.infer_shapes(onnx.load(file))
        known = {value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in [*model.graph.value_info, *model.graph.output]}
        places = 0
        for task in said["tasks"]:
            if task["workload"].startswith("rowwise "):
                continue
            words = dict(word.split("=") for word in task["workload"].split()[1:])
            assert task["families"], task
            for place in task["places"]:
                places += 1
                shape = known[place["outputs"][0]]
                assert shape[1] == int(words["k" if "h" in words else "n"]) and shape[0] == int(words["n" if "h" in words else "m"]), (file, task, shape)
                if "h" in words and "pool" not in words["epilogue"]:
                    top, bottom, left, right = map(int, words["pad"].split("x"))
                    across = [(words["h"], words["r"], top + bottom), (words["w"], words["s"], left + right)]
                    sizes = [(int(size) + pad - int(kernel)) // int(stride) + 1 for (size, kernel, pad), stride in zip(across, words["stride"].split("x"))]
                    assert words["dilation"] == "1x1" and shape[2:] == sizes, (file, task, shape)
        wanted = sum(node.op_type in ("Conv", "Gemm", "MatMul") for node in model.graph.node)
        # Weights that nodes make (ConstantOfShape) take no normalization: the file does not have their elements.
        assert places == wanted and not said["gaps"] and not said["unknown"], (file, places, wanted, said["gaps"])
