"""Tests the plug-in as `lehr apply` compiles it, beside a library of `lehr export`: its fused nodes (fused.py) and
its nodes between them."""

import os
import re
import shutil
import subprocess


def run(lehr):
    os.mkdir("fused")
    subprocess.run([lehr.helper, "fused"], check=True)
    headers = subprocess.run(["objdump", "-p", "fused/liblehr_onnxruntime.so"], check=True, capture_output=True, text=True).stdout
    needs = re.findall(r"^ *NEEDED *(.*)", headers, re.MULTILINE)
    assert all(re.match(r"lib(c|m|dl|pthread)\.so", each) for each in needs), needs
    import between
    import fused
    for workload in fused.WORKLOADS:
        lehr(f"tune {workload} --device cpu --trials 1 --no-baseline --db log.db")
    lehr.export("fused.bundle")
    shutil.copy("fused.bundle/libkernels.so", "fused")
    fused.check()
    between.check_between()
    between.check_passing()
