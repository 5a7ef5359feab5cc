// Kernels that are a part of the program: a product with a bias, 16 x 512 x 256.
#include <lehr_bundle.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main() {
  lehr_error error = {sizeof error, ""};
  const auto check = [&](lehr_status status) {
    if (status != LEHR_OK) std::fprintf(stderr, "%s\n", error.text), std::exit(1);
  };
  lehr_bundle bundle;
  check(lehr_open_linked(&lehr_linked_bundle, nullptr, &bundle, &error));
  lehr_kernel kernel;
  check(lehr_find(bundle, "gemm m=16 n=512 k=256 epilogue=bias", nullptr, &kernel, &error));
  std::vector<float> a(16 * 256, 0.5F), b(256 * 512, 2.0F), c(16 * 512), bias(512, 3.0F);
  std::vector<void*> params = {a.data(), b.data(), c.data(), bias.data()};
  std::uint64_t bytes;
  check(lehr_scratch_bytes(kernel, 1, &bytes, &error));
  void* const scratch = std::aligned_alloc(64, (bytes + 64) / 64 * 64);
  const lehr_call call = {sizeof call, 4, params.data(), scratch, bytes, 1, nullptr, nullptr, 0};
  check(lehr_run(kernel, &call, &error));
  std::free(scratch);
  for (const float value : c)
    if (value != 259.0F) return std::fprintf(stderr, "%g is not 259\n", value), 1;
  std::uint32_t count;
  check(lehr_count(bundle, &count, &error));
  std::printf("%u kernels are linked\n", count);
  check(lehr_close(bundle, &error));
}
