"""Runs the functions of libkernels.so on NumPy arrays and on anything that speaks DLPack.

    import kernels
    library = kernels.load(threads=2)
    kernel = library.find("gemm m=512 n=512 k=512 b=f32:row:constant")
    c = kernel(a, b)               # a new array; kernel(a, b, out=c) writes into an old one
    layer = kernel.pack(b)         # for a constant b, which is packed once
    c = layer(a)
    c = library.gemm_m512_n512_k512_b_f32_row_constant(a, b)    # by its name in C

A call takes the function's inputs in the order of the header, without the output. An array must have the shape and the
strides of the header; dimensions of size 1 may be left out. The output has them, too. Several outputs are a tuple
in the order of the header, and so is their `out`. For a function with a range of rows the arrays give the number of rows.
A packed operand is packed again by every call except a layer's. bf16 is ml_dtypes.bfloat16 if that package is
installed, else its bits as uint16; both are accepted.

Threads may call the same library and its layers, which serve one call after the other. Threads that compute at
the same time must load it once each. A child process may use a library that its parent has loaded.

On a GPU a call takes arrays with DLPack or __cuda_array_interface__ (PyTorch, CuPy, JAX, Numba):

    library = kernels.load(cuda=0)
    library.find("gemm m=512 n=512 k=512")(a, b, out=c)

The kernel is put on the current stream of PyTorch or CuPy if `out` is theirs, else on `stream=`, and the call
returns at once. The caller must wait for other streams that use its arrays. The first call on a stream prepares it,
with workspaces of its own, and must not be in capture. Later calls allocate nothing and may be captured into a
graph, which needs the library as long as it is replayed. Everything runs in the device's primary context, as in those
packages. A child process must load the library itself.
"""

import collections
import ctypes
import functools
import importlib
import math
import operator
import os
import sys
import threading
import types
import weakref

import numpy

__all__ = ["Described", "Error", "Kernel", "Layer", "Library", "NoKernel", "Tensor", "load"]

_FORMAT = 1  # of the header
_PREFIX = "kernels_"
_FILE = "libkernels.so"
_BAD_ARGUMENT, _NO_KERNEL = 1, 2
_MOST_THREADS = 4096
_LINE = 64  # bytes that memory is aligned to


class Error(Exception):
    """An error of the library: a sentence, with its code in `status`."""

    def __init__(self, sentence, status=0):
        super().__init__(sentence)
        self.status = status


class NoKernel(Error, KeyError):
    """The library has no kernel for the request, or no such kernel runs here."""

    __str__ = Exception.__str__


_U32, _U64, _I32, _TEXT, _PLACE = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int32, ctypes.c_char_p, ctypes.c_void_p


def _struct(**fields):
    return type("_Struct", (ctypes.Structure,), {"_fields_": list(fields.items())})


_Options = _struct(
    threads=_U32, cuda=_U32, cuda_device=_I32, self_test=_U32, features=_TEXT, parallel_for=_PLACE, pool=_PLACE
)
_TensorRow = _struct(
    name=_TEXT, type=_TEXT, role=_U32, packed=_U32, alignment=_U32, dimensions=_U32, shape=_U64 * 8, strides=_U64 * 8,
    bytes=_U64, row_bytes=_U64,
)  # fmt: skip
_Function = _struct(
    name=_TEXT, workload=_TEXT, tensors=ctypes.POINTER(_TensorRow), tensor_count=_U32, target=_U32, least_rows=_U64,
    most_rows=_U64,
)  # fmt: skip
_Row = _struct(
    kernel=_TEXT, device=_TEXT, arch=_TEXT, threads=_U32, cold=_U32, time_us=ctypes.c_double, max_error=ctypes.c_double,
    other_device=_U32, from_ptx=_U32,
)  # fmt: skip
_DLTensor = _struct(
    data=_PLACE, device_type=_I32, device_id=_I32, ndim=_I32, code=ctypes.c_uint8, bits=ctypes.c_uint8,
    lanes=ctypes.c_uint16, shape=ctypes.POINTER(ctypes.c_int64), strides=ctypes.POINTER(ctypes.c_int64), byte_offset=_U64,
)  # fmt: skip

Described = collections.namedtuple("Described", [name for name, _ in _Row._fields_])
Described.__doc__ = "The tuned kernel that a function runs, as kernels_variant of the header."


