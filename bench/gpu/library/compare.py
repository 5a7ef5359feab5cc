"""compare.py LIBRARY: compares a library of `lehr export`, with its Python module beside it, with torch. Each
function's result is held to one in double precision, and to the same within a CUDA graph of torch's. Its time there
stands beside that of torch's own product. Random inputs; needs torch alone."""

import importlib
import os
import re
import sys
import time

import torch

TYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "s32": torch.int32,
    "s8": torch.int8,
    "u8": torch.uint8,
}
FLOAT8 = (torch.float8_e4m3fn, torch.float8_e5m2)
# Largest error of a result: the distance from the one in double precision, divided by the length of that.
ALLOWED = {"f64": 1e-12, "f32": 1e-5, "bf16": 4e-3, "f16": 6e-4, "s32": 0, "s8": 0}
GPU = torch.cuda.is_available()  # else a dry run
DEVICE = "cuda" if GPU else "cpu"
CALLS = 10  # of a graph


def filled(tensor):
    """Returns random numbers of a tensor's type in its strides, and the same in double precision."""
    lies = torch.empty_strided(tensor.shape, tensor.strides, dtype=TYPES[tensor.type], device=DEVICE)
    if lies.dtype.is_floating_point:
        values = torch.randn(tensor.shape, device=DEVICE)
    else:
        values = torch.randint(-127 if lies.dtype.is_signed else 0, 128, tensor.shape, device=DEVICE)
    lies.copy_(values.to(lies.dtype))
    return lies, lies.double()


def bits(array):
    """Returns the tensor as a type for which DLPack has a name."""
    return array.view(torch.uint8) if array.dtype in FLOAT8 else array


def convolved(fields, values):
    """Returns the convolution of images, channels first."""
    numbers = lambda name: tuple(int(one) for one in fields[name].split("x"))
    x, filters = values["x"], values["f"]
    if fields["layout"] == "nhwc":
        x, filters = x.permute(0, 3, 1, 2), filters.permute(0, 3, 1, 2)
    top, left, bottom, right = numbers("pad")
    x = torch.nn.functional.pad(x, (left, right, top, bottom)).contiguous()
    return torch.nn.functional.conv2d(
        x, filters.contiguous(), stride=numbers("stride"), dilation=numbers("dilation"), groups=int(fields["groups"])
    )


def wanted(workload, values):
    """Returns the result in double precision; None if a step of its epilogue is not known here."""
    fields = dict(re.findall(r"(\w+)=(\S+)", workload))
    images = workload.startswith("conv2d")
    last = images and fields["layout"] == "nhwc"
    y = convolved(fields, values) if images else values["a"] @ values["b"] * float(fields.get("alpha", 1))
    channels = lambda name: values[name].reshape(-1, 1, 1) if images else values[name]
    for step in fields["epilogue"].split("+"):
        if step == "bias":
            y = y + channels("bias")
        elif step == "scale_shift":
            y = y * channels("scale") + channels("shift")
        elif step == "residual":
            y = y + (values["residual"].permute(0, 3, 1, 2) if last else values["residual"])
        elif step in ("relu", "silu"):
            y = getattr(torch.nn.functional, step)(y)
        elif step in ("gelu_erf", "gelu_tanh"):
            y = torch.nn.functional.gelu(y, approximate="tanh" if step == "gelu_tanh" else "none")
        elif step != "none":
            return None
    return y.permute(0, 2, 3, 1) if last else y


def graph_of(call):
    """Captures calls in a graph, after one on the capturing stream, which makes the workspaces."""
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        call()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(CALLS):
            call()
    return graph


def us_a_call(graph, rounds=10):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(3):
        graph.replay()
    begin.record()
    for _ in range(rounds):
        graph.replay()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1000 / rounds / CALLS


def in_graph(kernel, inputs, out):
    """Returns whether a graph of calls has the same result, and a line of times."""
    first = out.clone()
    graph = graph_of(lambda: kernel(*map(bits, inputs), out=bits(out)))
    out.zero_()
    graph.replay()
    torch.cuda.synchronize()
    same = torch.equal(bits(out), bits(first))
    line = f"in torch's graph {'the same' if same else 'ANOTHER RESULT'}, {us_a_call(graph):.2f} us"
    if kernel.workload.startswith("gemm") and out.dtype not in FLOAT8 and all(one.dtype == out.dtype for one in inputs[:2]):
        torch.backends.cuda.matmul.allow_tf32 = "math=tf32" in kernel.workload
        theirs = graph_of(lambda: torch.matmul(inputs[0], inputs[1], out=out))
        torch.backends.cuda.matmul.allow_tf32 = False
        line += f", torch.matmul's {us_a_call(theirs):.2f}"
    return same, line


def compare(kernel):
    """Returns whether the function is right, and a line about it."""
    made = {tensor.name: filled(tensor) for tensor in kernel.inputs}
    inputs = [lies for lies, _ in made.values()]
    result = next(tensor for tensor in kernel.tensors if tensor.is_output)
    out = torch.empty_strided(result.shape, result.strides, dtype=TYPES[result.type], device=DEVICE)
    out.copy_(torch.full(result.shape, 7.0))
    kernel(*map(bits, inputs), out=bits(out))
    expected = wanted(kernel.workload, {name: values for name, (_, values) in made.items()})
    if expected is None:
        return True, "its epilogue is not compared"
    off = ((out.double() - expected).norm() / expected.norm()).item()
    allowed = ALLOWED.get(result.type, 0.05)
    if re.search(r"math=tf32|e4m3|e5m2", kernel.workload):
        allowed = max(allowed, 1e-3)
    good, line = off <= allowed, f"{off:.1e} of {allowed:.0e} off"
    if GPU:
        same, times = in_graph(kernel, inputs, out)
        good, line = good and same, f"{line}; {times}"
    return good, line


def main(path):
    folder, file = os.path.split(path)
    sys.path.insert(0, folder)
    torch.manual_seed(int(time.time()))
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    begun = time.time()
    library = importlib.import_module(file[3:-3]).load(**({"cuda": 0} if GPU else {}))
    print(f"{path}: loaded in {1000 * (time.time() - begun):.1f} ms")
    bad = 0
    for kernel in library:
        try:
            good, line = compare(kernel)
        except Exception as error:
            good, line = False, f"{type(error).__name__}: {error}"
        bad += not good
        print(f"  {'ok' if good else 'WRONG'} {kernel.workload}: {line}", flush=True)
    print(f"  {bad} wrong")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
