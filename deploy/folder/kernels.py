"""Runs the kernels of a bundle that `lehr export --out DIR` wrote, on NumPy arrays and on anything that speaks DLPack.

    import lehr_bundle
    bundle = lehr_bundle.open("DIR")
    kernel = bundle.find("gemm m=512 n=512 k=512")
    c = kernel(a, b)
    layer = kernel.prepack(b)      # where b stays as it is
    c = layer(a)

a range of rows, as the bundle names it, on arrays of any number in it, of which B is laid out once:

    layer = bundle.find("gemm m=1..2048 n=512 k=512 b=f32:row:constant").prepack(b)
    c = layer(a)                   # of as many rows as a has

and those for CUDA on whatever speaks DLPack or has __cuda_array_interface__ there (PyTorch, CuPy, JAX, Numba):

    kernel = bundle.find("gemm m=512 n=512 k=512", target="cuda")
    kernel(a, b, out=c)            # puts it on the current stream of PyTorch or CuPy, whose arrays these are
    launch = kernel.bind(a, b, out=c)
    launch()                       # the same tensors again: no check, no new tensor maps

bf16 is ml_dtypes.bfloat16 where that package is there, else its bits as uint16; both are taken.

Tensors are dense, of the type and the number of elements that the workload states; an output has its shape, or one dimension,
overlaps no other tensor and can be written. Kernels and layers may be called by several threads at the same time, and by a child
process. Needs NumPy, and liblehr_bundle.so of the bundle.
"""

import copy
import ctypes
import functools
import importlib
import operator
import os
import sys

import numpy

__all__ = ["Bundle", "CudaKernel", "Error", "Kernel", "Launch", "Layer", "open"]

_ANSWERS = ["exact", "other threads", "split", "padded", "other device"]
_TARGETS = [None, "cpu", "cuda"]
_IN, _OUT, _PREPACKED, _WORKSPACE = range(4)
_NO_KERNEL = 4
_MOST_THREADS, _MOST_DIMENSIONS = 4096, 8
_DTYPES = {"f64": "f8", "f32": "f4", "f16": "f2", "s32": "i4", "s16": "i2", "s8": "i1", "s7": "i1", "u8": "u1"}


class Error(Exception):
    """What the library answered: a sentence, and its code in `status`."""

    def __init__(self, text, status):
        super().__init__(text)
        self.status = status


class _Error(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("text", ctypes.c_char * 508)]


class _OpenOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("features", ctypes.c_char_p),
        ("self_test", ctypes.c_uint32),
        ("cuda_device", ctypes.c_int32),
    ]


class _FindOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("threads", ctypes.c_uint32),
        ("only_exact", ctypes.c_uint32),
        ("target", ctypes.c_uint32),
    ]


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
        ("other_device", ctypes.c_uint32),
        ("from_ptx", ctypes.c_uint32),
        ("least_rows", ctypes.c_uint64),
        ("most_rows", ctypes.c_uint64),
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
        ("dimensions", ctypes.c_uint32),
        ("shape", ctypes.c_uint64 * _MOST_DIMENSIONS),
        ("strides", ctypes.c_uint64 * _MOST_DIMENSIONS),
        ("row_bytes", ctypes.c_uint64),
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
        ("rows", ctypes.c_uint64),
    ]


class _LaunchCall(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("param_count", ctypes.c_uint32),
        ("params", ctypes.POINTER(ctypes.c_void_p)),
        ("stream", ctypes.c_void_p),
        ("tensor_maps", ctypes.c_void_p),
        ("tensor_map_bytes", ctypes.c_uint64),
    ]


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


def _sized(struct):
    value = struct()
    value.size = ctypes.sizeof(struct)
    return value


def _whole(name, value, least, most):
    """A whole number of any package's, within bounds."""
    if isinstance(value, (bool, numpy.bool_)):
        raise TypeError(f"{name} is a whole number, not {value!r}")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is a whole number, not {value!r}") from None
    if not least <= number <= most:
        raise ValueError(f"{name} is a whole number from {least} to {most}, not {number}")
    return number


