"""A convolution and a product from a bundle: example.py FOLDER."""

import sys

import numpy

import lehr_bundle

with lehr_bundle.open(sys.argv[1], threads=2) as bundle:
    for kernel in bundle:
        print(kernel)
    kernel = bundle[0]
    random = numpy.random.default_rng(1)
    inputs = [random.standard_normal(param.bytes // 4, dtype=numpy.float32) for param in kernel.inputs]
    result = kernel(*inputs)
    constants = [tensor for param, tensor in zip(kernel.inputs, inputs) if param.constant]
    others = [tensor for param, tensor in zip(kernel.inputs, inputs) if not param.constant]
    layer = kernel.prepack(*constants)
    assert numpy.array_equal(layer(*others), result)
    print(f"{kernel.name}: {result.size} elements, twice the same")
