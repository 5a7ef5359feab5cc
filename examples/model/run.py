"""Runs a network that `lehr apply` has written: ONNX Runtime with the plug-in that lies beside it.

    python3 run.py FOLDER
"""

import os
import sys

import numpy as np
import onnxruntime

folder = sys.argv[1]
options = onnxruntime.SessionOptions()
options.register_custom_ops_library(os.path.abspath(os.path.join(folder, "liblehr_onnxruntime.so")))
session = onnxruntime.InferenceSession(os.path.join(folder, "model.onnx"), options)
given = session.get_inputs()[0]
image = np.random.default_rng(0).standard_normal([size if isinstance(size, int) else 1 for size in given.shape])
print(session.run(None, {given.name: image.astype(np.float32)})[0])
