"""Tests the Python module with the library in by_hand/: a range of rows, an output by columns, two outputs, bf16,
and CUDA on the stand-in for the driver. The module, with the library beside it, is on the path."""

import ctypes
import importlib.util
import sys
import threading
import types

import numpy

import kernels

N, K = 8, 4
print("seed 1")
random = numpy.random.default_rng(1)


def refused(call, *words, kinds=ValueError):
    try:
        call()
    except kinds as error:
        for word in words:
            assert word in str(error), (word, str(error))
        return
    raise AssertionError(f"{words}: accepted")


def normal(*shape):
    return random.standard_normal(shape, dtype="f4")


def any_number_of_rows():
    b = normal(K, N)
    library = kernels.load()
    function = library.find("gemm m=1..16 n=8 k=4 b=f32:row:constant")
    assert function.name == "range" and (function.least_rows, function.most_rows) == (1, 16), function
    assert repr(function) == "<kernels_range(a: f32 rows x 4, b: f32 4 x 8) -> c: f32 rows x 8>", function
    for rows in ("5", "3..12", "..16"):
        assert library.find(f"gemm m={rows} n=8 k=4 b=f32:row:constant") is function is library.range, rows
    refused(lambda: library.find("gemm m=3..17 n=8 k=4 b=f32:row:constant"), "m=3..17", "gemm m=1..17 ", kinds=kernels.NoKernel)
    assert function.describe().time_us == 4 and function.describe(rows=1).time_us == 1
    layer = function.pack(b)
    for rows in range(1, 17):
        a = normal(rows, K)
        c = layer(a)
        assert c.shape == (rows, N) and c.flags.c_contiguous and numpy.abs(c - a.astype("f8") @ b).max() < 1e-5, rows
        out = numpy.zeros((rows, N), "f4")
        assert layer(a, out=out) is out and (out == c).all() and (function(a, b) == c).all()
    assert (layer(a[3]) == layer(a[3:4])).all(), "one row without its dimension"
    for rows in (0, 17):
        for call in (layer, lambda a: function(a, b)):
            refused(lambda: call(numpy.zeros((rows, K), "f4")), f"takes 1 to 16 rows, not {rows}")
    refused(lambda: layer(numpy.zeros((5, K + 1), "f4")), "a has shape 5 x 5", "takes 5 x 4")
    refused(lambda: layer(numpy.zeros(K * 2, "f4")), "a has shape 8,", "takes 1 x 4")
    refused(lambda: layer(a, out=numpy.zeros((15, N), "f4")), "c has shape 15 x 8", "takes 16 x 8")
    refused(lambda: function.pack(numpy.ascontiguousarray(b.T)), "b has shape 8 x 4", "takes 4 x 8; is it numpy.ascontiguousarray(b.T)?")
    refused(lambda: function.pack(numpy.asfortranarray(b)), "has strides 1 x 4", "takes 8 x 1 (elements); pass numpy.ascontiguousarray(b)")


def outputs_by_columns():
    with kernels.load() as library:
        a = normal(4, 8)
        assert repr(library.turned) == "<kernels_turned(a: f32 4 x 8) -> c: f32 4 x 8 by columns>", library.turned
        c = library.turned(a)
        assert c.shape == (4, 8) and c.strides == (4, 16) and c.flags.f_contiguous and (c == a).all()
        out = numpy.zeros((4, 8), "f4", order="F")
        assert library.turned(a[None], out=out) is out and (out == a).all()
        refused(lambda: library.turned(a, out=numpy.zeros((4, 8), "f4")), "c of shape 4 x 8 has strides 8 x 1", "takes 1 x 4 (elements)")


