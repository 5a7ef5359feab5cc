"""Runs the kernels of a bundle that `lehr export --out DIR` wrote, on NumPy arrays and on anything that speaks DLPack.

    import lehr_bundle
    bundle = lehr_bundle.open("DIR")
    kernel = bundle.find("gemm m=512 n=512 k=512")
    c = kernel(a, b)
    layer = kernel.prepack(b)      # where b stays as it is
    c = layer(a)

Tensors are dense, of the type and the number of elements that the workload states. Needs NumPy, and liblehr_bundle.so of the
bundle.
"""

import ctypes
import os

import numpy

__all__ = ["Bundle", "Error", "Kernel", "Layer", "open"]

_EXACT, _OTHER_THREADS, _SPLIT, _PADDED = range(4)
_ANSWERS = {_EXACT: "exact", _OTHER_THREADS: "other threads", _SPLIT: "split", _PADDED: "padded"}
_IN, _OUT, _PREPACKED = range(3)
_NO_KERNEL = 4
_DTYPES = {"f64": "f8", "f32": "f4", "f16": "f2", "s32": "i4", "s8": "i1", "u8": "u1"}


class Error(Exception):
    """What the library answered: a sentence, and its code in `status`."""

    def __init__(self, text, status):
        super().__init__(text)
        self.status = status


class _Error(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("text", ctypes.c_char * 508)]


class _OpenOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("features", ctypes.c_char_p), ("self_test", ctypes.c_uint32)]


class _FindOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("threads", ctypes.c_uint32), ("only_exact", ctypes.c_uint32)]


