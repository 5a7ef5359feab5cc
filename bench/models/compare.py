"""Networks that `lehr apply` has written beside the originals in ONNX Runtime, and beside OpenVINO in f32 where it is
installed, in one process and in short turns, so that what else the machine does hits all alike.

    python3 compare.py --threads N [--seconds S] [--out FILE.json] NAME=ORIGINAL.onnx=FOLDER ...
    python3 compare.py --threads N --own NAME=ORIGINAL.onnx=FOLDER ...

--own times nothing: it says how large the outputs are, and how far the engine's own are apart with and without its
optimizations, as shares of the largest.
"""

import argparse
import json
import os
import statistics
import time

import numpy as np
import onnxruntime

TURN_S = 0.02


def onnx_session(path, threads, plugin=None, optimized=True):
    options = onnxruntime.SessionOptions()
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    # Else its threads go on spinning behind an inference, on the CPUs that the other session's need.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    if plugin:
        options.register_custom_ops_library(plugin)
    return onnxruntime.InferenceSession(path, options)


def openvino_call(path, feeds, threads):
    try:
        import openvino
    except ImportError:
        return None
    core = openvino.Core()
    model = core.read_model(path)
    model.reshape({name: list(value.shape) for name, value in feeds.items()})
    compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads,
                                                 "NUM_STREAMS": 1})
    request = compiled.create_infer_request()
    return lambda: request.infer(feeds)


def turns(calls, seconds):
    """Milliseconds of an inference, in each turn."""
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
    """As a share of the largest value of its output."""
    return max(float(np.abs(w - g).max() / np.abs(w).max()) for w, g in zip(wanted, got))


def own_difference(name, original, threads):
    session = onnx_session(original, threads)
    feeds = random_feeds(session)
    wanted, plain = session.run(None, feeds), onnx_session(original, threads, optimized=False).run(None, feeds)
    largest = max(float(np.abs(each).max()) for each in wanted)
    print(f"{name}: outputs up to {largest:.1e}, with and without optimizations {worst_difference(wanted, plain):.1e} apart", flush=True)


def compared(name, original, folder, threads, seconds):
    before = onnx_session(original, threads)
    plugin = os.path.abspath(os.path.join(folder, "liblehr_onnxruntime.so"))
    after = onnx_session(os.path.join(folder, "model.onnx"), threads, plugin if os.path.exists(plugin) else None)
    feeds = random_feeds(before)
    worst = worst_difference(before.run(None, feeds), after.run(None, feeds))
    calls = {"original": lambda: before.run(None, feeds), "lehr": lambda: after.run(None, feeds)}
    other = openvino_call(original, feeds, threads)
    if other:
        calls["openvino"] = other
    times = turns(calls, seconds)
    result = {"model": name, "threads": threads, "worst_difference": worst,
              "ms": {who: statistics.median(values) for who, values in times.items()}}
    result["speedup"] = {who: statistics.median(a / b for a, b in zip(times[who], times["lehr"]))
                         for who in times if who != "lehr"}
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--out")
    parser.add_argument("--own", action="store_true")
    parser.add_argument("models", nargs="+")
    options = parser.parse_args()
    if options.own:
        for each in options.models:
            name, original, _ = each.split("=")
            own_difference(name, original, options.threads)
        return
    results = []
    print("| model | threads | ONNX Runtime ms | OpenVINO f32 ms | Lehr ms | against ONNX Runtime | against OpenVINO | difference |")
    print("|---|---|---|---|---|---|---|---|")
    for each in options.models:
        result = compared(*each.split("="), options.threads, options.seconds)
        results.append(result)
        ms, ratio = result["ms"], result["speedup"]
        cell = lambda value, form: format(value, form) if value else "-"
        print(f"| {result['model']} | {options.threads} | {ms['original']:.2f} | {cell(ms.get('openvino'), '.2f')} | {ms['lehr']:.2f} | "
              f"{ratio['original']:.2f}x | {cell(ratio.get('openvino'), '.2f')}{'x' if 'openvino' in ratio else ''} | "
              f"{result['worst_difference']:.1e} |", flush=True)
    mean = float(np.exp(np.mean([np.log(each["speedup"]["original"]) for each in results])))
    print(f"\nGeometric mean against ONNX Runtime {onnxruntime.__version__}: {mean:.2f}x, "
          f"lowest {min(each['speedup']['original'] for each in results):.2f}x")
    if options.out:
        with open(options.out, "w") as file:
            json.dump(results, file, indent=1)


main()