def _whole(name, value, least, most):
    """Returns an integer of any package's type, if it is within bounds."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, (bool, numpy.bool_)):
        raise TypeError(f"{name} is a whole number, not {value!r}")
    if not least <= number <= most:
        raise ValueError(f"{name} is a whole number from {least} to {most}, not {number}")
    return number


def _text(name, value):
    if not isinstance(value, str):
        raise TypeError(f"{name} is a str, not a {type(value).__name__}")
    if "\0" in value:
        raise ValueError(f"{name} has a 0 in it: {value!r}")
    return value.encode()


def _watch_forks():
    """Delays fork() until no call is running, so that a child process has no context in the middle of one. Returns the set
    that every opened library joins. A module that is loaded again has its own handlers and set."""
    all_opened, held, forking = weakref.WeakSet(), [], threading.Lock()

    def before():
        forking.acquire()
        for opened in list(all_opened):
            opened.lock.acquire()
            held.append(opened)

    def after():
        while held:
            held.pop().lock.release()
        forking.release()

    os.register_at_fork(before=before, after_in_parent=after, after_in_child=after)
    return all_opened


_all_opened = _watch_forks()


class _NoCopy:
    """An open object that must not be copied: the copy would close it."""

    def __reduce_ex__(self, _):
        raise TypeError(f"a {type(self).__name__} is neither copied nor pickled: load the library again, or share it")


class _Opened:
    """The library and its context, or those of a GPU's streams, which serve one call at a time."""

    def __init__(self, file, options):
        self._first, self._streams, self._options, self.lock = None, {}, options, threading.RLock()
        self.cuda = options.cuda_device if options.cuda else None
        library, self.c = ctypes.CDLL(file), types.SimpleNamespace()
        for name, result, arguments in (
            ("format", _U32, []),
            ("interface", _U64, []),
            ("create_for", _PLACE, [_U64, _PLACE, _PLACE, ctypes.c_size_t]),
            ("destroy", None, [_PLACE]),
            ("message", _TEXT, [_PLACE]),
            ("stream", None, [_PLACE, _PLACE]),
            ("count", _U32, []),
            ("at", _PLACE, [_U32]),
            ("find", _PLACE, [_PLACE, _TEXT]),
            ("describe", _I32, [_PLACE, _PLACE, _U64, _PLACE]),
            ("call", _I32, [_PLACE, _PLACE, _PLACE, _U64]),
            ("pack_bytes", _U64, [_PLACE, _PLACE]),
            ("pack", _I32, [_PLACE, _PLACE, _PLACE, _PLACE]),
        ):
            function = getattr(library, _PREFIX + name)
            function.restype, function.argtypes = result, arguments
            setattr(self.c, name, function)
        if self.c.format() != _FORMAT:
            raise Error(f"{file} is of format {self.c.format()}, this module of {_FORMAT}: take that of its folder")
        self._first = self._create()
        _all_opened.add(self)

    def _create(self):
        said, made = ctypes.create_string_buffer(512), []

        def create():
            made.append(self.c.create_for(self.c.interface(), ctypes.byref(self._options), said, len(said)))

        if self.cuda is None:
            create()
        else:  # on a thread without a context of CUDA, so that it is the device's primary one, as all packages have it
            alone = threading.Thread(target=create)
            alone.start()
            alone.join()
        if not made[0]:
            raise Error(said.value.decode(errors="replace"))
        return made[0]

    def context(self, stream=None):
        """Returns the context of a stream, or any; the lock must be held."""
        if self._first is None:
            raise ValueError("the library is closed: load it again")
        if stream is None:
            return self._first
        key = (stream, threading.get_ident()) if stream == 2 else stream  # 2: CUDA's name for each thread's own
        if key not in self._streams:
            context = self._create() if self._streams else self._first
            self.c.stream(context, stream)
            self._streams[key] = context
        return self._streams[key]

    def ask(self, function, *arguments, stream=None):
        """Calls a function that returns a status, and raises its error."""
        with self.lock:
            context = self.context(stream)
            status = function(context, *arguments)
            if status == 0:
                return
            sentence = self.c.message(context).decode(errors="replace")
        if status == _BAD_ARGUMENT:
            raise ValueError(sentence)
        raise (NoKernel if status == _NO_KERNEL else Error)(sentence, status)

    def find(self, workload):
        with self.lock:
            context = self.context()
            place = self.c.find(context, workload)
            if not place:
                raise NoKernel(self.c.message(context).decode(errors="replace"), _NO_KERNEL)
        return place

    def close(self):
        with self.lock:
            contexts = {self._first, *self._streams.values()} - {None}
            self._first, self._streams = None, {}
            for context in contexts:
                self.c.destroy(context)

    def __del__(self):
        if getattr(self, "_first", None) is not None:
            self.close()


