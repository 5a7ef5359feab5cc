"""What Python programs do to a bundle of product_test: python_misuse.py FOLDER. Each is right, or an exception that names what is wrong."""

import array
import copy
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import threading

import numpy
from numpy.lib.stride_tricks import as_strided

import lehr_bundle

M, N, K = 16, 512, 256
random = numpy.random.default_rng(1)
a, b, bias = (random.standard_normal(shape, dtype="f4") for shape in ((M, K), (K, N), (N,)))
wanted = a.astype("f8") @ b + bias
bundle = lehr_bundle.open(sys.argv[1], threads=2)
kernel = bundle.find(f"gemm m={M} n={N} k={K} epilogue=bias")
weights = random.standard_normal((96, 200), dtype="f4")
linear = bundle.find("gemm m=7 n=96 k=200 b=f32:column:constant").prepack(weights)


def is_right(c):
    return c.shape == (M, N) and numpy.abs(c - wanted).max() < 1e-3


def refused(call, *words, kinds=(TypeError, ValueError)):
    try:
        call()
    except kinds as error:
        for word in words:
            assert word in str(error), (word, error)
        return
    raise AssertionError(f"{words} is accepted")


class Speaks:
    """Of another package: it has DLPack alone, without a word on whether it may be written."""

    def __init__(self, tensor, fails=None):
        self.tensor, self.fails = tensor, fails

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **_):
        if self.fails:
            raise self.fails
        return self.tensor.__dlpack__()


