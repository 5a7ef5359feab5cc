"""Tests bench/gpu/library/engine.py, the plug-in's test on a GPU, as a dry run on the processor."""

import os
import shutil
import sys


def run(lehr):
    for file in (lehr.library, lehr.plugin):
        shutil.copy(file, lehr.folder)
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "gpu", "library"))
    import engine
    assert not engine.main(lehr.folder)
