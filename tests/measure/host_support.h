// Hand-written CPU kernels and the GEMM problem that they solve, for the tests of the CPU half of measure/.
#pragma once

#include <fmt/core.h>

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "codegen/source.h"
#include "measure/host/cpu_device.h"
#include "measure/worker/local_measurer.h"
#include "tests/support/problem_for.h"

namespace lehr::testing {

inline constexpr int kSize = 48;

/// Returns the message of what `action` throws.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// Returns a product in f32. Bit 0 of `layout` stores A by columns, bit 1 B, bit 2 C.
inline Gemm gemm_of(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1, int layout = 0) {
  const auto operand = [layout](int bit) {
    return Operand{.layout = (layout & bit) != 0 ? Layout::kColumn : Layout::kRow};
  };
  return {.m = m, .n = n, .k = k, .batch = batch, .a = operand(1), .b = operand(2), .c = operand(4)};
}

inline Problem gemm_problem(const Gemm& gemm, std::uint64_t seed = 1) {
  return problem_for({gemm, {}}, seed);
}

inline Problem square_problem() {
  return gemm_problem(gemm_of(kSize, kSize, kSize));
}

/// Returns a kernel with `body` as the text of its entry, which sees a, b, c, scratch, task and the constant
/// N.
inline Source source(const std::string& body, long tasks = 1, std::int64_t scratch_bytes = 0) {
  Source result;
  result.entry = "kernel";
  result.launch.work_items = tasks;
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

/// Returns the right product, computed `times` times over.
inline Source right_source(int times = 1) {
  return source(fmt::format(
      "for (int t = 0; t < {}; ++t) {{ rows(a, b, c, 0, N); asm volatile(\"\" ::: \"memory\"); }}", times));
}

/// Returns the right product, followed by a sleep: how long it takes is known, whatever the machine's speed.
inline Source sleeping_source(int milliseconds) {
  Source result = source(fmt::format("rows(a, b, c, 0, N); usleep({});", 1000 * milliseconds));
  result.text = "extern \"C\" int usleep(unsigned);" + result.text;
  return result;
}

inline LocalOptions local_options(int threads = 1) {
  LocalOptions options;
  options.worker.program = LEHR_MEASURE_WORKER;
  options.settings.threads = threads;
  options.limits = cpu_device(threads, false).limits;
  return options;
}

}  // namespace lehr::testing
