"""Of rows_product_test. `write FOLDER`: a bundle of a set for 1 to 64 rows, whose kernels are compiled from a few lines. `use FOLDER`:
calls it through lehr_bundle.py. `ffi FOLDER`: through apache-tvm-ffi."""

import hashlib
import json
import os
import platform
import subprocess
import sys

N, K = 8, 4
# One column of B a task of the prepack, a row of C a task of the kernel.
TEXT = """
void NAME_prepack(void* const* params, void* scratch, long task) {
  for (int i = 0; i < 4; ++i) ((float*)params[4])[task * 4 + i] = ((const float*)params[1])[i * 8 + task];
}
void NAME(void* const* params, void* scratch, long task) {
  if (task >= ROWS) return;
  for (int j = 0; j < 8; ++j) {
    float sum = ((const float*)params[3])[j];
    for (int i = 0; i < 4; ++i) sum += ((const float*)params[0])[task * 4 + i] * ((const float*)params[4])[j * 4 + i];
    ((float*)params[2])[task * 8 + j] = sum;
  }
}
"""


def kernel(folder, name, rows, told):
    def param(name, role, elements, slice_bytes=0, **more):
        return {"name": name, "dtype": "f32", "role": role, "bytes": 4 * elements, "alignment": 4, "slice_bytes": slice_bytes, **more}

    text = TEXT.replace("NAME", name).replace("ROWS", "*(const long*)params[5]" if told else str(rows))
    file = os.path.join(folder, "kernels", name)
    with open(file + ".c", "w") as source:
        source.write(text)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", file + ".so", file + ".c"], check=True)
    os.remove(file + ".c")
    params = [
        param("a", "in", rows * K, 4 * K),
        param("b", "in", K * N, constant=True),
        param("c", "out", rows * N, 4 * N, shape=[rows, N], strides=[N, 1]),
        param("bias", "in", N),
        {**param("b_packed", "prepacked", K * N), "alignment": 64},
    ]
    workload = f"gemm m={'..' if told else ''}{rows} n={N} k={K} b=f32:row:constant epilogue=bias"
    texts = {"name": name, "workload": workload, "defaults": "", "shorter": "", "target": "cpu", "machine": platform.machine(), "arch": "any"}
    numbers = {"threads": 1, "cold": False, "time_us": rows, "max_error": 0, "scratch_bytes": 0}
    steps = {"steps": [{"entry": name, "tasks": rows}]}
    prepack = {"prepack": {"entry": name + "_prepack", "tasks": N, "layout": "columns", "reads": [1]}}
    slices = {"slices": {"field": "m", "size": rows, "bucket": False}}
    more = {"rows": rows} if told else {}
    return {**texts, "features": [], "file": f"kernels/{name}.so", **numbers, "params": params, **steps, **prepack, **slices, **more}