def load(threads=1, *, cuda=None, path=None, features=None, self_test=False):
    """Loads the library beside this module, or at `path`, a file or its folder. It computes on `threads` threads, or on
    the GPU with the number `cuda`. `features`: names of the processor features that it may use, as "avx2 fma".
    `self_test`: tests its functions first, on the processor. Raises Error if no function of it runs here."""
    path = os.path.abspath(os.path.dirname(__file__) if path is None else os.fsdecode(path))
    options = _Options(threads=_whole("threads", threads, 1, _MOST_THREADS), self_test=bool(self_test))
    if cuda is not None:
        options.cuda, options.cuda_device = 1, _whole("cuda", cuda, 0, 2**31 - 1)
    if features is not None:
        options.features = _text("features", features)
    return Library(_Opened(os.path.join(path, _FILE) if os.path.isdir(path) else path, options))


class Library(_NoCopy):
    """A library that is open until close(), the end of a `with`, or the end of its last reference. Its functions are
    attributes, named as in C without the library's prefix. It iterates over the functions that run here, as Kernel objects."""

    def __init__(self, opened):
        self._opened, self._made = opened, {}
        places = map(opened.c.at, range(opened.c.count()))
        self._places = {_Function.from_address(place).name.decode()[len(_PREFIX) :]: place for place in places}

    def find(self, workload):
        """Returns the Kernel for a workload, in the words of `lehr` (the header's find). Raises NoKernel, a KeyError."""
        return self._kernel(self._opened.find(_text("workload", workload)))

    def close(self):
        """Closes the library after the running call. Its functions and layers raise from then on."""
        self._opened.close()

    def _kernel(self, place):
        if place not in self._made:
            self._made[place] = Kernel(self._opened, place)
        return self._made[place]

    def __getattr__(self, name):
        places = self.__dict__.get("_places", {})
        if name not in places:
            raise AttributeError(f"the library has no function {name}: dir(library) has their names")
        return self._kernel(places[name])

    def __iter__(self):
        for place in self._places.values():
            kernel = self._kernel(place)
            try:
                kernel.describe()
            except NoKernel:
                continue
            yield kernel

    def __len__(self):
        return sum(1 for _ in self)

    def __dir__(self):
        try:
            names = [kernel.name for kernel in self]
        except ValueError:  # it is closed
            names = list(self._places)
        return [*super().__dir__(), *names]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _words(numbers):
    return " x ".join(map(str, numbers)) or "()"


def _without_ones(shape, strides):
    return [pair for pair in zip(shape, strides) if pair[0] != 1]


