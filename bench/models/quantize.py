"""Writes a network in 8-bit integers, as onnxruntime.quantization makes it (static, weights per channel and
symmetric), calibrated with seeded random inputs. Sizes that the file has only names for become 1.

    python3 quantize.py [--form qdq|operator] [--activations u8|s8] [--range auto|full|reduced] IN.onnx OUT.onnx

--range reduced has weights of 7 bits. https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html: without VNNI, a
sum of two products u8 x s8 saturates in 16 bits, and the weights have to be that small; auto asks /proc/cpuinfo.
"""

import argparse
import os
import re
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import version_converter
from onnxruntime import quantization

FORMS = {"qdq": quantization.QuantFormat.QDQ, "operator": quantization.QuantFormat.QOperator}
TYPES = {"u8": quantization.QuantType.QUInt8, "s8": quantization.QuantType.QInt8}


class RandomInputs(quantization.CalibrationDataReader):
    def __init__(self, path, samples, seed):
        inputs = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).get_inputs()
        random = np.random.default_rng(seed)
        self.feeds = iter([{each.name: random.standard_normal(each.shape).astype(np.float32) for each in inputs} for _ in range(samples)])

    def get_next(self):
        return next(self.feeds, None)


def with_fixed_sizes(model):
    """Fixes all sizes, as pre-processing wants them: sizes of the outputs follow from those of the inputs."""
    for value in model.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if not dim.HasField("dim_value"):
                dim.dim_value = 1
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    return model


def prepare(source, target):
    """Does the same as quantization.quant_pre_process, which needs one more package for sizes that have names only."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = target
    options.log_severity_level = 3
    onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    onnx.save(onnx.shape_inference.infer_shapes(onnx.load(target)), target)


def has_vnni():
    with open("/proc/cpuinfo") as file:
        return re.search(r"\bavx(512)?_vnni\b", file.read()) is not None


def quantize(source, target, form="qdq", activations="u8", reduced=False, samples=8, seed=0):
    with tempfile.TemporaryDirectory() as folder:
        fixed, prepared = os.path.join(folder, "fixed.onnx"), os.path.join(folder, "prepared.onnx")
        model = with_fixed_sizes(onnx.load(source))
        if model.opset_import[0].version < 13:  # before it scales are of whole tensors
            model = version_converter.convert_version(model, 13)
        onnx.save(model, fixed)
        prepare(fixed, prepared)
        quantization.quantize_static(prepared, target, RandomInputs(prepared, samples, seed), quant_format=FORMS[form], per_channel=True,
                                     reduce_range=reduced, activation_type=TYPES[activations], weight_type=TYPES["s8"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--form", choices=FORMS, default="qdq")
    parser.add_argument("--activations", choices=TYPES, default="u8")
    parser.add_argument("--range", choices=("auto", "full", "reduced"), default="auto")
    parser.add_argument("source", metavar="IN.onnx")
    parser.add_argument("target", metavar="OUT.onnx")
    options = parser.parse_args()
    reduced = options.range == "reduced" or (options.range == "auto" and not has_vnni())
    quantize(options.source, options.target, options.form, options.activations, reduced)


if __name__ == "__main__":
    main()