def write(folder):
    kernels = [kernel(folder, "one", 1, False), kernel(folder, "few", 16, True), kernel(folder, "many", 64, True)]
    members = [{"kernel": index, "to": to} for index, to in ((0, 1), (1, 16), (2, 64))]
    workload = f"gemm m=1..64 n={N} k={K} b=f32:row:constant epilogue=bias"
    one = {"workload": workload, "defaults": "", "shorter": "", "field": "m", "least": 1, "most": 64, "threads": 1}
    sets = [{**one, "members": members, "times": [[1, 1.0], [64, 50.0]]}]
    manifest = {"format": "lehr-bundle-folder", "version": 2, "files": {}, "kernels": kernels, "sets": sets, "sha256": "0" * 64}
    for each in kernels:
        with open(os.path.join(folder, each["file"]), "rb") as file:
            manifest["files"][each["file"]] = hashlib.sha256(file.read()).hexdigest()
    text = json.dumps(manifest)
    manifest["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    with open(os.path.join(folder, "manifest.json"), "w") as file:
        file.write(json.dumps(manifest))


def tensors(rows):
    import numpy

    random = numpy.random.default_rng(rows)
    a, b, bias = (random.standard_normal(shape, dtype="f4") for shape in ((rows, K), (K, N), (N,)))
    return a, b, bias, a.astype("f8") @ b + bias


def refused(call, words, kind=ValueError):
    try:
        call()
    except kind as error:
        assert words in str(error), (words, error)
        return
    raise AssertionError(f"{words}: accepted")


def use(folder):
    import numpy

    import lehr_bundle

    rest = f" n={N} k={K} b=f32:row:constant epilogue=bias"
    with lehr_bundle.open(folder, threads=1) as bundle:
        assert [(each.workload.split()[1], each.most_rows) for each in bundle] == [("m=1", 0), ("m=1..64", 64)]
        kernel = bundle.find("gemm m=1..64" + rest)
        assert (kernel.least_rows, kernel.most_rows) == (1, 64)
        _, b, bias, _ = tensors(1)
        layer = kernel.prepack(b)
        for rows in range(1, 65):
            a, _, _, _ = tensors(rows)
            wanted = a.astype("f8") @ b + bias
            c = layer(a, bias)
            assert c.shape == (rows, N) and numpy.abs(c - wanted).max() < 1e-5, rows
            out = numpy.zeros((rows, N), "f4")
            assert layer(a, bias, out=out) is out and (out == c).all()
            bound = bundle.find(f"gemm m={rows}" + rest)
            assert bound.most_rows == 0 and (bound(a, b, bias) == c).all(), bound
            assert (kernel(a, b, bias) == c).all()
        a = tensors(64)[0]
        refused(lambda: layer(numpy.zeros((65, K), "f4"), bias), "a has 65 rows, the kernel takes 1 to 64")
        refused(lambda: layer(numpy.zeros((0, K), "f4"), bias), "a has 0 rows, the kernel takes 1 to 64")
        refused(lambda: layer(numpy.zeros(K * 2 + 1, "f4"), bias), "a has 36 bytes, the kernel takes 32")
        refused(lambda: layer(a, bias, out=numpy.zeros((63, N), "f4")), "c has 2016 bytes, the kernel takes 2048")
        assert bundle.find("gemm m=3" + rest).answer == "exact"


def ffi(folder):
    import numpy
    import tvm_ffi

    lehr = tvm_ffi.load_module(os.path.join(folder, "liblehr_bundle.so"))
    bundle = lehr.lehr_open(folder)
    kernel = lehr.lehr_find(bundle, f"gemm m=1..64 n={N} k={K} b=f32:row:constant epilogue=bias", 1)
    assert lehr.lehr_param_bytes(kernel, 0) == 64 * K * 4
    room = numpy.zeros(N * K * 4 + 64, "u1")
    packed = room[-room.ctypes.data % 64 :][: N * K * 4]
    _, b, bias, _ = tensors(1)
    lehr.lehr_prepack(kernel, 0, 1, None, None, b, None, None, packed)
    for rows in (1, 2, 16, 17, 64):
        a = tensors(rows)[0]
        c = numpy.zeros((rows, N), "f4")
        lehr.lehr_run(kernel, 0, 1, None, a, b, c, bias, packed)
        assert numpy.abs(c - (a.astype("f8") @ b + bias)).max() < 1e-5, rows
        fewer = numpy.zeros((rows + 1, N), "f4")
        refused(lambda: lehr.lehr_run(kernel, 0, 1, None, a, b, fewer, bias, packed), f"c has {32 * rows + 32} bytes, not {32 * rows}")
    a, c = numpy.zeros((65, K), "f4"), numpy.zeros((65, N), "f4")
    refused(lambda: lehr.lehr_run(kernel, 0, 1, None, a, b, c, bias, packed), "lehr_call::rows is 65: the kernel takes 1 to 64")
    lehr.lehr_close(bundle)


{"write": write, "use": use, "ffi": ffi}[sys.argv[1]](sys.argv[2])