class Tensor:
    """An argument of a function, as in the header. Strides are in elements. If `has_rows`, a call gives the first
    dimension; `shape` has the most that it may be."""

    def __init__(self, row):
        self.name, self.type = row.name.decode(), row.type.decode()
        self.is_output, self.packed, self.has_rows = bool(row.role), bool(row.packed), row.row_bytes > 0
        self.shape, self.strides = tuple(row.shape[: row.dimensions]), tuple(row.strides[: row.dimensions])
        self._bytes = tuple(_dtype(self.type).itemsize * stride for stride in self.strides)

    def __repr__(self):
        dense = _without_ones(self.shape, self.strides) == _without_ones(self.shape, _dense(self.shape, 1))
        return f"{self.name}: {self.type} {_words(self.of('rows'))}{'' if dense else ' by columns'}"

    def of(self, rows):
        """Returns the shape in a call with `rows` rows."""
        return (rows, *self.shape[1:]) if self.has_rows else self.shape

    def rows_of(self, array):
        """Counts the rows of an array for it, which may lack dimensions of size 1."""
        sizes = [size for size in array.shape if size != 1]
        return sizes[0] if len(sizes) > sum(size != 1 for size in self.shape[1:]) else 1

    def empty(self, rows):
        """Returns a new array for it."""
        dtype, shape = _dtype(self.type), self.of(rows)
        flat = _aligned(dtype.itemsize * math.prod(shape)).view(dtype)
        return numpy.lib.stride_tricks.as_strided(flat, shape, self._bytes)

    def check(self, array, rows, function):
        """Raises if an array has another type, shape or order."""
        if array.type not in (self.type, _ALSO.get(self.type)):
            raise TypeError(f"{self.name} is {array.type}, and {function} takes {self.type}")
        shape = self.of(rows)
        if array.shape == shape and array.strides == self._bytes:
            return
        if _without_ones(array.shape, array.strides) != _without_ones(shape, self._bytes):
            raise ValueError(self._mismatch(array, shape, function))

    def _mismatch(self, array, shape, function):
        """Explains what is wrong with an array's shape or strides, and what would be right."""
        name, wanted = self.name, _without_ones(shape, self._bytes)
        sizes, steps, given = [size for size, _ in wanted], [step for _, step in wanted], [size for size in array.shape if size != 1]
        copy = "a copy of {} with these strides"
        if isinstance(array.held, numpy.ndarray) and steps == sorted(steps):
            copy = "numpy.asfortranarray({})"
        if isinstance(array.held, numpy.ndarray) and steps == sorted(steps, reverse=True):
            copy = "numpy.ascontiguousarray({})"
        if sizes == given:
            lies = _words(f"{stride / array.itemsize:g}" for stride in array.strides)
            what = f"{name} of shape {_words(array.shape)} has strides {lies}, and {function} takes {_words(self.strides)}"
            return f"{what} (elements)" + ("" if self.is_output else f"; pass {copy.format(name)}")
        what = f"{name} has shape {_words(array.shape)}, and {function} takes {_words(shape)}"
        if sizes != given[::-1]:
            return what
        as_it_lies = _without_ones(array.shape[::-1], array.strides[::-1]) == wanted
        return f"{what}; is it {name}.T?" if as_it_lies else f"{what}; is it {copy.format(name + '.T')}?"


class Kernel(_NoCopy):
    """A function of the library."""

    def __init__(self, opened, place):
        row = _Function.from_address(place)
        self._opened, self._place = opened, place
        self.name, self.workload = row.name.decode()[len(_PREFIX) :], row.workload.decode()
        self.least_rows, self.most_rows = row.least_rows, row.most_rows  # rows of a call; 0: their number is fixed
        self.tensors = [Tensor(row.tensors[index]) for index in range(row.tensor_count)]
        self.inputs = [tensor for tensor in self.tensors if not tensor.is_output]
        self.outputs = [tensor for tensor in self.tensors if tensor.is_output]

    def __repr__(self):
        inputs, outputs = (", ".join(map(repr, tensors)) for tensors in (self.inputs, self.outputs))
        return f"<{_PREFIX}{self.name}({inputs}) -> {outputs}>"

    def describe(self, rows=0):
        """Returns the tuned kernel for calls with `rows` rows (0: the most). Raises NoKernel if none runs here."""
        row = _Row()
        self._opened.ask(self._opened.c.describe, self._place, _whole("rows", rows, 0, 2**63), ctypes.byref(row))
        values = (getattr(row, name) for name in Described._fields)
        return Described(*(value.decode() if isinstance(value, bytes) else value for value in values))

    def __call__(self, *arrays, out=None, stream=None):
        """Returns the output: a new array, or `out`, which a GPU requires; several outputs are a tuple. `stream` is for a
        GPU: a number, or a stream of PyTorch or CuPy; None: the current one of the package of `out`."""
        return self._run(self.inputs, arrays, None, out, stream)

    def pack(self, array):
        """Returns the Layer with this operand, of which it only keeps the packed form."""
        tensor = next((tensor for tensor in self.inputs if tensor.packed), None)
        if tensor is None:
            raise TypeError(f"{self.name} has no operand that is packed: call it with all of them")
        return Layer(self, self._packed(tensor, _in_memory(tensor, array)))

    def _packed(self, tensor, array):
        opened = self._opened
        tensor.check(array, 0, self.name)
        with opened.lock:
            memory = _aligned(opened.c.pack_bytes(opened.context(), self._place))
            opened.ask(opened.c.pack, self._place, array.address, memory.ctypes.data)
        return memory

    def _call(self, places, rows, stream):
        self._opened.ask(self._opened.c.call, self._place, (_PLACE * len(places))(*places), rows, stream=stream)

    def _rows(self, tensors, arrays):
        if not self.most_rows:
            return 0
        rows = next(tensor.rows_of(array) for tensor, array in zip(tensors, arrays) if tensor.has_rows)
        if not self.least_rows <= rows <= self.most_rows:  # the library reports the numbers that it takes
            self._call([None] * len(self.tensors), rows, None)
        return rows

    def _run(self, tensors, arrays, packed, out, stream):
        if len(arrays) != len(tensors):
            names = ", ".join(tensor.name for tensor in tensors)
            raise TypeError(f"{self.name} takes {len(tensors)} arrays ({names}), not {len(arrays)}")
        count = len(self.outputs)
        outs = (out,) if count == 1 else out
        if out is not None and not (isinstance(outs, tuple) and len(outs) == count):
            names = ", ".join(tensor.name for tensor in self.outputs)
            raise TypeError(f"{self.name} has {count} outputs ({names}): out is a tuple of as many arrays")
        read = _in_memory
        if self._opened.cuda is not None:
            stream = _stream_of(outs and outs[0], stream, self.name)
            read = functools.partial(_on_device, stream=stream, device=self._opened.cuda)
        elif stream is not None:
            raise TypeError("a stream is a GPU's, and the library was loaded for the processor")
        lies = [read(tensor, array) for tensor, array in zip(tensors, arrays)]
        rows = self._rows(tensors, lies)
        for tensor, array in zip(tensors, lies):
            tensor.check(array, rows, self.name)
        taken = list(zip(tensors, lies))
        if out is None:
            outs = tuple(tensor.empty(rows) for tensor in self.outputs)
        for tensor, given in zip(self.outputs, outs):
            output = read(tensor, given)
            if out is not None:
                tensor.check(output, rows, self.name)
                _check_output(tensor, output, taken)
            taken.append((tensor, output))
        addresses = {tensor.name: array.address for tensor, array in taken}
        for tensor, array in zip(tensors, lies):
            if tensor.packed:
                packed = self._packed(tensor, array)
        places = [packed.ctypes.data if tensor.packed else addresses[tensor.name] for tensor in self.tensors]
        self._call(places, rows, stream)
        return outs[0] if count == 1 else outs


