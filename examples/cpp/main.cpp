// A product with a bias, from a bundle: example FOLDER M N K.
#include <lehr_bundle.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 5) return std::fprintf(stderr, "usage: example FOLDER M N K\n"), 2;
  const std::size_t m = std::strtoul(argv[2], nullptr, 10), n = std::strtoul(argv[3], nullptr, 10),
                    k = std::strtoul(argv[4], nullptr, 10);
  lehr_error error = {sizeof error, ""};
  const auto check = [&](lehr_status status) {
    if (status != LEHR_OK) std::fprintf(stderr, "%s\n", error.text), std::exit(1);
  };
  lehr_bundle bundle;
  check(lehr_open(argv[1], nullptr, &bundle, &error));
  lehr_kernel kernel;
  const std::string workload = "gemm m=" + std::to_string(m) + " n=" + std::to_string(n) +
                               " k=" + std::to_string(k) + " epilogue=bias";
  check(lehr_find(bundle, workload.c_str(), nullptr, &kernel, &error));

  // In the order of the workload: A, B, C, bias. Of each element of C is known what it has to be.
  std::vector<float> a(m * k, 0.5F), b(k * n, 2.0F), c(m * n), bias(n);
  for (std::size_t column = 0; column < n; ++column) bias[column] = static_cast<float>(column);
  std::vector<void*> params = {a.data(), b.data(), c.data(), bias.data()};

  // Two threads of a pool of the library's own, and scratch memory for both.
  lehr_pool* pool;
  check(lehr_pool_create(2, &pool, &error));
  std::uint64_t bytes;
  check(lehr_scratch_bytes(kernel, 2, &bytes, &error));
  void* const scratch = std::aligned_alloc(64, (bytes + 64) / 64 * 64);
  const lehr_call call = {sizeof call, 4, params.data(), scratch, bytes, 2, &lehr_pool_run, pool, 0};
  check(lehr_run(kernel, &call, &error));

  for (std::size_t i = 0; i < c.size(); ++i)
    if (c[i] != static_cast<float>(k) + bias[i % n])
      return std::fprintf(stderr, "C[%zu] is %g\n", i, c[i]), 1;
  lehr_kernel_info info = {};
  info.size = sizeof info;
  check(lehr_info(kernel, &info, &error));
  std::printf("%s: right, %u part%s, %.1f us expected\n", info.workload, info.parts,
              info.parts == 1 ? "" : "s", info.time_us);
  std::free(scratch);
  lehr_pool_destroy(pool);
  check(lehr_close(bundle, &error));
}