class _NoCopy:
    """What stands for something open, which a copy would close, or call at the same time."""

    def __reduce_ex__(self, _):
        raise TypeError(f"a {type(self).__name__} is neither copied nor pickled: open the bundle again, or share it")


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
            "lehr_launch": [handle, pointer],
            "lehr_tensor_map_bytes": [handle, place],
            "lehr_encode": [handle, pointer],
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


def open(folder, threads=1, self_test=False, cuda_device=0):  # noqa: A001: the module's name says what is opened
    """The bundle in a folder, whose kernels run on `threads` threads, and are tested first if that is asked for. Those for CUDA
    belong to the context that is current (PyTorch and CuPy make one with the first array), else to `cuda_device`."""
    return Bundle(folder, threads, self_test, cuda_device)


class Bundle(_NoCopy):
    """An open bundle. It is closed by close(), by the end of a `with`, or with its last kernel."""

    def __init__(self, folder, threads=1, self_test=False, cuda_device=0):
        folder = os.path.abspath(os.fsdecode(folder))
        threads = _whole("threads", threads, 1, _MOST_THREADS)
        cuda_device = _whole("cuda_device", cuda_device, 0, 2**31 - 1)
        self._library = _Library(os.path.join(folder, "liblehr_bundle.so"))
        self._handle = ctypes.c_uint64(0)
        self._pool = ctypes.c_void_p()
        self.threads = threads
        options = _sized(_OpenOptions)
        options.self_test = bool(self_test)
        options.cuda_device = cuda_device
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
        index = operator.index(index)
        if not 0 <= index < len(self):
            raise IndexError(index)
        kernel = ctypes.c_uint64()
        self._library.at(self._handle, index, ctypes.byref(kernel))
        return _kernel(self, kernel)

    def find(self, workload, only_exact=False, target=None):
        """The kernel for a workload, in the words of `lehr`, of `target` ("cpu", "cuda") where that is given; KeyError where the
        bundle has none. One for CUDA is a CudaKernel."""
        if target not in _TARGETS:
            raise ValueError(f"target is 'cpu', 'cuda' or None, not {target!r}")
        if not isinstance(workload, str):
            raise TypeError(f"workload is a str, not a {type(workload).__name__}")
        if "\0" in workload:
            raise ValueError(f"workload has a 0 in it: {workload!r}")
        options = _sized(_FindOptions)
        options.threads, options.only_exact, options.target = self.threads, bool(only_exact), _TARGETS.index(target)
        kernel = ctypes.c_uint64()
        try:
            self._library.find(self._handle, workload.encode(), ctypes.byref(options), ctypes.byref(kernel))
        except Error as error:
            if error.status == _NO_KERNEL:
                raise KeyError(str(error)) from None
            raise
        return _kernel(self, kernel)


