// Tunes a product for five seconds, exports its kernel and calls it.
#include <api/lehr.h>
#include <runtime/lehr_bundle.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

int main() try {
  constexpr std::size_t kSize = 256;
  const char* const workload = "gemm m=256 n=256 k=256";
  lehr::api::Device device({.device = "cpu", .threads = 1});
  lehr::api::Log log("lehr.db");
  const lehr::api::Result tuned = lehr::api::tune(workload, device, log, {.time_s = 5});
  std::printf("%s: %.1f us, %.2f times as fast as the default\n", tuned.config.c_str(), tuned.best.us,
              tuned.speedup);
  lehr::api::export_kernels({.log = log.path(), .out = "kernels", .replace = true});

  lehr_error error = {sizeof error, ""};
  lehr_bundle bundle;
  lehr_kernel kernel;
  if (lehr_open("kernels", nullptr, &bundle, &error) != LEHR_OK ||
      lehr_find(bundle, workload, nullptr, &kernel, &error) != LEHR_OK)
    return std::fprintf(stderr, "%s\n", error.text), 1;
  std::vector<float> a(kSize * kSize, 0.5F), b(kSize * kSize, 2), c(kSize * kSize);
  std::vector<void*> tensors = {a.data(), b.data(), c.data()};
  std::uint64_t bytes = 0;
  lehr_scratch_bytes(kernel, 1, &bytes, &error);
  void* const scratch = std::aligned_alloc(64, (bytes + 64) / 64 * 64);
  const lehr_call call = {sizeof call, 3, tensors.data(), scratch, bytes, 1, nullptr, nullptr, 0};
  if (lehr_run(kernel, &call, &error) != LEHR_OK) return std::fprintf(stderr, "%s\n", error.text), 1;
  std::printf("C[0] is %g\n", c[0]);
  return c[0] == kSize ? 0 : 1;
} catch (const lehr::api::Error& error) {
  return std::fprintf(stderr, "%s\n", error.what()), static_cast<int>(error.code());
}
