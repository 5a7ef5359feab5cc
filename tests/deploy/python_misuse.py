"""Tests what Python programs do to the library of python_product_test, in FOLDER: python_misuse.py FOLDER. Each call
is right, or an exception that names what is wrong."""

import array
import copy
import importlib
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import threading

import numpy
from numpy.lib.stride_tricks import as_strided

import kernels

M, N, K = 16, 512, 256
WORKLOAD = f"gemm m={M} n={N} k={K} epilogue=bias"
print("seed 1")
random = numpy.random.default_rng(1)
a, b, bias = (random.standard_normal(shape, dtype="f4") for shape in ((M, K), (K, N), (N,)))
wanted = a.astype("f8") @ b + bias
library = kernels.load(threads=2)
kernel = library.find(WORKLOAD)
weights = random.standard_normal((96, 200), dtype="f4")
linear = library.find("gemm m=7 n=96 k=200 b=f32:column:constant").pack(weights.T)


def is_right(c):
    return c.shape == (M, N) and numpy.abs(c - wanted).max() < 1e-3


def refused(call, *words, kinds=(TypeError, ValueError)):
    try:
        call()
    except kinds as error:
        assert "\n" not in str(error), error
        for word in words:
            assert word in str(error), (word, error)
        return
    raise AssertionError(f"{words} is accepted")


class Speaks:
    """An array of another package: it has DLPack alone, without a word on whether it may be written."""

    def __init__(self, tensor, fails=None):
        self.tensor, self.fails = tensor, fails

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **_):
        if self.fails:
            raise self.fails
        return self.tensor.__dlpack__()


class Torch(Speaks):
    """A tensor as PyTorch's, which has an array of NumPy's on the same memory."""

    __module__ = "torch"

    def numpy(self):
        if self.fails:
            raise self.fails
        return self.tensor


def outputs_overlap_nothing_and_can_be_written():
    room = numpy.zeros(4 * M * N, "f4")
    inputs = room[: M * K].reshape(M, K)
    inputs[:] = a
    whole = b.copy()
    of_b = whole.reshape(-1)[: M * N].reshape(M, N)
    before = whole.copy()
    for c, held in (
        (room[: M * N].reshape(M, N), inputs),
        (room[M * K - 1 :][: M * N].reshape(M, N), inputs),  # its first element is a's last
        (Speaks(room[: M * N].reshape(M, N)), inputs),
        (Torch(room[: M * N].reshape(M, N)), inputs),
        (Torch(room[: M * N].reshape(M, N)), Speaks(inputs)),
    ):
        refused(lambda: kernel(held, b, bias, out=c), "c (out)")
    refused(lambda: kernel(a, whole, bias, out=of_b), "overlaps b")
    assert (whole == before).all() and (inputs == a).all()
    assert is_right(kernel(inputs, b, bias, out=room[M * K :][: M * N].reshape(M, N)))  # right behind it
    c = numpy.zeros((M, N), "f4")
    assert kernel(a, b, bias, out=c) is c and is_right(c)
    tensor = Torch(numpy.zeros((M, N), "f4"))
    assert kernel(a, b, bias, out=tensor) is tensor and is_right(tensor.tensor)
    flat = weights.reshape(-1)
    refused(lambda: linear(flat[:1400].reshape(7, 200), out=flat[1300 : 1300 + 7 * 96].reshape(7, 96)), "overlaps a")
    # Read-only in each of the ways: the array, what it views, its bytes, the file that it maps, another package's.
    c.flags.writeable = False
    with tempfile.TemporaryFile() as file:
        file.truncate(4 * M * N)
        for c in (
            c,
            c[:],
            numpy.frombuffer(bytes(4 * M * N), "f4").reshape(M, N),
            numpy.memmap(file, "f4", "r", shape=(M, N)),
            numpy.asarray(memoryview(bytes(4 * M * N)).cast("f", (M, N))),
            Speaks(numpy.zeros((M, N), "f4")),
        ):
            refused(lambda: kernel(a, b, bias, out=c), "c (out) is read-only")


