// A product on a GPU, taken into a CUDA graph:
//   lehr tune gemm --m 64 --n 64 --k 64 --device cuda && lehr export --target cuda --out kernels
#include <kernels.h>

#include <vector>

#include "driver.h"

int main() {
  constexpr std::size_t kBytes = 64 * 64 * sizeof(float);
  const Driver cuda;
  void *context, *stream, *graph, *executable;
  int device;
  check(cuda.init(0));
  check(cuda.device_get(&device, 0));
  check(cuda.context_retain(&context, device));
  check(cuda.context_set(context));
  check(cuda.stream_create(&stream, 1));  // CU_STREAM_NON_BLOCKING
  float *a, *b, *c;
  std::vector<float> values(64 * 64, 2);
  for (float** tensor : {&a, &b, &c}) {
    check(cuda.allocate(reinterpret_cast<Address*>(tensor), kBytes));
    check(cuda.to_device(reinterpret_cast<Address>(*tensor), values.data(), kBytes));
  }

  kernels_context* const kernels = kernels_create_cuda(device);
  if (kernels == nullptr) {
    std::fprintf(stderr, "the library has no kernel for this GPU\n");
    return 1;
  }
  kernels_stream(kernels, stream);
  check(cuda.begin_capture(stream, 1));  // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
  if (kernels_gemm_m64_n64_k64_cuda(kernels, a, b, c) != KERNELS_OK) {
    std::fprintf(stderr, "%s\n", kernels_message(kernels));
    return 1;
  }
  check(cuda.end_capture(stream, &graph));
  check(cuda.instantiate(&executable, graph, 0));
  check(cuda.graph_launch(executable, stream));
  check(cuda.synchronize(stream));

  check(cuda.to_host(values.data(), reinterpret_cast<Address>(c), kBytes));
  std::printf("C[0] is %g\n", values[0]);
  kernels_destroy(kernels);
  return values[0] == 256 ? 0 : 1;
}
