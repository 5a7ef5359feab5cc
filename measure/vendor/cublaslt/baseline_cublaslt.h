// cuBLASLt as two baselines: runner "cublaslt" takes the heuristic's first answer, which is what users get;
// "cublaslt-best" times all of its answers and takes the fastest.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "measure/core/runner.h"
#include "measure/cuda/cuda_harness.h"
#include "measure/vendor/cublaslt/cublaslt.h"

namespace lehr {

/// What is opened and how long is searched; others than these are for tests.
struct CublasLtOptions {
  CudaLibraries cuda;
  std::vector<std::string> paths = cublaslt_paths();
  double screening_s = 15;  ///< then the rest, which the library itself expects to be slower, is not tried
};

/// A Runner (measure/core/runner.h) whose one slot needs no file: Candidate is not looked at. Calls are timed as
/// our own kernels are: same tensors, same graphs. prepare() chooses the algorithm.
class CublasLtRunner {
 public:
  static constexpr std::array<std::string_view, 2> kReads = {"math", "alpha"};

  explicit CublasLtRunner(CublasLtOptions options = {}) : CublasLtRunner(std::move(options), false) {}

  /// Throws Error(kEnvironment) when the driver or the library is missing, Error(kUser) when the library has
  /// no kernel for the problem's types and layouts.
  void prepare(const Problem& problem, const RunSettings& settings);
  std::variant<Resources, Fault> load(int slot, const Candidate& candidate);
  std::variant<Checked, Fault> check(int slot);
  std::variant<Samples, Fault> time(int slot, const SampleRequest& request);
  void unload(int slot);

 protected:
  CublasLtRunner(CublasLtOptions options, bool best);

 private:
  /// An algorithm for one of the two ways to declare the problem.
  struct Choice {
    const LtMatmul* matmul = nullptr;
    LtAlgorithm algorithm;
    int rank = 0;  ///< in the heuristic's answer
  };

  void collect(std::int64_t workspace_bytes, int count);
  void choose();
  CudaHarness::Call call_of(const Choice& choice) const;
  [[noreturn]] void refuse(const LtGemm& gemm, LtStatus status) const;

  CublasLtOptions options_;
  bool best_ = false;
  CudaHarness harness_;
  CudaMemory workspace_;  ///< these four go before the context
  std::unique_ptr<CublasLt> library_;
  std::vector<LtMatmul> matmuls_;
  std::vector<Choice> choices_;  ///< the chosen one first
  std::string note_;
};

class CublasLtBestRunner : public CublasLtRunner {
 public:
  explicit CublasLtBestRunner(CublasLtOptions options = {}) : CublasLtRunner(std::move(options), true) {}
};

}  // namespace lehr