class Torch(Speaks):
    """As PyTorch's, which has an array of NumPy's on the same memory."""

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
        (room[: M * N], inputs),
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
    refused(lambda: linear(weights.reshape(-1)[: 7 * 200], out=weights.reshape(-1)[1400 : 1400 + 7 * 96]), "overlaps")
    # Read-only in each of the ways: the array, what it views, its bytes, the file that it maps, another package's.
    c.flags.writeable = False
    with tempfile.TemporaryFile() as file:
        file.truncate(4 * M * N)
        for c in (
            c,
            c[:],
            c.reshape(-1),
            numpy.frombuffer(bytes(4 * M * N), "f4"),
            numpy.memmap(file, "f4", "r", shape=(M, N)),
            numpy.asarray(memoryview(bytes(4 * M * N)).cast("f")),
            Speaks(numpy.zeros((M, N), "f4")),
        ):
            refused(lambda: kernel(a, b, bias, out=c), "c (out) is read-only")
    for c in (
        numpy.zeros((N, M), "f4").T,
        numpy.asfortranarray(numpy.zeros((M, N), "f4")),
        numpy.zeros((M, 2 * N), "f4")[:, ::2],
        numpy.zeros((M, N), "f4")[::-1],
        as_strided(numpy.zeros(N, "f4"), (M, N), (0, 4)),
        as_strided(numpy.zeros(M + N, "f4"), (M, N), (4, 4)),
    ):
        refused(lambda: kernel(a, b, bias, out=c), "c is not dense")
    for shape in ((N, M), (2, M // 2, N), (M * 2, N // 2)):
        refused(lambda: kernel(a, b, bias, out=numpy.zeros(shape, "f4")), "c (out) is of shape", f"the kernel's of shape ({M}, {N})")
    assert kernel(a, b, bias, out=numpy.zeros((1, M, 1, N), "f4")).shape == (1, M, 1, N)


def what_is_no_tensor_is_named():
    masked = numpy.ma.MaskedArray(a, mask=a > 0)
    for tensor in (None, a.tolist(), masked, memoryview(a), array.array("f", a.reshape(-1)), 3.0, numpy.float32(3), "a", object()):
        refused(lambda: kernel(tensor, b, bias), "a is")
        refused(lambda: kernel(a, b, tensor), "bias is")
        if tensor is not None:
            refused(lambda: kernel(a, b, bias, out=tensor), "c is")
        refused(lambda: linear(tensor), "a is")
        refused(lambda: linear.kernel.prepack(tensor), "b is")
    for kind in (Speaks, Torch):
        for fails in (RuntimeError("it requires grad"), BufferError("it is on a GPU")):
            refused(lambda: kernel(kind(a, fails), b, bias), "a is a", str(fails))
    for tensor in (a.astype(">f4"), a.astype("i4"), a.astype("f2"), numpy.float32(1).reshape(()), a[:-1], a.T, as_strided(a, (M, K), (0, 4))):
        refused(lambda: kernel(tensor, b, bias), "a ")
    for tensors in ((), (a,), (a, b), (a, b, bias, bias)):
        refused(lambda: kernel(*tensors), "takes 3 tensors")
    misaligned = numpy.zeros(4 * M * K + 1, "u1")[1:].view("f4")
    refused(lambda: kernel(misaligned, b, bias), "a, is not aligned", kinds=lehr_bundle.Error)


def arguments_are_within_bounds():
    for threads in (-1, 0, 4097, 2**31, 2**32 + 1, -(2**64)):
        refused(lambda: lehr_bundle.open(sys.argv[1], threads=threads), "threads", kinds=ValueError)
    for threads in (True, 2.0, "2", None, numpy.bool_(True), [2]):
        refused(lambda: lehr_bundle.open(sys.argv[1], threads=threads), "threads", kinds=TypeError)
    refused(lambda: lehr_bundle.open(sys.argv[1], cuda_device=2**32), "cuda_device")
    refused(lambda: lehr_bundle.open(sys.argv[1] + "\0more"))
    with lehr_bundle.open(sys.argv[1], threads=numpy.int64(2)) as one:
        assert is_right(one.find(kernel.workload)(a, b, bias))
    for workload in (f"gemm m={M} n={N} k={K}\0 epilogue=bias", kernel.workload + "\0", "\0"):
        refused(lambda: bundle.find(workload), "a 0 in it", kinds=ValueError)
    for workload in (None, kernel.workload.encode(), 3):
        refused(lambda: bundle.find(workload), "workload", kinds=TypeError)
    refused(lambda: bundle.find(kernel.workload, target="cpu\0"), "target")
    refused(lambda: bundle.find("gemm"), "no kernel for 'gemm'", kinds=KeyError)


def nothing_open_is_copied():
    for one in (bundle, kernel, linear):
        for change in (copy.copy, copy.deepcopy, pickle.dumps, lambda one: pickle.dumps({"of a model": one}, 2)):
            refused(lambda: change(one), "neither copied nor pickled", kinds=TypeError)
    assert is_right(kernel(a, b, bias))


def outputs_have_the_shapes_of_their_workloads():
    for workload, shape in {
        f"gemm m=35 n={N} k={K} epilogue=bias": (35, N),  # put together
        "gemm m=7 n=96 k=200 b=f32:column:constant": (7, 96),
        "conv2d h=14 w=14 c=16 k=16 r=3 s=3 pad=1 epilogue=bias+relu": (1, 16, 14, 14),
        "conv2d n=3 h=14 w=14 c=16 k=16 r=3 s=3 pad=1 epilogue=bias+relu": (3, 16, 14, 14),
        "conv2d h=9 w=9 c=32 k=16 r=1 s=1 layout=nhwc": (1, 9, 9, 16),
    }.items():
        one = bundle.find(workload)
        inputs = [random.standard_normal(param.bytes // 4, dtype="f4") for param in one.inputs]
        result = one(*inputs)
        assert result.shape == shape and result.flags.c_contiguous and result.flags.writeable, (workload, result.shape)
        flat = numpy.zeros(result.size, "f4")
        assert one(*inputs, out=flat) is flat and (flat == result.reshape(-1)).all()
    assert linear(random.standard_normal((7, 200), dtype="f4")).shape == (7, 96)


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
    with bundle:
        return of_a_pool(2)


def bf16_is_that_of_ml_dtypes_or_its_bits():
    info = lehr_bundle._sized(lehr_bundle._ParamInfo)
    info.role, info.name, info.dtype, info.bytes = 0, b"x", b"bf16", 2 * M
    param = lehr_bundle._Param(info)
    bits = numpy.arange(M, dtype="u2")
    assert numpy.shares_memory(param.check(bits), bits)
    assert param.array().shape == (M,) and param.array().dtype == param.check(bits).dtype
    refused(lambda: param.check(bits.astype("f4")), "the kernel takes bf16")
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        assert param.array().dtype == numpy.uint16
        return
    assert param.array().dtype == bfloat16 and param.check(bits.view(bfloat16)) is not None


def children_compute():
    quit = False

    def busy():
        while not quit:
            linear(weights[:7])

    thread = threading.Thread(target=busy)
    thread.start()
    for work in (lambda: of_a_pool(1), closes, lambda: bundle.close() is None, lambda: in_a_child(closes) is None and of_a_pool(3)):
        in_a_child(work)
    quit = True
    thread.join()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(of_a_pool, range(1, 9)).get(60) == 8 * [True]
    assert of_a_pool(1)


outputs_overlap_nothing_and_can_be_written()
what_is_no_tensor_is_named()
arguments_are_within_bounds()
nothing_open_is_copied()
outputs_have_the_shapes_of_their_workloads()
threads_share_a_layer()
bf16_is_that_of_ml_dtypes_or_its_bits()
children_compute()
bundle.close()
refused(lambda: kernel(a, b, bias), "not one of an open bundle", kinds=lehr_bundle.Error)
refused(lambda: bundle.find(kernel.workload), "not open", kinds=lehr_bundle.Error)
