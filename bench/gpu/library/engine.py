"""engine.py FOLDER: nodes of the plug-in on ONNX Runtime's CUDA provider, beside the provider's own operators. FOLDER has the plug-in and
the libraries `kernels` and `splits` of bench/gpu/library/prepare. Without that provider it is a dry
run on the processor, with a library `kernels` that has SMALL."""

import ctypes
import sys
import threading
import time

import numpy
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

CPU = "CPUExecutionProvider"
GPU = "CUDAExecutionProvider" in onnxruntime.get_available_providers()
random = numpy.random.default_rng(int(time.time()))


def normal(*shape):
    return random.standard_normal(shape, dtype=numpy.float32)


def model(nodes, inputs, constants, outputs):
    told = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    kept = [numpy_helper.from_array(data, name) for name, data in constants.items()]
    graph = helper.make_graph(
        nodes, "asked", [told(*one) for one in inputs.items()], [told(*one) for one in outputs.items()], kept
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.lehr", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


class Case:
    """One fused node and the operators that it stands for. `tensors`: the node's inputs in the workload's order:
    shapes of inputs that a call brings, arrays of constants. `plain`: the engine's nodes (operator, inputs,
    attributes), each but the last with an output t0, t1, ... `times`: as many of both over the same inputs."""

    def __init__(self, name, library, workload, tensors, output, plain, tolerance, bf16=False, times=1):
        self.name, self.tolerance = name, tolerance
        self.inputs = {one: shape for one, shape in tensors.items() if isinstance(shape, list)}
        shapes = [list(one.shape) if isinstance(one, numpy.ndarray) else one for one in tensors.values()]
        attributes = {
            "version": 4,
            "library": library,
            "workload": workload,
            "threads": 1,
            "shapes": [number for shape in shapes for number in (len(shape), *shape)],
            "output_shapes": [len(output), *output],
        }
        constants, fused, own = {}, [], []
        for i in range(times):
            # Each node has constants of its own, since the engine merges nodes that are alike.
            of = {one: one if one in self.inputs else f"{one}_{i}" for one in tensors}
            constants |= {of[one]: data + numpy.float32(i) / 8 for one, data in tensors.items() if one not in self.inputs}
            fused += self.fused_nodes(i, list(of.values()), attributes, bf16)
            for number, (operator, taken, more) in enumerate(plain):
                made = f"y{i}" if number == len(plain) - 1 else f"t{number}_{i}"
                own.append(helper.make_node(operator, [of.get(one, f"{one}_{i}") for one in taken], [made], **more))
        outputs = {f"y{i}": output for i in range(times)}
        self.fused, self.plain = (model(nodes, self.inputs, constants, outputs) for nodes in (fused, own))

    def fused_nodes(self, i, names, attributes, bf16):
        """Returns the fused nodes, with the casts that a node of bf16 needs."""
        if not bf16:
            return [helper.make_node("Fused", names, [f"y{i}"], f"fused_{i}", domain="ai.lehr", **attributes)]
        casts = [helper.make_node("Cast", [one], [f"{one}_bf16_{i}"], to=TensorProto.BFLOAT16) for one in names]
        node = helper.make_node(
            "FusedBf16", [one.output[0] for one in casts], [f"y{i}_bf16"], f"fused_{i}", domain="ai.lehr", **attributes
        )
        return [*casts, node, helper.make_node("Cast", [f"y{i}_bf16"], [f"y{i}"], to=TensorProto.FLOAT)]

    def feeds(self):
        return {one: normal(*shape) for one, shape in self.inputs.items()}


def session(made, plugin, captured=False, provider="CUDAExecutionProvider" if GPU else CPU):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.register_custom_ops_library(plugin)
    flags = {"enable_cuda_graph": str(int(captured))} if provider != CPU else {}
    opened = onnxruntime.InferenceSession(made, options, providers=[(provider, flags)])
    if provider not in opened.get_providers():
        raise RuntimeError(f"the provider was not loaded: there are {opened.get_providers()}")
    return opened


class Bound:
    """A session whose inputs and outputs stay in the device's memory."""

    def __init__(self, opened, feeds):
        self.session, self.binding, device = opened, opened.io_binding(), "cuda" if GPU else "cpu"
        values = onnxruntime.OrtValue
        self.inputs = {one: values.ortvalue_from_numpy(data, device, 0) for one, data in feeds.items()}
        for one, value in self.inputs.items():
            self.binding.bind_ortvalue_input(one, value)
        self.outputs = []
        for one in opened.get_outputs():
            self.outputs.append(values.ortvalue_from_shape_and_type(one.shape, numpy.float32, device, 0))
            self.binding.bind_ortvalue_output(one.name, self.outputs[-1])

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def results(self, feeds):
        for one, data in feeds.items():
            self.inputs[one].update_inplace(data)
        self.run()
        return [value.numpy() for value in self.outputs]

    def us(self, calls=100):
        """Returns the median of seven blocks."""
        blocks = []
        for _ in range(8):
            begun = time.perf_counter()
            for _ in range(calls):
                self.run()
            blocks.append((time.perf_counter() - begun) * 1e6 / calls)
        return sorted(blocks[1:])[3]


def expect_right(case, got, reference, feeds, how):
    wanted = reference.run(None, feeds)
    off = max(float(numpy.linalg.norm(g.astype("f8") - w) / numpy.linalg.norm(w)) for g, w in zip(got, wanted))
    assert off <= case.tolerance, f"{how}: {off:.1e} off, {case.tolerance:.0e} are allowed"


def ask(case, plugin):
    """Compares results with the same workspaces again and again, in memory of its own and bound, by the provider's
    graph, from threads."""
    reference = session(case.plain, plugin, provider=CPU)
    counted = ctypes.CDLL(plugin).lehr_onnxruntime_kernel_calls
    counted.restype = ctypes.c_uint64
    begun, before = time.perf_counter(), counted()
    fused = session(case.fused, plugin)
    line, feeds = f"created in {(time.perf_counter() - begun) * 1e3:.1f} ms", case.feeds()
    expect_right(case, fused.run(None, feeds), reference, feeds, "a call")
    assert counted() > before, "no kernel was called"
    for captured in (False, True)[: 1 + GPU]:
        how = "captured" if captured else "bound"
        bound = Bound(session(case.fused, plugin, captured), feeds)
        for _ in range(4):
            feeds = case.feeds()
            expect_right(case, bound.results(feeds), reference, feeds, how)
        theirs = Bound(session(case.plain, plugin, captured), feeds)
        line += f"; {how} {bound.us():.1f} us an inference, the provider's own operators {theirs.us():.1f}"
    ask_at_once(case, [fused, session(case.fused, plugin)], reference)
    print(f"  ok {case.name}: {line}", flush=True)


def ask_at_once(case, sessions, reference):
    failed = []

    def work(opened):
        try:
            for _ in range(10):
                feeds = case.feeds()
                expect_right(case, opened.run(None, feeds), reference, feeds, "four threads")
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(one,)) for one in sessions * 2]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    if failed:
        raise failed[0]


