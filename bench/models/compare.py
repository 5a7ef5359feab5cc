"""Times networks that `lehr apply` has written beside the originals in ONNX Runtime and, where it is installed, in
OpenVINO. All types of a network are timed in one process and in short turns, so that other load on the machine hits
all alike.

    python3 compare.py --threads N [--seconds S] [--out FILE.json] NAME=TYPE=ORIGINAL.onnx=FOLDER ...
    python3 compare.py --threads N --own NAME=TYPE=ORIGINAL.onnx=FOLDER ...

A row's ORIGINAL is what both engines run: the network in f32 for the types f32 and bf16, the quantized one for int8. OpenVINO computes in
f32 for the type f32, else in what it takes by default. Differences are from ONNX Runtime's outputs of the same file. --own times nothing:
it says how large the outputs are, and how far the engine's own are apart with and without its optimizations, as shares of the largest.
"""

import argparse
import itertools
import json
import os
import statistics
import time

import numpy as np
import onnxruntime

try:
    import openvino
except ImportError:
    openvino = None

TURN_S = 0.02


def onnx_session(path, threads, plugin=None, optimized=True):
    options = onnxruntime.SessionOptions()
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    # Otherwise its threads go on spinning behind an inference, on the CPUs that the other session needs.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    if plugin:
        options.register_custom_ops_library(plugin)
    return onnxruntime.InferenceSession(path, options)


def openvino_request(path, feeds, threads, precision):
    """Returns the request and the type in which it computes; `precision` "" is OpenVINO's own choice."""
    core = openvino.Core()
    model = core.read_model(path)
    model.reshape({name: list(value.shape) for name, value in feeds.items()})
    settings = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1}
    if precision:
        settings["INFERENCE_PRECISION_HINT"] = precision
    compiled = core.compile_model(model, "CPU", settings)
    return compiled.create_infer_request(), compiled.get_property("INFERENCE_PRECISION_HINT").to_string()


def turns(calls, seconds):
    """Returns milliseconds of an inference in each turn, by the name of the call."""
    counts, times = {}, {name: [] for name in calls}
    for name, call in calls.items():
        call()
        begin = time.perf_counter()
        call()
        counts[name] = max(1, int(TURN_S / (time.perf_counter() - begin)))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[next(iter(calls))]) < 9:
        for name, call in calls.items():
            call()  # its threads have to wake up
            begin = time.perf_counter()
            for _ in range(counts[name]):
                call()
            times[name].append(1000 * (time.perf_counter() - begin) / counts[name])
    return times


def random_feeds(session):
    rng = np.random.default_rng(0)
    return {each.name: rng.standard_normal([size if isinstance(size, int) else 1 for size in each.shape]).astype(np.float32)
            for each in session.get_inputs()}


def worst_difference(wanted, got):
    """Returns the largest difference as a share of the largest value of its output."""
    return max(float(np.abs(w - g).max() / np.abs(w).max()) for w, g in zip(wanted, got))


def own_difference(row, threads):
    session = onnx_session(row["original"], threads)
    feeds = random_feeds(session)
    wanted, plain = session.run(None, feeds), onnx_session(row["original"], threads, optimized=False).run(None, feeds)
    largest = max(float(np.abs(each).max()) for each in wanted)
    print(f"{row['model']} {row['type']}: outputs up to {largest:.1e}, with and without optimizations "
          f"{worst_difference(wanted, plain):.1e} apart", flush=True)


def calls_of(row, threads):
    """Returns the calls of one type of a network, by who computes it. Facts that need no timing go into the row."""
    before = onnx_session(row["original"], threads)
    plugin = os.path.abspath(os.path.join(row["folder"], "liblehr_onnxruntime.so"))
    after = onnx_session(os.path.join(row["folder"], "model.onnx"), threads, plugin if os.path.exists(plugin) else None)
    feeds = random_feeds(before)
    wanted = before.run(None, feeds)
    row["worst_difference"] = worst_difference(wanted, after.run(None, feeds))
    calls = {"original": lambda: before.run(None, feeds), "lehr": lambda: after.run(None, feeds)}
    if openvino:
        request, row["openvino_precision"] = openvino_request(row["original"], feeds, threads, "f32" if row["type"] == "f32" else "")
        got = request.infer(feeds)
        row["openvino_difference"] = worst_difference(wanted, [got[i] for i in range(len(wanted))])
        calls["openvino"] = lambda: request.infer(feeds)
    return calls


def compare(rows, seconds, threads):
    """Adds to the rows of one network `ms`, and `speedup`: Lehr's speed over the others'."""
    calls = {(at, who): call for at, row in enumerate(rows) for who, call in calls_of(row, threads).items()}
    times = turns(calls, seconds * len(rows))
    for at, row in enumerate(rows):
        own = {who: times[of, who] for of, who in times if of == at}
        row["ms"] = {who: statistics.median(values) for who, values in own.items()}
        row["speedup"] = {who: statistics.median(a / b for a, b in zip(values, own["lehr"])) for who, values in own.items() if who != "lehr"}


def line(row, threads):
    def cell(values, form):
        return format(values, form) if values is not None else "-"

    ms, ratio = row["ms"], row["speedup"]
    return (f"| {row['model']} | {row['type']} | {threads} | {ms['original']:.2f} | {cell(ms.get('openvino'), '.2f')} | {ms['lehr']:.2f} | "
            f"{ratio['original']:.2f}x | {cell(ratio.get('openvino'), '.2f')}{'x' if openvino else ''} | "
            f"{row['worst_difference']:.1e} | {cell(row.get('openvino_difference'), '.1e')} |")


def summary(rows):
    """Prints a line for each type and engine."""
    engines = {"original": f"ONNX Runtime {onnxruntime.__version__}"}
    if openvino:
        engines["openvino"] = f"OpenVINO {openvino.get_version()}"
    for kind in dict.fromkeys(row["type"] for row in rows):
        for who, called in engines.items():
            ratios = [row["speedup"][who] for row in rows if row["type"] == kind]
            in_what = {row["openvino_precision"] for row in rows if row["type"] == kind} if who == "openvino" else ()
            yield (f"{kind}: geometric mean against {called}{' in ' + ', '.join(sorted(in_what)) if in_what else ''} "
                   f"{float(np.exp(np.mean(np.log(ratios)))):.2f}x, lowest {min(ratios):.2f}x")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=10, help="of each row (10)")
    parser.add_argument("--out")
    parser.add_argument("--own", action="store_true")
    parser.add_argument("rows", nargs="+")
    options = parser.parse_args()
    rows = [dict(zip(("model", "type", "original", "folder"), each.split("="), strict=True)) for each in options.rows]
    if options.own:
        for row in rows:
            own_difference(row, options.threads)
        return
    print("| model | type | threads | ONNX Runtime ms | OpenVINO ms | Lehr ms | against ONNX Runtime | against OpenVINO | difference | OpenVINO's |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for _, group in itertools.groupby(rows, lambda row: row["model"]):
        group = list(group)
        compare(group, options.seconds, options.threads)
        for row in group:
            row["threads"] = options.threads
            print(line(row, options.threads), flush=True)
    print()
    for text in summary(rows):
        print(f"- {text}")
    if options.out:
        with open(options.out, "w") as file:
            json.dump(rows, file, indent=1)


main()
