"""Compares results of python_product_test's library with those in double precision."""

import numpy

import kernels

print("seed 1")
random = numpy.random.default_rng(1)


def normal(*shape):
    return random.standard_normal(shape, dtype="f4")


def is_near(c, wanted, distance=1e-3):
    assert c.shape == wanted.shape, (c.shape, wanted.shape)
    assert numpy.abs(c - wanted).max() < distance, numpy.abs(c - wanted).max()


library = kernels.load(threads=2, self_test=True)
assert len(library) == 7, len(library)

a, b, bias = normal(16, 256), normal(256, 512), normal(512)
kernel = library.find("gemm m=16 n=512 k=256 epilogue=bias")
wanted = a.astype("f8") @ b + bias
is_near(kernel(a, b, bias), wanted)
is_near(library.gemm_m16_n512_k256_bias(a, b, bias), wanted)
assert kernel.describe().time_us > 0 and kernel.describe().threads == 2, kernel.describe()

b, bias = normal(48, 64), normal(64)
kernel = library.find("gemm m=..40 n=64 k=48 epilogue=bias")
for rows in (1, 7, 24, 40):
    a = normal(rows, 48)
    is_near(kernel(a, b, bias), a.astype("f8") @ b + bias)

image, filters, bias = normal(1, 16, 14, 14), normal(16, 16, 3, 3), normal(16)
kernel = library.find("conv2d h=14 w=14 c=16 k=16 r=3 s=3 pad=1 epilogue=bias+relu")
padded = numpy.pad(image[0], ((0, 0), (1, 1), (1, 1))).astype("f8")
wanted = sum(numpy.einsum("kc,chw->khw", filters[:, :, r, s], padded[:, r : r + 14, s : s + 14]) for r in range(3) for s in range(3))
wanted = numpy.maximum(wanted + bias[:, None, None], 0)
layer = kernel.pack(filters)
for y in (kernel(image, filters, bias), layer(image, bias), layer(image[0], bias)):
    is_near(y[0], wanted)
image, filters = normal(1, 9, 9, 32), normal(16, 1, 1, 32)
is_near(library.find("conv2d h=9 w=9 c=32 k=16 r=1 s=1 layout=nhwc")(image, filters), image.astype("f8") @ filters[:, 0, 0].T)

weights, x = normal(96, 200), normal(7, 200)
linear = library.find("gemm m=7 n=96 k=200 b=f32:column:constant").pack(weights.T)
for _ in range(2):
    is_near(linear(x), x.astype("f8") @ weights.T)

bits = [(normal(*shape).view("u4") >> 16).astype("u2") for shape in ((9, 70), (70, 80))]
f32_of = lambda half: (half.astype("u4") << 16).view("f4").astype("f8")
halves = library.find("gemm m=9 n=80 k=70 a=bf16 b=bf16:row:constant c=bf16")(*bits)
wanted = f32_of(bits[0]) @ f32_of(bits[1])
is_near(f32_of(numpy.asarray(halves).view("u2")), wanted, 0.01 * numpy.abs(wanted).max())

x, w = random.integers(0, 256, (9, 70), "u1"), random.integers(-128, 128, (70, 80), "i1")
bias, scale = random.integers(-5000, 5000, 80, "i4"), random.uniform(1e-4, 1e-3, 80).astype("f4")
zero, step, behind = numpy.array([117], "u1"), numpy.array(3.5, "f4"), numpy.array([20], "u1")
integers = library.find("gemm m=9 n=80 k=70 a=u8 b=s8:row:constant c=u8 accum=s32 zero=input epilogue=bias+dequant+relu+quant")
y = integers(x, w, zero, bias, scale, step, behind)
sums = (x.astype("i4") - 117) @ w.astype("i4") + bias
wanted = numpy.clip(numpy.rint(numpy.maximum(sums.astype("f4") * scale, 0) * step) + 20, 0, 255).astype("u1")
assert (y == wanted).all() and len(set(wanted.ravel())) > 50, (y, wanted)
