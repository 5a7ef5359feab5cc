"""Prints the share of a network's time that ONNX Runtime spends in each operator, all its own fusions on: the most
that kernels for other operators than convolutions and products can gain. A node's time is the median of all
inferences but the first ones.

    python3 profile.py [--threads N ...] [--runs R] [--dim NAME=SIZE ...] [--own] NETWORK.onnx ...

Dimensions that a file has only names for are 1 unless --dim says otherwise. --own prints each operator, too. One that `lehr apply` has
written runs with its kernels, which are products here.
"""

import argparse
import collections
import json
import os
import statistics
import tempfile

import numpy as np
import onnxruntime

ROWS = """Softmax LogSoftmax LayerNormalization SkipLayerNormalization EmbedLayerNormalization SimplifiedLayerNormalization RMSNormalization
 SkipSimplifiedLayerNormalization Gelu BiasGelu FastGelu QuickGelu Erf Tanh Sigmoid HardSigmoid HardSwish Relu LeakyRelu Clip Add Sub Mul Div
 Pow Neg Sqrt Reciprocal Exp Log Abs Min Max Sum Where Less Greater Equal LessOrEqual GreaterOrEqual And Or Not Cast ReduceMean ReduceSum
 ReduceMax ReduceMin BiasSplitGelu BiasAdd BiasSoftmax QuantizeLinear DequantizeLinear DynamicQuantizeLinear
 QLinearSoftmax QLinearMul QLinearAdd QLinearSigmoid QLinearLeakyRelu""".split()
PRODUCTS = """Conv FusedConv MatMul FusedMatMul Gemm FusedGemm Attention MultiHeadAttention MatMulInteger DynamicQuantizeMatMul QLinearMatMul
 QLinearConv MatMulIntegerToFloat QAttention QGemm NhwcFusedConv NchwcConv""".split()
MOVES = """Transpose Reshape Concat Split Slice Gather Squeeze Unsqueeze Expand Shape Identity Flatten Pad ReorderInput ReorderOutput
 Constant ConstantOfShape""".split()
KINDS = {op: kind for kind, ops in (("row by row", ROWS), ("products", PRODUCTS), ("moves", MOVES)) for op in ops}
FIRST_RUNS = 5
TYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(bool)": np.bool_}


def feeds_of(session, dims):
    """Returns inputs of normal numbers; whole numbers are 1."""
    rng = np.random.default_rng(0)
    feeds = {}
    for each in session.get_inputs():
        shape = [size if isinstance(size, int) else dims.get(size, 1) for size in each.shape]
        kind = TYPES[each.type]
        feeds[each.name] = rng.standard_normal(shape).astype(kind) if kind == np.float32 else np.ones(shape, kind)
    return feeds


def node_times(path, threads, runs, dims):
    """Returns (operator, microseconds) of each node that ran."""
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        options.enable_profiling = True
        options.profile_file_prefix = os.path.join(folder, "profile")
        plugin = os.path.join(os.path.dirname(os.path.abspath(path)), "liblehr_onnxruntime.so")
        if os.path.exists(plugin):
            options.register_custom_ops_library(plugin)
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        feeds = feeds_of(session, dims)
        for _ in range(FIRST_RUNS + runs):
            session.run(None, feeds)
        with open(session.end_profiling()) as file:
            events = json.load(file)
    times = collections.defaultdict(list)
    for event in events:
        # Nodes within an If are listed, too.
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time") and event["args"]["op_name"] != "If":
            times[event["args"]["node_index"], event["args"]["op_name"]].append(event["dur"])
    return [(op, statistics.median(each[FIRST_RUNS:])) for (_, op), each in times.items() if len(each) > FIRST_RUNS]


def table(path, threads, runs, dims, own):
    times = node_times(path, threads, runs, dims)
    total = sum(us for _, us in times)
    KINDS.update({op: "products" for op, _ in times if op.startswith("Fused")})
    by_kind, by_op = collections.Counter(), collections.defaultdict(list)
    for op, us in times:
        by_kind[KINDS.get(op, "others")] += us
        by_op[op].append(us)
    name = os.path.basename(path).removesuffix(".onnx")
    if name == "model":
        name = os.path.basename(os.path.dirname(os.path.abspath(path))) + ", applied"
    kinds = " | ".join(f"{100 * by_kind[kind] / total:.1f} %" for kind in ("products", "row by row", "moves", "others"))
    rows = sorted((op for op in by_op if KINDS.get(op) == "row by row"), key=lambda op: -sum(by_op[op]))
    most = ", ".join(f"{op} {100 * sum(by_op[op]) / total:.1f} %" for op in rows[:6])
    print(f"| {name} | {threads} | {total / 1000:.2f} | {kinds} | {most} |")
    if own:
        for op in sorted(by_op, key=lambda op: -sum(by_op[op])):
            print(f"    {op:36} {len(by_op[op]):4} nodes {sum(by_op[op]) / 1000:8.3f} ms {100 * sum(by_op[op]) / total:5.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--dim", action="append", default=[])
    parser.add_argument("--own", action="store_true")
    parser.add_argument("networks", nargs="+")
    options = parser.parse_args()
    dims = {name: int(size) for name, size in (each.split("=") for each in options.dim)}
    print("| network | threads | ms | products | row by row | moves | others | of those row by row |\n|---|---|---|---|---|---|---|---|")
    for path in options.networks:
        for threads in options.threads:
            table(path, threads, options.runs, dims, options.own)


main()
