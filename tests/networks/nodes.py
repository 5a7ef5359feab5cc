"""Fused nodes, written by hand, run kernels that were tuned for a moment beside the engine's own operators (plugin.py, typed.py); and
without them, or with a bundle that was changed, these compute everything."""

import glob
import os
import re
import shutil
import subprocess
import sys

from networks import HERE

IMAGE = "conv2d --h 14 --w 14 --c 16 --k 16 --r 3 --pad 1"
WORKLOADS = (IMAGE + " --epilogue bias+relu --threads 2", IMAGE + " --epilogue bias+residual+relu --threads 1",
             IMAGE + " --stride 2 --epilogue bias --threads 1",
             "gemm --m 8 --n 96 --k 64 --b f32:column:constant --epilogue bias --threads 2",
             "gemm --m 24 --n 48 --k 64 --b f32:row:constant --threads 1",
             "conv2d --h 1 --w 64 --c 8 --k 16 --r 1 --s 5 --stride 1x2 --pad 0x2 --epilogue bias --threads 1",
             IMAGE + " --dtype u8 --zero input --y u8 --epilogue bias+dequant+relu+quant --threads 1",
             IMAGE + " --dtype bf16 --epilogue bias+residual+relu --threads 1",
             "gemm --m 8 --n 96 --k 64 --a u8 --b s8:column:constant --zero input --epilogue bias+dequant --threads 1",
             "gemm --m 8 --n 96 --k 64 --a bf16 --b bf16:column:constant --c f32 --epilogue bias --threads 2")


def run(lehr):
    os.mkdir("fused")
    subprocess.run([lehr.helper, "fused"], check=True)
    headers = subprocess.run(["objdump", "-p", "fused/liblehr_onnxruntime.so"], check=True, capture_output=True, text=True).stdout
    needs = re.findall(r"^ *NEEDED *(.*)", headers, re.MULTILINE)
    assert all(re.match(r"lib(c|m|dl|pthread)\.so", each) for each in needs), needs
    for workload in WORKLOADS:
        lehr(f"tune {workload} --device cpu --trials 1 --no-baseline --db log.db")
    lehr.export("fused.bundle")
    shutil.copytree("fused.bundle/plugin", "fused/kernels")

    def script(*words):
        ran = subprocess.run([sys.executable, f"{HERE}/{words[0]}", *words[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, env=lehr.environment)
        assert ran.returncode == 0, (words, ran.stdout)
        return ran.stdout

    script("typed.py", "fused")
    said = script("plugin.py", "fused")
    assert os.path.abspath("fused/kernels") not in said, f"a bundle that is right is complained of: {said}"
    os.mkdir("none")
    shutil.copy("fused/liblehr_onnxruntime.so", "none")
    script("typed.py", "none", "without")
    said = script("plugin.py", "none", "without")
    assert len(re.findall("the engine's own operators compute all fused nodes: .*none/kernels cannot be opened", said)) == 1, said
    shutil.copytree("fused", "changed")
    with open(glob.glob("changed/kernels/kernels/*.so")[0], "a") as file:
        file.write("x")
    said = script("plugin.py", "changed", "without")
    assert said.count("its hash differs") == 1, said
