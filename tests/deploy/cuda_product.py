"""Of cuda_product_test: writes into FOLDER a bundle whose kernels the stand-in for the driver knows by their names."""

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


write(sys.argv[1])
