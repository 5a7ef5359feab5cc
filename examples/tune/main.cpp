// Tunes a product for five seconds, exports its kernel and calls it.
#include <api/lehr.h>
#include <dlfcn.h>
#include <runtime/kernels.h>

#include <cstdio>
#include <vector>

int main() try {
  lehr::api::Device device({.device = "cpu", .threads = 1});
  lehr::api::Log log("lehr.db");
  const lehr::api::Result tuned = lehr::api::tune("gemm m=256 n=256 k=256", device, log, {.time_s = 5});
  std::printf("%s: %.1f us, %.2f times as fast as the default\n", tuned.config.c_str(), tuned.best.us,
              tuned.speedup);
  lehr::api::export_kernels({.log = log.path(), .out = "kernels", .replace = true});

  // A program that is compiled later includes kernels/kernels.h and is linked; this one loads what it made.
  void* const library = dlopen("kernels/libkernels.so", RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const auto create = reinterpret_cast<decltype(&kernels_create_for)>(dlsym(library, "kernels_create_for"));
  const auto interface = reinterpret_cast<decltype(&kernels_interface)>(dlsym(library, "kernels_interface"));
  const auto gemm =
      reinterpret_cast<kernels_status (*)(kernels_context*, const float*, const float*, float*)>(
          dlsym(library, "kernels_gemm_m256_n256_k256"));
  const std::vector<float> a(256 * 256, 0.5F), b(256 * 256, 2);
  std::vector<float> c(256 * 256);
  const kernels_status status = gemm(create(interface(), nullptr, nullptr, 0), a.data(), b.data(), c.data());
  std::printf("status %d, C[0] is %g\n", status, c[0]);
  return status == KERNELS_OK && c[0] == 256 ? 0 : 1;
} catch (const lehr::api::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.code());
}