def shapes_and_strides_are_the_workloads():
    for c in (
        numpy.asfortranarray(numpy.zeros((M, N), "f4")),
        numpy.zeros((M, 2 * N), "f4")[:, ::2],
        numpy.zeros((M, N), "f4")[::-1],
        as_strided(numpy.zeros(N, "f4"), (M, N), (0, 4)),
        as_strided(numpy.zeros(M + N, "f4"), (M, N), (4, 4)),
    ):
        refused(lambda: kernel(a, b, bias, out=c), f"c of shape {M} x {N} has strides", f"takes {N} x 1 (elements)")
    for shape in ((N, M), (2, M // 2, N), (M * 2, N // 2), (M * N,), ()):
        refused(lambda: kernel(a, b, bias, out=numpy.zeros(shape, "f4")), "c has shape", f"takes {M} x {N}")
    assert kernel(a, b, bias, out=numpy.zeros((1, M, 1, N), "f4")).shape == (1, M, 1, N)
    # A shape is refused although its number of bytes is right.
    refused(lambda: kernel(a, b.reshape(N, K), bias), f"b has shape {N} x {K}", f"takes {K} x {N}")
    refused(lambda: kernel(a, numpy.ascontiguousarray(b.T), bias), f"b has shape {N} x {K}", f"takes {K} x {N}; is it numpy.ascontiguousarray(b.T)?")
    refused(lambda: kernel(a, numpy.asfortranarray(b).T, bias), f"takes {K} x {N}; is it numpy.ascontiguousarray(b.T)?")
    refused(lambda: kernel(a, b.reshape(-1), bias), f"b has shape {N * K}, and", f"takes {K} x {N}")
    refused(lambda: kernel(a, numpy.asfortranarray(b), bias), f"has strides 1 x {K}", f"takes {N} x 1 (elements); pass numpy.ascontiguousarray(b)")
    refused(lambda: linear.kernel.pack(weights), "b has shape 96 x 200", "takes 200 x 96; is it b.T?")
    refused(lambda: linear.kernel.pack(numpy.ascontiguousarray(weights.T)), "takes 1 x 200 (elements); pass numpy.asfortranarray(b)")
    refused(lambda: kernel(a[:-1], b, bias), "a has shape 15 x 256", "takes 16 x 256")
    refused(lambda: kernel(as_strided(a, (M, K), (0, 4)), b, bias), "strides 0 x 1")
    refused(lambda: kernel(as_strided(a, (M, K), (2, 4)), b, bias), "strides 0.5 x 1")
    for workload, shapes in {
        "conv2d h=14 w=14 c=16 k=16 r=3 s=3 pad=1 epilogue=bias+relu": ((1, 16, 14, 14), (16, 16, 3, 3), (16,)),
        "conv2d h=9 w=9 c=32 k=16 r=1 s=1 layout=nhwc": ((1, 9, 9, 32), (16, 1, 1, 32)),
    }.items():
        one = library.find(workload)
        inputs = [random.standard_normal(shape, dtype="f4") for shape in shapes]
        assert [tensor.shape for tensor in one.inputs] == list(shapes)
        result = one(*inputs)
        assert result.flags.c_contiguous and result.flags.writeable and len(result.shape) == 4
        assert (one(*(array[None] for array in inputs)) == result).all() and (one(*(array.squeeze() for array in inputs)) == result).all()
        refused(lambda: one(inputs[0].transpose(0, 2, 3, 1), *inputs[1:]), "x has shape" if shapes[0][1] != shapes[0][3] else "")
    refused(lambda: library.find("conv2d h=9 w=9 c=32 k=16 r=1 s=1 layout=nhwc")(random.standard_normal((1, 32, 9, 9), dtype="f4"), inputs[1]), "takes 1 x 9 x 9 x 32")


def what_is_no_tensor_is_named():
    masked = numpy.ma.MaskedArray(a, mask=a > 0)
    for tensor in (None, a.tolist(), masked, memoryview(a), array.array("f", a.reshape(-1)), 3.0, numpy.float32(3), "a", object()):
        refused(lambda: kernel(tensor, b, bias), "a is")
        refused(lambda: kernel(a, b, tensor), "bias is")
        if tensor is not None:
            refused(lambda: kernel(a, b, bias, out=tensor), "c is")
        refused(lambda: linear(tensor), "a is")
        refused(lambda: linear.kernel.pack(tensor), "b is")
    for kind in (Speaks, Torch):
        for fails in (RuntimeError("it requires grad"), BufferError("it is on a GPU")):
            refused(lambda: kernel(kind(a, fails), b, bias), "a is a", str(fails))
    for tensor, theirs in ((a.astype(">f4"), ">f4"), (a.astype("i4"), "s32"), (a.astype("f2"), "f16"), (a > 0, "bool"), (a.astype("c8"), "complex64")):
        refused(lambda: kernel(tensor, b, bias), f"a is {theirs}, and gemm_m16_n512_k256_bias takes f32", kinds=TypeError)
    for tensors in ((), (a,), (a, b), (a, b, bias, bias)):
        refused(lambda: kernel(*tensors), "takes 3 arrays (a, b, bias)", kinds=TypeError)
    refused(lambda: linear(a, b), "takes 1 arrays (a), not 2", kinds=TypeError)
    misaligned = numpy.zeros(4 * M * K + 1, "u1")[1:].view("f4").reshape(M, K)
    refused(lambda: kernel(misaligned, b, bias), "a is not aligned to 4 bytes", kinds=ValueError)
    refused(lambda: kernel(a, b, bias, stream=0), "a stream is a GPU's", kinds=TypeError)
    refused(lambda: kernel.pack(b), "no operand that is packed", kinds=TypeError)


def arguments_are_within_bounds():
    for threads in (-1, 0, 4097, 2**31, 2**32 + 1, -(2**64)):
        refused(lambda: kernels.load(threads=threads), "threads", kinds=ValueError)
    for threads in (True, 2.0, "2", None, numpy.bool_(True), [2]):
        refused(lambda: kernels.load(threads=threads), "threads", kinds=TypeError)
    refused(lambda: kernels.load(cuda=2**32), "cuda")
    refused(lambda: kernels.load(path=sys.argv[1] + "\0more"))
    refused(lambda: kernels.load(path="/nowhere"), "/nowhere", kinds=OSError)
    refused(lambda: kernels.load(features="avx1024"), "'avx1024' is no feature", kinds=kernels.Error)
    refused(lambda: kernels.load(features=1), "features is a str", kinds=TypeError)
    for path in (sys.argv[1], os.path.join(sys.argv[1], "libkernels.so"), os.fsencode(sys.argv[1])):
        with kernels.load(threads=numpy.int64(2), path=path) as one:
            assert is_right(one.find(kernel.workload)(a, b, bias))
    for workload in (f"gemm m={M} n={N} k={K}\0 epilogue=bias", WORKLOAD + "\0", "\0"):
        refused(lambda: library.find(workload), "a 0 in it", kinds=ValueError)
    for workload in (None, WORKLOAD.encode(), 3):
        refused(lambda: library.find(workload), "workload is a str", kinds=TypeError)
    for workload in ("gemm", "gemm m=1 n=1 k=1"):
        refused(lambda: library.find(workload), f"no kernel for '{workload}'", kinds=KeyError)
    refused(lambda: library.find(""), "'' is no workload", kinds=KeyError)
    refused(lambda: library.find("gemm m=1 m=2"), "says m twice", kinds=kernels.NoKernel)
    refused(lambda: library.gemm_m1_n1_k1, "no function gemm_m1_n1_k1", kinds=AttributeError)
    assert not hasattr(library, "gemm_m1_n1_k1") and getattr(library, kernel.name) is kernel
    for rows in (-1, 2**64):
        refused(lambda: kernel.describe(rows=rows), "rows is a whole number", kinds=ValueError)
    error = pickle.loads(pickle.dumps(kernels.NoKernel("why", 2)))
    assert (str(error), error.status) == ("why", 2)


def nothing_open_is_copied():
    for one in (library, kernel, linear):
        for change in (copy.copy, copy.deepcopy, pickle.dumps, lambda one: pickle.dumps({"of a model": one}, 2)):
            refused(lambda: change(one), "neither copied nor pickled", kinds=TypeError)
    assert is_right(kernel(a, b, bias))


def a_kernel_keeps_its_library_open():
    one = kernels.load(threads=2).find(WORKLOAD)
    assert is_right(one(a, b, bias))


def threads_share_a_layer():
    wrong = []

    def work(seed):
        own = numpy.random.default_rng(seed)
        for _ in range(300):
            x = own.standard_normal((7, 200), dtype="f4")
            if not numpy.allclose(linear(x), x @ weights.T, atol=1e-3):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong, f"{len(wrong)} results are another call's"


def in_a_child(work):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            os._exit(0 if work() else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0, work


def of_a_pool(scale):
    return is_right(kernel(a, b, bias)) and numpy.allclose(linear(weights[:7] * scale), weights[:7] @ weights.T * scale, atol=1e-2 * scale)


def closes():
    with library:
        return of_a_pool(2)


def children_compute():
    quit = False

    def busy():
        while not quit:
            linear(weights[:7])

    threads = [threading.Thread(target=busy) for _ in range(2)]
    [thread.start() for thread in threads]
    for work in (lambda: of_a_pool(1), closes, lambda: library.close() is None, lambda: in_a_child(closes) is None and of_a_pool(3)):
        in_a_child(work)
    quit = True
    [thread.join() for thread in threads]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(of_a_pool, range(1, 9)).get(60) == 8 * [True]
    importlib.reload(kernels)  # a notebook's %autoreload
    in_a_child(lambda: of_a_pool(1))
    assert of_a_pool(1)


outputs_overlap_nothing_and_can_be_written()
shapes_and_strides_are_the_workloads()
what_is_no_tensor_is_named()
arguments_are_within_bounds()
nothing_open_is_copied()
a_kernel_keeps_its_library_open()
threads_share_a_layer()
children_compute()
library.close()
library.close()
for call in (lambda: kernel(a, b, bias), lambda: linear(weights[:7]), lambda: library.find(WORKLOAD), lambda: len(library)):
    refused(call, "the library is closed: load it again", kinds=ValueError)
