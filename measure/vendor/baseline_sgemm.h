// A vendor library's single-precision GEMM behind the runner seam: what OpenBLAS and oneDNN have in common.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "measure/core/runner.h"
#include "measure/host/host_buffers.h"

namespace lehr {

/// Row-major c (m x n, leading dimension ldc) = alpha op(a) op(b); op transposes where the flag is set.
struct SgemmCall {
  bool transpose_a = false, transpose_b = false;
  std::int64_t m = 0, n = 0, k = 0;
  float alpha = 1;
  const float* a = nullptr;
  std::int64_t lda = 0;
  const float* b = nullptr;
  std::int64_t ldb = 0;
  float* c = nullptr;
  std::int64_t ldc = 0;
};
using SgemmFunction = std::function<void(const SgemmCall&)>;

/// `gemm` as one call per batch entry. A column-major C is computed as its transpose: C^T = op(B)^T op(A)^T.
std::vector<SgemmCall> sgemm_calls(const Gemm& gemm, const float* a, const float* b, float* c);

/// A Runner (measure/core/runner.h) for an f32 GEMM with two inputs. Its one slot needs no file: Candidate is not
/// looked at. Threads are bound by nobody; their number is set by the environment that the worker is started
/// with.
class SgemmRunner {
 public:
  static constexpr std::array<std::string_view, 2> kReads = {"math", "alpha"};

  /// `open` loads the library; it throws Error(kEnvironment) that says what to install.
  SgemmRunner(std::string name, SgemmFunction (*open)());

  /// Throws Error(kEnvironment) when the library is missing, Error(kUser) when the problem is no f32 GEMM
  /// without epilogue.
  void prepare(const Problem& problem, const RunSettings& settings);
  std::variant<Resources, Fault> load(int slot, const Candidate& candidate);
  std::variant<Checked, Fault> check(int slot);
  std::variant<Samples, Fault> time(int slot, const SampleRequest& request);
  void unload(int slot);

 private:
  void call() const;

  std::string name_;
  SgemmFunction (*open_)();
  SgemmFunction sgemm_;
  std::unique_ptr<HostBuffers> buffers_;
  std::vector<SgemmCall> calls_;
  int threads_ = 1;
};

}  // namespace lehr
