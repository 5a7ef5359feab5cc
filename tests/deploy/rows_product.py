"""Of rows_product_test: writes into FOLDER a bundle of a set for 1 to 64 rows, whose kernels are compiled from a few lines."""

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


write(sys.argv[1])