class _KernelInfo(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("answer", ctypes.c_uint32),
        ("workload", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("target", ctypes.c_char_p),
        ("arch", ctypes.c_char_p),
        ("threads", ctypes.c_uint32),
        ("params", ctypes.c_uint32),
        ("time_us", ctypes.c_double),
        ("wasted", ctypes.c_double),
        ("max_error", ctypes.c_double),
        ("parts", ctypes.c_uint32),
        ("cold", ctypes.c_uint32),
    ]


class _ParamInfo(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("role", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
        ("dtype", ctypes.c_char_p),
        ("bytes", ctypes.c_uint64),
        ("alignment", ctypes.c_uint32),
        ("constant", ctypes.c_uint32),
    ]


class _Call(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("param_count", ctypes.c_uint32),
        ("params", ctypes.POINTER(ctypes.c_void_p)),
        ("scratch", ctypes.c_void_p),
        ("scratch_bytes", ctypes.c_uint64),
        ("workers", ctypes.c_uint32),
        ("parallel_for", ctypes.c_void_p),
        ("pool", ctypes.c_void_p),
    ]


def _sized(struct):
    value = struct()
    value.size = ctypes.sizeof(struct)
    return value


class _Library:
    """liblehr_bundle.so, whose functions raise Error."""

    def __init__(self, path):
        self._library = ctypes.CDLL(path)
        handle, place = ctypes.c_uint64, ctypes.POINTER(ctypes.c_uint64)
        pointer, number = ctypes.c_void_p, ctypes.c_uint32
        for name, arguments in {
            "lehr_open": [ctypes.c_char_p, pointer, place],
            "lehr_close": [handle],
            "lehr_count": [handle, ctypes.POINTER(number)],
            "lehr_at": [handle, number, place],
            "lehr_find": [handle, ctypes.c_char_p, pointer, place],
            "lehr_info": [handle, pointer],
            "lehr_param": [handle, number, pointer],
            "lehr_scratch_bytes": [handle, number, place],
            "lehr_run": [handle, pointer],
            "lehr_prepack": [handle, pointer],
            "lehr_pool_create": [number, ctypes.POINTER(pointer)],
        }.items():
            function = getattr(self._library, name)
            function.argtypes = arguments + [ctypes.POINTER(_Error)]
            function.restype = ctypes.c_int32
        self._library.lehr_pool_destroy.argtypes = [pointer]
        self.pool_run = ctypes.cast(self._library.lehr_pool_run, pointer)

    def __getattr__(self, name):
        function = getattr(self._library, "lehr_" + name)

        def call(*arguments):
            error = _sized(_Error)
            status = function(*arguments, ctypes.byref(error))
            if status != 0:
                raise Error(error.text.decode(errors="replace"), status)

        setattr(self, name, call)
        return call

    def destroy_pool(self, pool):
        self._library.lehr_pool_destroy(pool)


def open(folder, threads=1, self_test=False):  # noqa: A001: the module's name says what is opened
    """The bundle in a folder, whose kernels run on `threads` threads, and are tested first if that is asked for."""
    return Bundle(folder, threads, self_test)


class Bundle:
    """An open bundle. It is closed by close(), by the end of a `with`, or with its last kernel."""

    def __init__(self, folder, threads=1, self_test=False):
        folder = os.path.abspath(folder)
        self._library = _Library(os.path.join(folder, "liblehr_bundle.so"))
        self._handle = ctypes.c_uint64(0)
        self._pool = ctypes.c_void_p()
        self.threads = threads
        options = _sized(_OpenOptions)
        options.self_test = self_test
        self._library.open(os.fsencode(folder), ctypes.byref(options), ctypes.byref(self._handle))
        if threads > 1:
            self._library.pool_create(threads, ctypes.byref(self._pool))

    def close(self):
        if self._handle.value:
            handle, self._handle = self._handle, ctypes.c_uint64(0)
            self._library.close(handle)
            self._library.destroy_pool(self._pool)
            self._pool = ctypes.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None):
            self.close()

    def __len__(self):
        count = ctypes.c_uint32()
        self._library.count(self._handle, ctypes.byref(count))
        return count.value

    def __getitem__(self, index):
        if not 0 <= index < len(self):
            raise IndexError(index)
        kernel = ctypes.c_uint64()
        self._library.at(self._handle, index, ctypes.byref(kernel))
        return Kernel(self, kernel)

    def find(self, workload, only_exact=False):
        """The kernel for a workload, in the words of `lehr`; KeyError where the bundle has none."""
        options = _sized(_FindOptions)
        options.threads, options.only_exact = self.threads, only_exact
        kernel = ctypes.c_uint64()
        try:
            self._library.find(self._handle, workload.encode(), ctypes.byref(options), ctypes.byref(kernel))
        except Error as error:
            if error.status == _NO_KERNEL:
                raise KeyError(str(error)) from None
            raise
        return Kernel(self, kernel)


class _Param:
    def __init__(self, info):
        self.role = info.role
        self.name = info.name.decode()
        self.dtype = info.dtype.decode()
        self.bytes = info.bytes
        self.constant = bool(info.constant)

    def array(self):
        """New memory for it; what is prepacked lies on a cache line."""
        room = numpy.empty(self.bytes + 64, numpy.uint8)
        start = -room.ctypes.data % 64
        return room[start : start + self.bytes].view(_dtype(self.dtype))

    def check(self, tensor):
        """The tensor as a dense NumPy array on the same memory."""
        if not isinstance(tensor, numpy.ndarray):
            tensor = numpy.from_dlpack(tensor)
        if tensor.dtype != _dtype(self.dtype):
            raise TypeError(f"{self.name} is {tensor.dtype}, the kernel takes {self.dtype}")
        if tensor.nbytes != self.bytes:
            raise ValueError(f"{self.name} has {tensor.nbytes} bytes, the kernel takes {self.bytes}")
        if not tensor.flags.c_contiguous:
            raise ValueError(f"{self.name} is not dense: pass numpy.ascontiguousarray of it")
        return tensor


def _dtype(name):
    if name not in _DTYPES:
        raise TypeError(f"NumPy has no {name}")
    return numpy.dtype(_DTYPES[name])


class Kernel:
    """One of a bundle's, or several that were put together."""

    def __init__(self, bundle, handle):
        self._bundle, self._handle = bundle, handle
        library = bundle._library
        info = _sized(_KernelInfo)
        library.info(handle, ctypes.byref(info))
        self.workload = info.workload.decode()
        self.name = info.name.decode()
        self.answer = _ANSWERS[info.answer]
        self.time_us, self.wasted, self.max_error = info.time_us, info.wasted, info.max_error
        self.threads, self.parts, self.cold = info.threads, info.parts, bool(info.cold)
        self.params = []
        for index in range(info.params):
            param = _sized(_ParamInfo)
            library.param(handle, index, ctypes.byref(param))
            self.params.append(_Param(param))
        scratch = ctypes.c_uint64()
        library.scratch_bytes(handle, bundle.threads, ctypes.byref(scratch))
        self._scratch_bytes = scratch.value

    def __repr__(self):
        return f"<lehr kernel for '{self.workload}': {self.answer}, {self.time_us:.1f} us on {self.threads} threads>"

    @property
    def inputs(self):
        """The parameters that a call takes, in order."""
        return [param for param in self.params if param.role == _IN]

    def __call__(self, *tensors, out=None):
        """The output, a new array or `out`. What is to be prepacked is prepacked anew each time: prepack() does it once."""
        if len(tensors) != len(self.inputs):
            names = ", ".join(param.name for param in self.inputs)
            raise TypeError(f"the kernel takes {len(self.inputs)} tensors ({names}), not {len(tensors)}")
        given = dict(zip((param.name for param in self.inputs), tensors))
        constants = [given.pop(param.name) for param in self.inputs if param.constant]
        return self.prepack(*constants)(*given.values(), out=out)

    def prepack(self, *constants):
        """The kernel with those inputs that stay as they are (a filter, a constant B), which are prepacked: a Layer."""
        return Layer(self, constants)


class Layer:
    """A kernel with its constant inputs. One call at a time."""

    def __init__(self, kernel, constants):
        names = [param.name for param in kernel.inputs if param.constant]
        if len(constants) != len(names):
            raise TypeError(f"{len(names)} constant tensors are to be given ({', '.join(names) or 'none'}), not {len(constants)}")
        self.kernel = kernel
        self._tensors = {}  # by parameter: what the pointers point to
        given = iter(constants)
        for param in kernel.params:
            if param.constant:
                self._tensors[param.name] = param.check(next(given))
            elif param.role == _PREPACKED:
                self._tensors[param.name] = param.array()
        self._scratch = numpy.empty(kernel._scratch_bytes + 64, numpy.uint8)
        self._pointers = (ctypes.c_void_p * len(kernel.params))()
        for index, param in enumerate(kernel.params):
            if param.name in self._tensors:
                self._pointers[index] = self._tensors[param.name].ctypes.data
        bundle = kernel._bundle
        self._call = _sized(_Call)
        self._call.param_count = len(kernel.params)
        self._call.params = self._pointers
        self._call.scratch = self._scratch.ctypes.data + -self._scratch.ctypes.data % 64
        self._call.scratch_bytes = kernel._scratch_bytes
        self._call.workers = bundle.threads
        self._call.pool = bundle._pool
        self._call.parallel_for = bundle._library.pool_run if bundle.threads > 1 else None
        bundle._library.prepack(kernel._handle, ctypes.byref(self._call))

    @property
    def inputs(self):
        """The parameters that a call takes, in order."""
        return [param for param in self.kernel.inputs if not param.constant]

    def __call__(self, *tensors, out=None):
        """The output, a new array or `out`."""
        inputs = self.inputs
        if len(tensors) != len(inputs):
            raise TypeError(f"{len(inputs)} tensors are to be given ({', '.join(p.name for p in inputs)}), not {len(tensors)}")
        held = [param.check(tensor) for param, tensor in zip(inputs, tensors)]
        given = iter(held)
        for index, param in enumerate(self.kernel.params):
            if param.role == _OUT:
                result = param.array() if out is None else param.check(out)
                self._pointers[index] = result.ctypes.data
            elif param.role == _IN and not param.constant:
                self._pointers[index] = next(given).ctypes.data
        self.kernel._bundle._library.run(self.kernel._handle, ctypes.byref(self._call))
        return result
