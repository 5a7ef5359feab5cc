// cuBLASLt as two baselines. "cublaslt" takes the heuristic's first answer, as most users do. "cublaslt-best"
// times all answers of the heuristic and takes the fastest.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "measure/cuda/cuda_harness.h"
#include "measure/vendor/cublaslt/cublaslt.h"
#include "measure/vendor/vendor_library.h"

namespace lehr::cublaslt {

extern const VendorLibrary kLibrary;

/// The libraries that are opened. Only tests set others.
struct CublasLtOptions {
  CudaLibraries cuda;
  std::vector<std::string> paths = cublaslt_paths();
};

/// Times calls in the same way as our own kernels: with the same tensors, in graphs. prepare() chooses the
/// algorithm.
class CublasLtRunner : public VendorRunner {
 public:
  /// `best`: takes the fastest of the heuristic's answers. If false, it takes the first answer.
  explicit CublasLtRunner(CublasLtOptions options = {}, bool best = false);

  /// Throws Error(kEnvironment) if the driver or the library is missing, Error(kUser) if the library has no
  /// kernel for the problem's types and layouts.
  void prepare(const Problem& problem, const RunSettings& settings) override;
  std::string checked_by() const override { return harness_.checked_by(); }
  std::optional<LibraryFinding> finding() const override { return finding_; }
  std::variant<Checked, Fault> check(int slot) override;
  std::variant<Samples, Fault> time(int slot, const SampleRequest& request) override;

 private:
  /// An algorithm for one of the two orders in which the problem can be declared.
  struct Choice {
    const LtMatmul* matmul = nullptr;
    LtAlgorithm algorithm;
    int rank = 0;  ///< position in the heuristic's answer
  };

  void collect(std::int64_t workspace_bytes, int count);
  void choose(const LibrarySearch& search);
  CudaHarness::Call call_of(const Choice& choice) const;
  [[noreturn]] void refuse(const LtGemm& gemm, LtStatus status) const;

  CublasLtOptions options_;
  bool best_ = false;
  CudaHarness harness_;
  CudaMemory workspace_;  ///< this and the next three members are destroyed before the context
  std::unique_ptr<CublasLt> library_;
  std::vector<LtMatmul> matmuls_;
  std::vector<Choice> choices_;  ///< the chosen algorithm is the first
  std::optional<LibraryFinding> finding_;
  std::string note_;
};

}  // namespace lehr::cublaslt
