"""Of cuda_product_test. `write FOLDER`: a bundle whose kernels the stand-in for the driver knows by their names. `use FOLDER`:
calls them through lehr_bundle.py."""

import hashlib
import json
import os
import sys


def param(name, role, size, slice_bytes=0, alignment=16, dtype="f32"):
    return {"name": name, "dtype": dtype, "role": role, "bytes": size, "alignment": alignment, "slice_bytes": slice_bytes}


def kernel(name, workload, params, block, **more):
    launch = {"grid": [1, 1, 1], "block": [block, 1, 1], "cluster": 1, "shared_bytes": 0, "programmatic": False}
    launch.update(multiprocessors=132, compiler=[13, 0])
    texts = {"name": name, "workload": workload, "defaults": "", "shorter": "", "target": "cuda", "machine": "", "arch": "sm_90a"}
    numbers = {"threads": 0, "cold": False, "time_us": 3, "max_error": 0, "scratch_bytes": 0}
    return {**texts, "features": [], "file": f"kernels/{name}.cubin", **numbers, "params": params, "launch": launch, **more}


def write(folder):
    rows = {"slices": {"field": "m", "size": 4, "bucket": False}}
    product = [param("a", "in", 64, 16), param("b", "in", 128), param("c", "out", 128, 32)]
    # A's map: 4 lines of 4 f32, boxes of 2 lines.
    product[0]["tensor_map"] = {"type": 7, "dims": [4, 4], "stride_bytes": [16], "box": [4, 2], "steps": [1, 1], "swizzle": 0}
    doubled = [param("a", "in", 64), param("c", "out", 64), param("counters", "workspace", 512, 0, 256, "u32")]
    kernels = [
        kernel("gemm_4_8_4", "gemm m=4 n=8 k=4", product, 32, **rows),
        kernel("workspace_ok", "double width=16", doubled, 16),
    ]
    manifest = {"format": "lehr-bundle-folder", "version": 1, "files": {}, "kernels": kernels, "sha256": "0" * 64}
    for each in kernels:
        with open(os.path.join(folder, each["file"]), "wb") as file:
            file.write(b"FAKE CUBIN")
        manifest["files"][each["file"]] = hashlib.sha256(b"FAKE CUBIN").hexdigest()
    text = json.dumps(manifest)
    manifest["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    with open(os.path.join(folder, "manifest.json"), "w") as file:
        file.write(json.dumps(manifest))


def use(folder):
    import ctypes
    import types

    import numpy

    import lehr_bundle

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
        @property
        def __cuda_array_interface__(self):
            return {**self.values.__array_interface__, "version": 3}

    class Tensor(Array):
        """As PyTorch's: DLPack, and a package with a current stream."""

        __module__ = "torch.of_this_test"
        device = "cuda:0"
        streams = []

        def __dlpack_device__(self):
            return (2, 0)

        def __dlpack__(self, stream):
            self.streams.append(stream)
            capsule = self.values.__dlpack__()
            tensor = lehr_bundle._DLTensor.from_address(lehr_bundle._POINTER_OF(capsule, b"dltensor"))
            tensor.device_type = 2
            return capsule

    current = types.SimpleNamespace(cuda_stream=stream.value)
    sys.modules["torch"] = types.SimpleNamespace(cuda=types.SimpleNamespace(current_stream=lambda device: current))

    def refused(kind, text, call):
        try:
            call()
        except kind as error:
            assert text in str(error), (text, str(error))
        else:
            raise AssertionError(f"accepted: {text}")

    def encodings():
        return driver.fake_cuda_calls().count(b"cuTensorMapEncodeTiled")

    random = numpy.random.default_rng(1)
    a, b = (random.standard_normal(shape, dtype=numpy.float32) for shape in ((4, 4), (4, 8)))
    empty = numpy.zeros((4, 8), "f4")
    with lehr_bundle.open(folder) as bundle:
        product = bundle.find("gemm m=4 n=8 k=4", target="cuda")
        assert isinstance(product, lehr_bundle.CudaKernel) and product.arch == "sm_90a" and product.answer == "exact", product
        assert "3.0 us on sm_90a" in repr(product)
        assert not product.other_device and not product.from_ptx
        assert [type(each) for each in bundle] == [lehr_bundle.CudaKernel] * 2
        refused(KeyError, "gemm m=4 n=8 k=4", lambda: bundle.find("gemm m=4 n=8 k=4", target="cpu"))
        refused(ValueError, "not 'gpu'", lambda: bundle.find("gemm m=4 n=8 k=4", target="gpu"))

        for kind, given in ((Interface, stream.value), (Tensor, stream.value), (Tensor, None)):
            c = kind(empty)
            assert product(kind(a), kind(b), out=c, stream=given) is c
            assert numpy.abs(c.values - a @ b).max() < 1e-5, kind
        assert set(Tensor.streams) == {stream.value}, "the producer is told which stream consumes"

        # Bound: tensor maps are made once, and what lies in the tensors is read anew.
        x, c = Tensor(a), Tensor(empty)
        before = encodings()
        launch = product.bind(x, Tensor(b), out=c)
        for factor in (1, 3):
            x.values[...] = factor * a
            assert launch() is c
            assert numpy.abs(c.values - factor * a @ b).max() < 1e-5
        assert encodings() == before + 1
        product(x, Tensor(b), out=c)
        assert encodings() == before + 2

        # Rows that are put together: one of the kernel's maps a part.
        taller = numpy.concatenate([a, 2 * a, 3 * a])
        c = Tensor(numpy.zeros((12, 8), "f4"))
        split = bundle.find("gemm m=12 n=8 k=4")
        assert split.answer == "split" and split.parts == 3, split
        split.bind(Tensor(taller), Tensor(b), out=c)()
        assert numpy.abs(c.values - taller @ b).max() < 1e-5

        doubled = bundle.find("double width=16")
        assert [each.bytes for each in doubled.workspaces] == [512]
        y, counters = Tensor(numpy.zeros(16, "f4")), Tensor(numpy.zeros(600, "u1"))
        doubled(Tensor(a), out=y, workspaces=[counters])
        assert (y.values == 2 * a.reshape(16)).all()

        x, w, c = Interface(a), Interface(b), Interface(empty)
        wide = Interface(numpy.zeros((4, 16), "f4"))
        at = {"stream": stream.value}
        refused(TypeError, "2 tensors (a, b), not 1", lambda: product(x, out=c, **at))
        refused(TypeError, "0 workspaces (none), not 1", lambda: product(x, w, out=c, workspaces=[c], **at))
        refused(TypeError, "1 workspaces (counters), not 0", lambda: doubled(Tensor(a), out=y))
        refused(TypeError, "a is of another type than f32", lambda: product(Interface(a.astype("f8")), w, out=c, **at))
        refused(TypeError, "a is of another type than f32", lambda: product(Tensor(a.astype("i4")), w, out=c, **at))
        refused(TypeError, "b is not on a CUDA device: it is a ndarray", lambda: product(x, b, out=c, **at))
        refused(ValueError, "b has 64 bytes, the kernel takes 128", lambda: product(x, x, out=c, **at))
        refused(ValueError, "c is not dense", lambda: product(x, w, out=wide.view(wide.values[:, ::2]), **at))
        refused(ValueError, "counters has 64 bytes, the kernel needs", lambda: doubled(Tensor(a), out=y, workspaces=[Tensor(a)]))
        refused(TypeError, "which stream is current for a Interface is not known", lambda: product(x, w, out=c))
        refused(lehr_bundle.Error, "parameter 0, a, is not aligned to 16 bytes", lambda: product(Interface(a, 4), w, out=c, **at))
        refused(lehr_bundle.Error, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", lambda: product(x, w, out=c, stream=77))
        kept = product.bind(x, w, out=c, **at)
    refused(lehr_bundle.Error, "not one of an open bundle", lambda: kept(**at))


{"write": write, "use": use}[sys.argv[1]](sys.argv[2])
