// Hand-written CPU kernels and the GEMM problem that they solve, for the tests of the CPU half of measure/.
#pragma once

#include <fmt/core.h>

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "codegen/source.h"
#include "measure/local_measurer.h"

namespace lehr::testing {

inline constexpr int kSize = 48;

/// What `action` throws, in words.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// Naive, in double: op(A) op(B) in the layouts of `gemm`.
inline std::vector<float> naive_gemm(const BaselineGemm& gemm, const std::vector<float>& a,
                                     const std::vector<float>& b) {
  std::vector<float> c(static_cast<std::size_t>(gemm.batch * gemm.m * gemm.n));
  const auto at = [](std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns,
                     bool column_major) {
    return column_major ? column * rows + row : row * columns + column;
  };
  for (std::int64_t p = 0; p < gemm.batch; ++p) {
    for (std::int64_t i = 0; i < gemm.m; ++i) {
      for (std::int64_t j = 0; j < gemm.n; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < gemm.k; ++k) {
          const auto ia =
              static_cast<std::size_t>(p * gemm.m * gemm.k + at(i, k, gemm.m, gemm.k, gemm.transpose_a));
          const auto ib =
              static_cast<std::size_t>(p * gemm.k * gemm.n + at(k, j, gemm.k, gemm.n, gemm.transpose_b));
          sum += static_cast<double>(a[ia]) * static_cast<double>(b[ib]);
        }
        const auto ic =
            static_cast<std::size_t>(p * gemm.m * gemm.n + at(i, j, gemm.m, gemm.n, gemm.c_column_major));
        c[ic] = static_cast<float>(sum);
      }
    }
  }
  return c;
}

inline Problem gemm_problem(const BaselineGemm& gemm, std::uint64_t seed = 1) {
  Rng rng(seed);
  const auto random = [&rng](std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = static_cast<float>(rng.uniform() * 2 - 1);
    return values;
  };
  Problem problem;
  problem.gemm = gemm;
  problem.tensors.resize(3);
  problem.tensors[0] = {DType::kF32, gemm.batch * gemm.m * gemm.k, false,
                        random(gemm.batch * gemm.m * gemm.k)};
  problem.tensors[1] = {DType::kF32, gemm.batch * gemm.k * gemm.n, false,
                        random(gemm.batch * gemm.k * gemm.n)};
  problem.tensors[2] = {DType::kF32, gemm.batch * gemm.m * gemm.n, true, {}};
  problem.expected = naive_gemm(gemm, problem.tensors[0].values, problem.tensors[1].values);
  problem.tolerance = 1e-6 * static_cast<double>(gemm.k + 10);
  return problem;
}

inline Problem square_problem() {
  return gemm_problem({kSize, kSize, kSize, 1, false, false, false});
}

/// A kernel with `body` as the text of its entry; it sees a, b, c, scratch, task and the constant N.
inline Source source(const std::string& body, long tasks = 1, std::int64_t scratch_bytes = 0) {
  Source result;
  result.entry = "kernel";
  result.launch.tasks = tasks;
  result.scratch_bytes = scratch_bytes;
  result.text = fmt::format(R"(
extern "C" void abort(); extern "C" void exit(int); extern "C" void* malloc(unsigned long);
static const long N = {};
static void rows(const float* a, const float* b, float* c, long first, long last) {{
  for (long i = first; i < last; ++i)
    for (long j = 0; j < N; ++j) {{
      float sum = 0;
      for (long k = 0; k < N; ++k) sum += a[i * N + k] * b[k * N + j];
      c[i * N + j] = sum;
    }}
}}
extern "C" void kernel(void* const* params, void* scratch, long task) {{
  const float* a = (const float*)params[0]; const float* b = (const float*)params[1]; float* c = (float*)params[2];
  {}
}}
)",
                            kSize, body);
  return result;
}

/// The right product, computed `times` times over.
inline Source right_source(int times = 1) {
  return source(fmt::format(
      "for (int t = 0; t < {}; ++t) {{ rows(a, b, c, 0, N); asm volatile(\"\" ::: \"memory\"); }}", times));
}

inline LocalOptions local_options(int threads = 1) {
  LocalOptions options;
  options.worker.executable = LEHR_MEASURE_WORKER;
  options.settings.threads = threads;
  return options;
}

}  // namespace lehr::testing