class Layer(_NoCopy):
    """A function with its packed operand (a filter, the weights of a product)."""

    def __init__(self, kernel, packed):
        self.kernel, self._packed = kernel, packed
        self.inputs = [tensor for tensor in kernel.inputs if not tensor.packed]

    def __call__(self, *arrays, out=None):
        """Returns the output: a new array, or `out`; several outputs are a tuple."""
        return self.kernel._run(self.inputs, arrays, self._packed, out, None)


# Types by the names of the header, of NumPy and of DLPack, and other types that are accepted for them.
_ALSO = {"bf16": "u16", "s7": "s8", "e4m3": "u8", "e5m2": "u8"}
_ML_DTYPES = {"bf16": ("bfloat16", "u2"), "e4m3": ("float8_e4m3fn", "u1"), "e5m2": ("float8_e5m2", "u1"), "s7": ("int7", "i1")}
_DLPACK = {0: "s", 1: "u", 2: "f", 4: "bf"}
_DLPACK_OF_8_BITS = {10: "e4m3", 12: "e5m2"}
_ON_CUDA = (2, 13)  # DLDeviceType: CUDA, and managed memory of it
_POINTER_OF = ctypes.PYFUNCTYPE(_PLACE, ctypes.py_object, _TEXT)(("PyCapsule_GetPointer", ctypes.pythonapi))
# Strides are in bytes. `held` keeps the memory.
_Array = collections.namedtuple("_Array", ["address", "type", "itemsize", "shape", "strides", "read_only", "held"])


@functools.lru_cache(maxsize=None)
def _dtype(name):
    if name not in _ML_DTYPES:
        return numpy.dtype(f"{name[0].replace('s', 'i')}{int(name[1:]) // 8}")
    try:
        return numpy.dtype(getattr(importlib.import_module("ml_dtypes"), _ML_DTYPES[name][0]))
    except (ImportError, AttributeError):
        return numpy.dtype(_ML_DTYPES[name][1])


@functools.lru_cache(maxsize=None)
def _type_of(dtype):
    named = next((name for name, (theirs, _) in _ML_DTYPES.items() if theirs == dtype.name), None)
    if named or dtype.kind not in "iuf" or not dtype.isnative:
        return named or str(dtype)
    return f"{dtype.kind.replace('i', 's')}{8 * dtype.itemsize}"


def _aligned(size):
    room = numpy.empty(size + _LINE, numpy.uint8)
    start = -room.ctypes.data % _LINE
    return room[start : start + size]


def _end(array):
    return array.address + array.itemsize * math.prod(array.shape)