def product(name, library, m, n, k, text, tolerance, **more):
    tensors = {"x": [m, k], "w": normal(n, k)}
    workload = f"gemm m={m} n={n} k={k} {text}"
    return Case(name, library, workload, tensors, [m, n], [("Gemm", ["x", "w"], {"transB": 1})], tolerance, **more)


def convolution(name, library):
    tensors = {
        "x": [64, 672, 14, 14],
        "f": normal(112, 672, 1, 1) / 26,
        "scale": normal(112, 1, 1),
        "shift": normal(112, 1, 1),
        "r": [64, 112, 14, 14],
    }
    plain = [
        ("Conv", ["x", "f"], {}),
        ("Mul", ["t0", "scale"], {}),
        ("Add", ["t1", "shift"], {}),
        ("Add", ["t2", "r"], {}),
        ("Relu", ["t3"], {}),
    ]
    workload = "conv2d n=64 h=14 w=14 c=672 k=112 r=1 s=1 epilogue=scale_shift+residual+relu"
    return Case(name, library, workload, tensors, [64, 112, 14, 14], plain, 1e-3)


SMALL = {"m": 48, "n": 48, "k": 64, "text": "b=f32:column:constant", "tolerance": 1e-5}
TF32 = {"m": 32, "n": 1000, "k": 2048, "text": "b=f32:column math=tf32", "tolerance": 2e-3}


def cases():
    if not GPU:
        yield product("a product", "kernels", **SMALL)
        yield product("ten of them", "kernels", **SMALL, times=10)
        return
    for library, how in (("kernels", ""), ("splits", ", parts of k")):
        yield product("32 x 1000 x 2048, tf32" + how, library, **TF32)
        yield product("20 of them" + how, library, **TF32, times=20)
        yield convolution("64 images, 672 to 112 channels" + how, library)
    yield product("4096 x 768 x 3072, tf32", "kernels", 4096, 768, 3072, TF32["text"], 2e-3)
    yield product("64 x 4096 x 25088, 3xtf32, parts of k", "splits", 64, 4096, 25088, "b=f32:column math=3xtf32", 1e-5)
    bf16 = "a=bf16:row b=bf16:column c=bf16:row"
    yield product("4 x 896 x 4864, bf16, parts of k", "splits", 4, 896, 4864, bf16, 1e-2, bf16=True)


def main(folder):
    print(f"onnxruntime {onnxruntime.__version__} {onnxruntime.get_available_providers()}")
    failed = 0
    for case in cases():
        try:
            ask(case, f"{folder}/liblehr_onnxruntime.so")
        except Exception as error:
            failed += 1
            print(f"  WRONG {case.name}: {type(error).__name__}: {error}", flush=True)
    print(f"  {failed} wrong")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