def several_outputs_are_a_tuple():
    with kernels.load() as library:
        means = library.find("means m=5 n=8")
        assert repr(means) == "<kernels_means(x: f32 rows x 8) -> mean: f32 rows, y: bf16 rows x 8>", means

        def are_right(mean, y):
            bits = (2 * x).view("u4") >> 16
            shapes = mean.shape == (rows,) and y.shape == (rows, N)
            return shapes and numpy.abs(mean - x.mean(axis=1, dtype="f8")).max() < 1e-6 and (y.view("u2") == bits).all()

        for rows in range(1, 17):
            x = normal(rows, N)
            made = means(x)
            assert type(made) is tuple and are_right(*made), rows
            out = numpy.zeros(rows, "f4"), numpy.zeros((rows, N), "u2")
            assert means(x, out=out) is out and are_right(*out), rows
        mean, y = out
        for wrong in (mean, (mean,), [mean, y], (mean, y, y)):
            refused(lambda: means(x, out=wrong), "means has 2 outputs (mean, y): out is a tuple of as many arrays", kinds=TypeError)
        refused(lambda: means(x, out=(y, mean)), "mean is u16, and means takes f32", kinds=TypeError)
        refused(lambda: means(x, out=(mean, None)), "y is a NoneType", kinds=TypeError)
        refused(lambda: means(x, out=(mean, y[:15])), "y has shape 15 x 8", "takes 16 x 8")
        refused(lambda: means(x, out=(mean[:15], y)), "mean has shape 15,", "takes 16")
        room = numpy.zeros(1024, "u1")
        of_room = {start: room[start : start + 256].view("u2").reshape(16, N) for start in (60, 64)}
        refused(lambda: means(x, out=(room[:64].view("f4"), of_room[60])), "y (out) overlaps mean: it needs memory of its own")
        assert are_right(*means(x, out=(room[:64].view("f4"), of_room[64]))), "right behind it"
        refused(lambda: means(x, out=(x.reshape(-1)[:16], y)), "mean (out) overlaps x")
        refused(lambda: means(x, out=(mean, x.view("u2").reshape(-1)[-128:].reshape(16, N))), "y (out) overlaps x")
        y.flags.writeable = False
        refused(lambda: means(x, out=(mean, y)), "y (out) is read-only")


def what_does_not_run_here_is_left_out():
    def names(library):
        return [each.name for each in library], [name for name in dir(library) if name in ("turned", "copied", "doubled_cuda")]

    with kernels.load() as library:
        assert names(library)[1] == ["copied", "turned"] and len(library) == 6, names(library)
        refused(library.doubled_cuda, "takes 1 arrays (a), not 0", kinds=TypeError)
        refused(lambda: library.doubled_cuda(normal(4, 4)), "is for GPUs", kinds=kernels.NoKernel)
        refused(lambda: library.find("doubled m=4 n=4"), "is for GPUs", kinds=KeyError)
        refused(lambda: library.tripled, "no function tripled", kinds=AttributeError)
    with kernels.load(features="") as library:
        assert names(library)[1] == ["copied"] and len(library) == 5, names(library)
        refused(lambda: library.turned(normal(4, 8)), "the kernel for 'turned m=4 n=8' needs", kinds=kernels.NoKernel)
        refused(library.turned.describe, "needs", kinds=kernels.NoKernel)


def bf16_is_that_of_ml_dtypes_or_its_bits():
    copy = kernels.load().copied
    bits = numpy.arange(6, dtype="u2").reshape(2, 3)
    c = copy(bits)
    assert (numpy.asarray(c).view("u2") == bits).all()
    refused(lambda: copy(bits.astype("f4")), "a is f32, and copied takes bf16", kinds=TypeError)
    if not importlib.util.find_spec("ml_dtypes"):
        assert c.dtype == numpy.uint16
        return
    ml_dtypes = importlib.import_module("ml_dtypes")
    assert copy(bits.view(ml_dtypes.bfloat16)).dtype == c.dtype == ml_dtypes.bfloat16
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        dtype = numpy.dtype(getattr(ml_dtypes, name))
        assert kernels._dtype(kernels._type_of(dtype)) == dtype, name
    refused(lambda: copy(bits.astype(ml_dtypes.float8_e5m2)), "a is e5m2, and copied takes bf16", kinds=TypeError)


def a_module_of_another_format_says_so():
    kernels._FORMAT += 1
    try:
        refused(kernels.load, "is of format 1, this module of 2: take that of its folder", kinds=kernels.Error)
    finally:
        kernels._FORMAT -= 1


any_number_of_rows()
outputs_by_columns()
several_outputs_are_a_tuple()
what_does_not_run_here_is_left_out()
bf16_is_that_of_ml_dtypes_or_its_bits()
a_module_of_another_format_says_so()