class _Param:
    def __init__(self, info):
        self.role = info.role
        self.name = info.name.decode()
        self.dtype = info.dtype.decode()
        self.bytes = info.bytes
        self.constant = bool(info.constant)
        self.row_bytes = info.row_bytes  # where calls have any number of rows, and this parameter has them

        self._shape = info.dimensions and (info.shape[: info.dimensions], info.strides[: info.dimensions])

    @property
    def shape(self):
        """That of the workload, of outputs; else (elements,)."""
        return tuple(self._shape[0]) if self._shape else (self.bytes // _dtype(self.dtype).itemsize,)

    @property
    def strides(self):
        """In bytes, as NumPy has them."""
        itemsize = _dtype(self.dtype).itemsize
        return tuple(itemsize * stride for stride in self._shape[1]) if self._shape else (itemsize,)

    def of(self, rows):
        """The same in a call of so many rows, where that is the call's to say."""
        if not self.row_bytes:
            return self
        param = copy.copy(self)
        param.bytes = rows * self.row_bytes
        if self._shape:
            param._shape = ([rows, *self._shape[0][1:]], self._shape[1])
        return param

    def rows_of(self, tensor):
        return self._as_numpy(tensor).nbytes // self.row_bytes

    def array(self):
        """New memory for it, on a cache line."""
        room = numpy.empty(self.bytes + 64, numpy.uint8)
        start = -room.ctypes.data % 64
        flat = room[start : start + self.bytes].view(_dtype(self.dtype))
        return numpy.lib.stride_tricks.as_strided(flat, self.shape, self.strides)

    def check(self, tensor):
        """The tensor as a dense NumPy array on the same memory."""
        tensor = self._as_numpy(tensor)
        if self.dtype == "bf16" and tensor.dtype == numpy.uint16:
            tensor = tensor.view(_dtype(self.dtype))
        if tensor.dtype != _dtype(self.dtype):
            raise TypeError(f"{self.name} is {tensor.dtype}, the kernel takes {self.dtype}")
        if tensor.nbytes != self.bytes:
            raise ValueError(f"{self.name} has {tensor.nbytes} bytes, the kernel takes {self.bytes}")
        if not tensor.flags.c_contiguous and not (self.role == _OUT and self._lies_as(tensor)):
            raise ValueError(f"{self.name} is not dense: pass numpy.ascontiguousarray of it")
        return tensor

    def check_out(self, tensor, inputs):
        """The same of an output: it can be written, and shares no memory with one of `inputs`, which have names."""
        tensor = self.check(tensor)
        if self._shape and tensor.ndim != 1 and not self._lies_as(tensor):
            lies, wanted = (f"shape {one.shape} and strides {one.strides}" for one in (tensor, self))
            raise ValueError(f"{self.name} (out) is of {lies}, the kernel's of {wanted}")
        if not tensor.flags.writeable:
            raise ValueError(f"{self.name} (out) is read-only")
        begin, end = _place(tensor)
        for name, other in inputs:
            first, last = _place(other)
            if begin < last and first < end:
                raise ValueError(f"{self.name} (out) overlaps {name}: it needs memory of its own")
        return tensor

    def _as_numpy(self, tensor):
        if isinstance(tensor, numpy.ma.MaskedArray):
            raise TypeError(f"{self.name} is a masked array: pass its filled()")
        if isinstance(tensor, numpy.ndarray):
            return tensor
        try:
            # NumPy takes for read-only what the package's DLPack does not call writable.
            if _package(tensor) != "torch":
                return numpy.from_dlpack(tensor)
            if str(getattr(tensor, "dtype", "")) == "torch.bfloat16":  # whose bits alone NumPy takes
                return tensor.view(sys.modules["torch"].int16).numpy().view(numpy.uint16)
            return tensor.numpy()
        except Exception as error:  # whatever the package raises: on another device, part of a gradient, none of its tensors
            what = f"{self.name} is a {type(tensor).__name__}, which is not taken as an array of NumPy's: {error}"
            raise TypeError(what) from error

    def _lies_as(self, tensor):
        mine, its = ([pair for pair in zip(one.shape, one.strides) if pair[0] != 1] for one in (self, tensor))
        return mine == its


def _place(array):
    """The first byte of a dense array, and the one behind its last."""
    return array.ctypes.data, array.ctypes.data + array.nbytes


def _package(tensor):
    """"torch", "cupy", ...: of a tensor, or of what its type is made of."""
    packages = [base.__module__.partition(".")[0] for base in type(tensor).__mro__]
    return next((package for package in packages if package in ("torch", "cupy")), None)


@functools.cache
def _dtype(name):
    if name == "bf16":
        try:
            return numpy.dtype(importlib.import_module("ml_dtypes").bfloat16)
        except ImportError:
            return numpy.dtype(numpy.uint16)
    if name not in _DTYPES:
        raise TypeError(f"NumPy has no {name}")
    return numpy.dtype(_DTYPES[name])


def _kernel(bundle, handle):
    info = _sized(_KernelInfo)
    bundle._library.info(handle, ctypes.byref(info))
    return (CudaKernel if info.target == b"cuda" else Kernel)(bundle, handle, info)


class _AnyKernel(_NoCopy):
    def __init__(self, bundle, handle, info):
        self._bundle, self._handle, self._count = bundle, handle, info.params
        self.target, self.arch = info.target.decode(), info.arch.decode()
        self.workload = info.workload.decode()
        self.name = info.name.decode()
        self.answer = _ANSWERS[info.answer]
        self.time_us, self.wasted, self.max_error = info.time_us, info.wasted, info.max_error
        self.threads, self.parts, self.cold = info.threads, info.parts, bool(info.cold)
        self.other_device, self.from_ptx = bool(info.other_device), bool(info.from_ptx)
        self.least_rows, self.most_rows = info.least_rows, info.most_rows  # that a call may have; 0: all have the workload's

    def __repr__(self):
        where = f"{self.threads} threads" if self.threads else self.arch
        return f"<lehr kernel for '{self.workload}': {self.answer}, {self.time_us:.1f} us on {where}>"

    @functools.cached_property
    def params(self):
        """All of its parameters, in order."""
        params = []
        for index in range(self._count):
            info = _sized(_ParamInfo)
            self._bundle._library.param(self._handle, index, ctypes.byref(info))
            params.append(_Param(info))
        return params

    @property
    def inputs(self):
        """The parameters that a call takes, in order."""
        return [param for param in self.params if param.role == _IN]


class Kernel(_AnyKernel):
    """One of a bundle's for the CPU, or several that were put together."""

    @functools.cached_property
    def _scratch_bytes(self):
        scratch = ctypes.c_uint64()
        self._bundle._library.scratch_bytes(self._handle, self._bundle.threads, ctypes.byref(scratch))
        return scratch.value

    def __call__(self, *tensors, out=None):
        """The output, a new array or `out`. What is to be prepacked is prepacked anew each time: prepack() does it once."""
        if len(tensors) != len(self.inputs):
            names = ", ".join(param.name for param in self.inputs)
            raise TypeError(f"the kernel takes {len(self.inputs)} tensors ({names}), not {len(tensors)}")
        given = dict(zip((param.name for param in self.inputs), tensors))
        constants = [given.pop(param.name) for param in self.inputs if param.constant]
        return self.prepack(*constants)(*given.values(), out=out)

    def _rows_of(self, inputs, tensors):
        """As many as the first of them has that has rows; 0 where that is the workload's to say."""
        if not self.most_rows:
            return 0
        param, tensor = next((param, tensor) for param, tensor in zip(inputs, tensors) if param.row_bytes)
        rows = param.rows_of(tensor)
        if not self.least_rows <= rows <= self.most_rows:
            raise ValueError(f"{param.name} has {rows} rows, the kernel takes {self.least_rows} to {self.most_rows}")
        return rows

    def prepack(self, *constants):
        """The kernel with those inputs that stay as they are (a filter, a constant B), which are prepacked: a Layer."""
        return Layer(self, constants)


class Layer(_NoCopy):
    """A kernel with its constant inputs."""

    def __init__(self, kernel, constants):
        names = [param.name for param in kernel.inputs if param.constant]
        if len(constants) != len(names):
            raise TypeError(f"{len(names)} constant tensors are to be given ({', '.join(names) or 'none'}), not {len(constants)}")
        self.kernel = kernel
        self._tensors = {}  # by parameter: what the pointers point to
        self._free = []  # _Running that no thread is in: each has one of its own
        given = iter(constants)
        for param in kernel.params:
            if param.constant:
                self._tensors[param.name] = param.check(next(given))
            elif param.role == _PREPACKED:
                self._tensors[param.name] = param.array()
        running = _Running(kernel, self._tensors)
        kernel._bundle._library.prepack(kernel._handle, ctypes.byref(running.call))
        self._free.append(running)

    @property
    def inputs(self):
        """The parameters that a call takes, in order."""
        return [param for param in self.kernel.inputs if not param.constant]

    def __call__(self, *tensors, out=None):
        """The output, a new array or `out`."""
        inputs = self.inputs
        if len(tensors) != len(inputs):
            raise TypeError(f"{len(inputs)} tensors are to be given ({', '.join(p.name for p in inputs)}), not {len(tensors)}")
        rows = self.kernel._rows_of(inputs, tensors)
        held = dict(self._tensors)
        held.update((param.name, param.of(rows).check(tensor)) for param, tensor in zip(inputs, tensors))
        result = next(param for param in self.kernel.params if param.role == _OUT).of(rows)
        lies = result.array() if out is None else result.check_out(out, held.items())
        held[result.name] = lies
        try:
            running = self._free.pop()
        except IndexError:
            running = _Running(self.kernel, {})
        running.point_to(held)
        running.call.rows = rows
        try:
            self.kernel._bundle._library.run(self.kernel._handle, ctypes.byref(running.call))
        finally:
            self._free.append(running)
        return lies if out is None else out


class _Running:
    """A call that is made again and again, with scratch memory of its own."""

    def __init__(self, kernel, tensors):
        bundle = kernel._bundle
        self._params = kernel.params
        self._scratch = numpy.empty(kernel._scratch_bytes + 64, numpy.uint8)
        self._pointers = (ctypes.c_void_p * len(kernel.params))()
        self.call = _sized(_Call)
        self.call.param_count = len(kernel.params)
        self.call.params = self._pointers
        self.call.scratch = self._scratch.ctypes.data + -self._scratch.ctypes.data % 64
        self.call.scratch_bytes = kernel._scratch_bytes
        self.call.workers = bundle.threads
        self.call.pool = bundle._pool
        self.call.parallel_for = bundle._library.pool_run if bundle.threads > 1 else None
        self.point_to(tensors)

    def point_to(self, tensors):
        for index, param in enumerate(self._params):
            if param.name in tensors:
                self._pointers[index] = tensors[param.name].ctypes.data


# DLDataTypeCode and bits of DLPack; typestr of __cuda_array_interface__, which has no name for bf16. Bytes stand for 8-bit floats
# where a package has no name for them.
_CUDA_TYPES = {
    "f64": {(2, 64), "f8"},
    "f32": {(2, 32), "f4"},
    "f16": {(2, 16), "f2"},
    "bf16": {(4, 16), "V2"},
    "s32": {(0, 32), "i4"},
    "s16": {(0, 16), "i2"},
    "s8": {(0, 8), "i1"},
    "s7": {(0, 8), "i1"},
    "u8": {(1, 8), "u1"},
    "u32": {(1, 32), "u4"},
    "e4m3": {(10, 8), (1, 8), "u1"},
    "e5m2": {(12, 8), (1, 8), "u1"},
}
_ON_CUDA = (2, 13)  # DLDeviceType: CUDA, and managed memory of it
_POINTER_OF = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


class _OnDevice:
    """Where a tensor lies on the device, and what it is. `held` keeps it there."""

    def __init__(self, tensor, stream):
        strides = None  # bytes
        self.read_only = False
        if hasattr(tensor, "__dlpack_device__") and tensor.__dlpack_device__()[0] in _ON_CUDA:
            self.held = tensor.__dlpack__(stream=stream or 1)  # 1 is the default stream
            lies = _DLTensor.from_address(_POINTER_OF(self.held, b"dltensor"))
            self.address, self.type = (lies.data or 0) + lies.byte_offset, (lies.code, lies.bits)
            shape, itemsize = lies.shape[: lies.ndim], lies.bits * lies.lanes // 8
            if lies.strides:
                strides = [stride * itemsize for stride in lies.strides[: lies.ndim]]
        elif hasattr(tensor, "__cuda_array_interface__"):
            lies = tensor.__cuda_array_interface__
            self.held, self.address, self.type = tensor, lies["data"][0] or 0, lies["typestr"][1:]
            shape, itemsize, strides = lies["shape"], int(lies["typestr"][2:]), lies.get("strides")
            self.read_only = lies["data"][1]
        else:
            raise TypeError(f"is not on a CUDA device: it is a {type(tensor).__name__}")
        self.nbytes, self.dense = itemsize, True
        for place in reversed(range(len(shape))):
            if strides is not None and shape[place] != 1 and strides[place] != self.nbytes:
                self.dense = False
            self.nbytes *= shape[place]


def _on_device(param, tensor, stream):
    try:
        lies = _OnDevice(tensor, stream)
    except Exception as error:  # of the package, too: a tensor that is part of a gradient
        raise TypeError(f"{param.name} {error}") from error
    if param.role != _IN and lies.read_only:
        raise ValueError(f"{param.name} is read-only")
    if param.role == _WORKSPACE:  # of any type, and more of it
        if lies.nbytes < param.bytes:
            raise ValueError(f"{param.name} has {lies.nbytes} bytes, the kernel needs {param.bytes}")
        return lies
    if lies.type not in _CUDA_TYPES[param.dtype]:
        raise TypeError(f"{param.name} is of another type than {param.dtype}, which the kernel takes")
    if lies.nbytes != param.bytes:
        raise ValueError(f"{param.name} has {lies.nbytes} bytes, the kernel takes {param.bytes}")
    if not lies.dense:
        raise ValueError(f"{param.name} is not dense")
    return lies


def _check_overlaps(params, held):
    places = [(lies.address, lies.address + lies.nbytes) for lies in held]
    for i, (begin, end) in enumerate(places):
        for j, (first, last) in enumerate(places):
            if params[i].role != _IN and i != j and begin < last and first < end:
                raise ValueError(f"{params[i].name}, which is written, overlaps {params[j].name}")


def _current_stream(tensor):
    """Of the package whose array that is."""
    package = _package(tensor)
    if package == "torch":
        return sys.modules["torch"].cuda.current_stream(tensor.device).cuda_stream
    if package == "cupy":
        return sys.modules["cupy"].cuda.get_current_stream().ptr
    package = type(tensor).__name__
    raise TypeError(f"which stream is current for a {package} is not known: pass stream=, a number, 0 for the default one")


class CudaKernel(_AnyKernel):
    """One of a bundle's for CUDA, or several that were put together."""

    @property
    def workspaces(self):
        """The parameters that a call takes memory for: at least `bytes` of it, aligned to 256, all zero before its first use."""
        return [param for param in self.params if param.role == _WORKSPACE]

    def __call__(self, *tensors, out, workspaces=(), stream=None):
        """Puts it on a stream and returns `out` at once. `stream` is a number; None: the current one of PyTorch or CuPy, to whom
        `out` belongs. What is done on other streams is the caller's to wait for."""
        Launch(self, tensors, out, workspaces, stream)(stream)
        return out

    def bind(self, *tensors, out, workspaces=(), stream=None):
        """The kernel with all of its tensors: a Launch, whose tensor maps are made now and not with every launch."""
        launch = Launch(self, tensors, out, workspaces, stream)
        launch._encode()
        return launch


class Launch(_NoCopy):
    """A kernel for CUDA and its tensors, which it keeps. What lies in them may change. A stream in capture takes it into a
    graph."""

    def __init__(self, kernel, tensors, out, workspaces, stream):
        for given, wanted, what in ((tensors, kernel.inputs, "tensors"), (workspaces, kernel.workspaces, "workspaces")):
            if len(given) != len(wanted):
                names = ", ".join(param.name for param in wanted) or "none"
                raise TypeError(f"the kernel takes {len(wanted)} {what} ({names}), not {len(given)}")
        self.kernel, self._out = kernel, out
        stream = _current_stream(out) if stream is None else stream
        given = {_IN: iter(tensors), _OUT: iter((out,)), _WORKSPACE: iter(workspaces)}
        self._held = [_on_device(param, next(given[param.role]), stream) for param in kernel.params]
        _check_overlaps(kernel.params, self._held)
        self._call = _sized(_LaunchCall)
        self._call.param_count = len(kernel.params)
        self._call.params = (ctypes.c_void_p * len(kernel.params))(*(lies.address for lies in self._held))

    def _encode(self):
        library, size = self.kernel._bundle._library, ctypes.c_uint64()
        library.tensor_map_bytes(self.kernel._handle, ctypes.byref(size))
        self._maps = numpy.empty(size.value + 64, numpy.uint8)
        self._call.tensor_maps = self._maps.ctypes.data + -self._maps.ctypes.data % 64
        self._call.tensor_map_bytes = size.value
        library.encode(self.kernel._handle, ctypes.byref(self._call))

    def __call__(self, stream=None):
        """Puts it on a stream, as CudaKernel's call does, and returns the output at once."""
        self._call.stream = _current_stream(self._out) if stream is None else stream
        self.kernel._bundle._library.launch(self.kernel._handle, ctypes.byref(self._call))
        return self._out
