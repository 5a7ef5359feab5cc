"""A product with a library of `lehr export --out FOLDER`: PYTHONPATH=FOLDER example.py."""

import numpy

import kernels

library = kernels.load(threads=2)
a, b, bias = (numpy.ones(shape, "f4") for shape in ((16, 256), (256, 512), (512,)))
c = library.gemm_m16_n512_k256_bias(a, b, bias)
print(library.gemm_m16_n512_k256_bias, "has", c.shape, "elements, all", c.max())