# On a GPU.
driver = ctypes.CDLL("libcuda.so.1")
driver.fake_cuda_calls.restype = ctypes.c_char_p
stream = ctypes.c_void_p()
driver.cuStreamCreate(ctypes.byref(stream), 0)


class Array:
    """Memory that says it is a GPU's. The stand-in's device memory is the host's."""

    def __init__(self, values, offset=0):
        values = numpy.asarray(values)
        room = numpy.zeros(values.nbytes + 256, numpy.uint8)
        start = -room.ctypes.data % 256 + offset
        self.values = room[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
        self.values[...] = values

    def view(self, values):
        other = type(self).__new__(type(self))
        other.values = values
        return other


class Interface(Array):
    read_only = False

    @property
    def __cuda_array_interface__(self):
        lies = self.values.__array_interface__
        return {**lies, "data": (lies["data"][0], self.read_only), "version": 3}


class Tensor(Array):
    """A tensor as PyTorch's: DLPack, and a package with a current stream."""

    __module__ = "torch.of_this_test"
    device, number = "cuda:0", 0
    streams = []

    def __dlpack_device__(self):
        return (2, self.number)

    def __dlpack__(self, stream):
        self.streams.append(stream)
        capsule = self.values.__dlpack__()
        tensor = kernels._DLTensor.from_address(kernels._POINTER_OF(capsule, b"dltensor"))
        tensor.device_type = 2
        return capsule


current = types.SimpleNamespace(cuda_stream=stream.value)
sys.modules["torch"] = types.SimpleNamespace(cuda=types.SimpleNamespace(current_stream=lambda device: current))


def calls():
    return driver.fake_cuda_calls().decode().split()


def products_on_a_gpu():
    a, b, empty = normal(4, 4), normal(4, 8), numpy.zeros((4, 8), "f4")
    with kernels.load(cuda=0) as library:
        assert [each.name for each in library] == ["four_cuda", "wrong_cuda", "doubled_cuda", "numbered_cuda"]
        product = library.find("gemm m=4 n=8 k=4")
        row = product.describe()
        assert (row.device, row.arch, row.time_us, row.other_device, row.from_ptx) == ("H200", "sm_90a", 3, 0, 0), row
        for kind, given in ((Interface, stream.value), (Tensor, current), (Tensor, None)):
            c = kind(empty)
            assert product(kind(a), kind(b), out=c, stream=given) is c
            assert numpy.abs(c.values - a @ b).max() < 1e-5, kind
        assert set(Tensor.streams) == {stream.value}, "the producer is told which stream consumes"
        product(Tensor(a), Tensor(b), out=Tensor(empty), stream=0)
        assert Tensor.streams[-1] == 1, "DLPack's number of the default stream"

        x, w, c = Interface(a), Interface(b), Interface(empty)
        wide = Interface(numpy.zeros((4, 16), "f4"))
        fixed = Interface(empty)
        fixed.read_only = True
        at = {"stream": stream.value}
        refused(lambda: product(x, out=c, **at), "takes 2 arrays (a, b), not 1", kinds=TypeError)
        refused(lambda: product(x, w, **at), "pass out=", kinds=TypeError)
        refused(lambda: product(Interface(a.astype("f8")), w, out=c, **at), "a is f64, and four_cuda takes f32", kinds=TypeError)
        refused(lambda: product(Tensor(a.astype("i4")), w, out=c, **at), "a is s32", kinds=TypeError)
        refused(lambda: product(x, b, out=c, **at), "b is not on a GPU: it is a ndarray", kinds=TypeError)
        refused(lambda: product(x, x, out=c, **at), "b has shape 4 x 4", "takes 4 x 8")
        refused(lambda: product(x, w, out=wide.view(wide.values[:, ::2]), **at), "c of shape 4 x 8 has strides 16 x 2")
        refused(lambda: product(x, w, out=w, **at), "c (out) overlaps b")
        refused(lambda: product(x, w, out=fixed, **at), "c (out) is read-only")
        refused(lambda: product(x, w, out=c), "which stream is current for a Interface is not known", kinds=TypeError)
        refused(lambda: product(x, w, out=c, stream=True), "stream is a whole number", kinds=TypeError)
        refused(lambda: product(Interface(a, 4), w, out=c, **at), "a is not aligned to 16 bytes")
        refused(lambda: product(x, w, out=c, stream=77), "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", kinds=kernels.Error)
        refused(lambda: product.pack(b), "no operand that is packed", kinds=TypeError)
        elsewhere = Tensor(a)
        elsewhere.number = 1
        refused(lambda: product(elsewhere, Tensor(b), out=Tensor(empty)), "a is on GPU 1, and the library was loaded for 0")
        assert (c.values == 0).all()
    refused(lambda: product(x, w, out=c, **at), "the library is closed")
    refused(lambda: kernels.load(cuda=7), "CUDA device 7", kinds=kernels.Error)
    for number in (True, 0.0, "0"):
        refused(lambda: kernels.load(cuda=number), "cuda is a whole number", kinds=TypeError)


def several_outputs_on_a_gpu():
    a = normal(4, 4)
    with kernels.load(cuda=0) as library:
        numbered = library.numbered_cuda
        for kind, at in ((Tensor, {}), (Interface, {"stream": stream.value})):
            x, out = kind(a), (kind(numpy.zeros((4, 4), "f4")), kind(numpy.zeros((1, 1), "f4")))
            assert numbered(x, out=out, **at) is out and (out[0].values == 2 * a).all()
            refused(lambda: numbered(x, out=(out[0], out[0].view(out[0].values[3:, 3:])), **at), "number (out) overlaps c")
        refused(lambda: numbered(x), "pass out=", kinds=TypeError)
        refused(lambda: numbered(x, out=out[0], **at), "numbered_cuda has 2 outputs (c, number)", kinds=TypeError)
        refused(lambda: numbered(x, out=out), "which stream is current for a Interface is not known", kinds=TypeError)


def each_stream_has_workspaces_of_its_own():
    a = normal(4, 4)

    def doubles(function, stream):
        c = Tensor(numpy.zeros((4, 4), "f4"))
        function(Tensor(a), out=c, stream=stream)
        return (c.values == 2 * a).all()

    with kernels.load(cuda=0) as library:
        double = library.doubled_cuda
        before = len(calls())
        assert doubles(double, stream.value)
        assert "cuModuleLoadData" not in calls()[before:], "the first stream takes what load() has made"
        assert not doubles(double, stream.value), "its workspace is as the kernel left it"
        assert doubles(double, 0) and not doubles(double, 0) and not doubles(double, stream.value)
        # CUDA's name for the default stream of each thread: threads share none.
        assert doubles(double, 2) and not doubles(double, 2)
        right = []
        thread = threading.Thread(target=lambda: right.append(doubles(double, 2)))
        thread.start()
        thread.join()
        assert right == [True]
    assert calls().count("cuMemAlloc") == calls().count("cuMemFree")
    assert calls().count("cuModuleLoadData") == calls().count("cuModuleUnload")


def the_context_is_the_primary_one():
    theirs, popped = ctypes.create_string_buffer(8), ctypes.c_void_p()
    driver.cuCtxPushCurrent_v2(theirs)
    before = len(calls())
    with kernels.load(cuda=0):
        made = calls()[before:]
        assert "cuDevicePrimaryCtxRetain" in made, made
    driver.cuCtxPopCurrent_v2(ctypes.byref(popped))
    assert popped.value == ctypes.addressof(theirs)


def a_captured_call_is_replayed():
    a, b, c = Tensor(normal(4, 4)), Tensor(normal(4, 8)), Tensor(numpy.zeros((4, 8), "f4"))
    graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
    with kernels.load(cuda=0) as library:
        product = library.four_cuda
        assert driver.cuStreamBeginCapture_v2(stream, 2) == 0
        product(a, b, out=c)
        assert driver.cuStreamEndCapture(stream, ctypes.byref(graph)) == 0 and (c.values == 0).all()
        assert driver.cuGraphInstantiateWithFlags(ctypes.byref(executable), graph, ctypes.c_ulonglong(0)) == 0
        for factor in (1, 3):
            a.values[...] *= factor
            assert driver.cuGraphLaunch(executable, stream) == 0
            assert numpy.abs(c.values - a.values @ b.values).max() < 1e-4


products_on_a_gpu()
several_outputs_on_a_gpu()
each_stream_has_workspaces_of_its_own()
the_context_is_the_primary_one()
a_captured_call_is_replayed()