def _check_output(tensor, output, others):
    if output.read_only:
        raise ValueError(f"{tensor.name} (out) is read-only")
    for other, array in others:
        if array.address < _end(output) and output.address < _end(array):
            raise ValueError(f"{tensor.name} (out) overlaps {other.name}: it needs memory of its own")


def _package(array):
    """Returns "torch" or "cupy" if the array's type or a base of it is from that package, else None."""
    packages = [base.__module__.partition(".")[0] for base in type(array).__mro__]
    return next((package for package in packages if package in ("torch", "cupy")), None)


def _as_numpy(tensor, array):
    if isinstance(array, numpy.ma.MaskedArray):
        raise TypeError(f"{tensor.name} is a masked array: pass its filled()")
    if isinstance(array, numpy.ndarray):
        return array
    try:
        # NumPy treats an array as read-only if the package's DLPack does not mark it writable.
        if _package(array) != "torch":
            return numpy.from_dlpack(array)
        if str(getattr(array, "dtype", "")) == "torch.bfloat16":  # NumPy only takes its bits
            return array.view(sys.modules["torch"].int16).numpy().view(numpy.uint16)
        return array.numpy()
    except Exception as error:  # of the package, too: on a GPU, part of a gradient
        what = f"{tensor.name} is a {type(array).__name__}: pass an array of NumPy's, or of DLPack ({error})"
        raise TypeError(what) from error


def _in_memory(tensor, array):
    array = _as_numpy(tensor, array)
    address, read_only = array.__array_interface__["data"]
    return _Array(address, _type_of(array.dtype), array.itemsize, array.shape, array.strides, read_only, array)


def _on_device(tensor, array, stream, device):
    name, kind, its_device = tensor.name, type(array).__name__, device
    try:
        if hasattr(array, "__dlpack_device__") and array.__dlpack_device__()[0] in _ON_CUDA:
            lies, its_device = _of_dlpack(array, stream), array.__dlpack_device__()[1]
        else:
            lies = _of_interface(array) if hasattr(array, "__cuda_array_interface__") else None
    except Exception as error:  # of the package: part of a gradient
        raise TypeError(f"{name} is a {kind}, which is not taken as an array on a GPU: {error}") from error
    if lies is None:
        raise TypeError(f"{name} is not on a GPU: it is a {kind}")
    if its_device != device:
        raise ValueError(f"{name} is on GPU {its_device}, and the library was loaded for {device}")
    return lies


def _of_dlpack(array, stream):
    capsule = array.__dlpack__(stream=stream or 1)  # 1 is the default one
    lies = _DLTensor.from_address(_POINTER_OF(capsule, b"dltensor"))
    name = _DLPACK_OF_8_BITS.get(lies.code) or f"{_DLPACK.get(lies.code, f'DLPack type {lies.code}:')}{lies.bits}"
    itemsize, shape = lies.bits * lies.lanes // 8, tuple(lies.shape[: lies.ndim])
    strides = tuple(itemsize * stride for stride in lies.strides[: lies.ndim]) if lies.strides else _dense(shape, itemsize)
    return _Array((lies.data or 0) + lies.byte_offset, name, itemsize, shape, strides, False, capsule)


def _of_interface(array):
    lies = array.__cuda_array_interface__
    address, read_only = lies["data"]
    dtype = numpy.dtype(lies["typestr"])  # it has no name for bf16
    name = "bf16" if dtype.kind == "V" and dtype.itemsize == 2 else _type_of(dtype)
    strides = lies.get("strides") or _dense(lies["shape"], dtype.itemsize)
    return _Array(address or 0, name, dtype.itemsize, lies["shape"], strides, read_only, array)


def _dense(shape, itemsize):
    return tuple(itemsize * math.prod(shape[place + 1 :]) for place in range(len(shape)))


def _stream_of(out, stream, function):
    if out is None:
        raise TypeError(f"{function} writes to memory of the caller's on the GPU: pass out=")
    if stream is None:
        package = _package(out)
        if package is None:
            kind = type(out).__name__
            raise TypeError(f"which stream is current for a {kind} is not known: pass stream=, a number, 0 for the default one")
        cuda = sys.modules[package].cuda
        stream = cuda.current_stream(out.device) if package == "torch" else cuda.get_current_stream()
    return _whole("stream", getattr(stream, "cuda_stream", getattr(stream, "ptr", stream)), 0, 2**64 - 1)
