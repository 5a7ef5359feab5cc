// A product of f32 matrices on a GPU, from a bundle, taken into a CUDA graph: cuda_graph FOLDER M N K. Here
// the driver's functions are declared by hand, so that the example builds without a toolkit; a program with
// CUDA's headers includes them, and may use the runtime's calls as well.
#include <dlfcn.h>
#include <lehr_bundle.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using Address = unsigned long long;  // CUdeviceptr

struct Driver {
  int (*init)(unsigned);
  int (*device_get)(int*, int);
  int (*context_retain)(void**, int);
  int (*context_set)(void*);
  int (*allocate)(Address*, std::size_t);
  int (*release)(Address);
  int (*fill)(Address, unsigned char, std::size_t);
  int (*to_device)(Address, const void*, std::size_t);
  int (*to_host)(void*, Address, std::size_t);
  int (*stream_create)(void**, unsigned);
  int (*begin_capture)(void*, int);
  int (*end_capture)(void*, void**);
  int (*instantiate)(void**, void*, unsigned long long);
  int (*graph_launch)(void*, void*);
  int (*synchronize)(void*);

  explicit Driver(void* library) {
    const auto find = [library](auto*& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (function == nullptr) std::fprintf(stderr, "the CUDA driver has no %s\n", name), std::exit(1);
    };
    find(init, "cuInit");
    find(device_get, "cuDeviceGet");
    find(context_retain, "cuDevicePrimaryCtxRetain");
    find(context_set, "cuCtxSetCurrent");
    find(allocate, "cuMemAlloc_v2");
    find(release, "cuMemFree_v2");
    find(fill, "cuMemsetD8_v2");
    find(to_device, "cuMemcpyHtoD_v2");
    find(to_host, "cuMemcpyDtoH_v2");
    find(stream_create, "cuStreamCreate");
    find(begin_capture, "cuStreamBeginCapture_v2");
    find(end_capture, "cuStreamEndCapture");
    find(instantiate, "cuGraphInstantiateWithFlags");
    find(graph_launch, "cuGraphLaunch");
    find(synchronize, "cuStreamSynchronize");
  }
};

lehr_error error = {sizeof error, ""};

void check(lehr_status status) {
  if (status != LEHR_OK) std::fprintf(stderr, "%s\n", error.text), std::exit(1);
}
void check_driver(int code) {
  if (code != 0) std::fprintf(stderr, "the CUDA driver answers %d\n", code), std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return std::fprintf(stderr, "usage: cuda_graph FOLDER M N K\n"), 2;
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::fprintf(stderr, "there is no CUDA driver\n"), 1;
  const Driver cuda(library);

  // The kernels are loaded into the context that is current.
  int device;
  void *context, *stream;
  check_driver(cuda.init(0));
  check_driver(cuda.device_get(&device, 0));
  check_driver(cuda.context_retain(&context, device));
  check_driver(cuda.context_set(context));
  check_driver(cuda.stream_create(&stream, 1));  // CU_STREAM_NON_BLOCKING
  lehr_bundle bundle;
  check(lehr_open(argv[1], nullptr, &bundle, &error));
  const lehr_find_options options = {sizeof options, 0, 0, LEHR_CUDA};
  const std::string workload = std::string("gemm m=") + argv[2] + " n=" + argv[3] + " k=" + argv[4];
  lehr_kernel kernel;
  check(lehr_find(bundle, workload.c_str(), &options, &kernel, &error));
  lehr_kernel_info info = {};
  info.size = sizeof info;
  check(lehr_info(kernel, &info, &error));

  // A, B, C, then what the kernel works with besides: zeros before its first launch.
  std::vector<void*> params;
  std::vector<std::uint64_t> bytes;
  for (std::uint32_t i = 0; i < info.params; ++i) {
    lehr_param_info param = {};
    param.size = sizeof param;
    check(lehr_param(kernel, i, &param, &error));
    Address address;
    check_driver(cuda.allocate(&address, param.bytes));
    check_driver(cuda.fill(address, 0, param.bytes));
    params.push_back(reinterpret_cast<void*>(address));
    bytes.push_back(param.bytes);
  }
  const auto fill = [&](std::size_t param, float value) {
    const std::vector<float> values(bytes[param] / sizeof(float), value);
    check_driver(cuda.to_device(reinterpret_cast<Address>(params[param]), values.data(), bytes[param]));
  };
  fill(1, 2);

  // Tensor maps, where it takes any: made once for these addresses.
  lehr_launch_call call = {sizeof call, info.params, params.data(), stream, nullptr, 0};
  check(lehr_tensor_map_bytes(kernel, &call.tensor_map_bytes, &error));
  call.tensor_maps = std::aligned_alloc(64, call.tensor_map_bytes + 64);
  check(lehr_encode(kernel, &call, &error));

  // Nothing runs while the stream is captured; the graph then has the launch with all of its arguments.
  void *graph, *executable;
  check_driver(cuda.begin_capture(stream, 1));  // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
  check(lehr_launch(kernel, &call, &error));
  check_driver(cuda.end_capture(stream, &graph));
  check_driver(cuda.instantiate(&executable, graph, 0));

  // What lies in the tensors is read by every replay.
  std::vector<float> c(bytes[2] / sizeof(float));
  for (const float value : {0.5F, 1.5F}) {
    fill(0, value);
    check_driver(cuda.graph_launch(executable, stream));
    check_driver(cuda.synchronize(stream));
    check_driver(cuda.to_host(c.data(), reinterpret_cast<Address>(params[2]), bytes[2]));
    for (std::size_t i = 0; i < c.size(); ++i)
      if (c[i] != 2 * value * std::strtof(argv[4], nullptr))
        return std::fprintf(stderr, "C[%zu] is %g\n", i, c[i]), 1;
  }
  std::printf("%s: right in a graph, %u part%s, %.1f us expected on %s\n", info.workload, info.parts,
              info.parts == 1 ? "" : "s", info.time_us, info.arch);
  for (void* address : params) check_driver(cuda.release(reinterpret_cast<Address>(address)));
  std::free(call.tensor_maps);
  check(lehr_close(bundle, &error));
}
