// A bundle's kernels for CUDA, launched as a product launches them, with the tensors and the clock of our
// own.
#pragma once

#include <vector>

#include "measure/cuda/cuda_arena.h"
#include "measure/cuda/cuda_harness.h"
#include "measure/vendor/bundle/found_kernel.h"

namespace lehr::bundle {

class CudaBundleRunner : public VendorRunner {
 public:
  /// `libraries`: others than these are for tests; the bundle itself loads the system's driver.
  explicit CudaBundleRunner(CudaLibraries libraries = {}) : harness_(std::move(libraries)) {}

  /// Throws Error(kEnvironment) when the driver is missing, or the bundle does not serve the problem here.
  void prepare(const Problem& problem, const RunSettings& settings) override;
  std::string checked_by() const override { return harness_.checked_by(); }
  /// Twice: with tensor maps that were made beforehand and with those that each launch makes, and with what
  /// the first launch left in the workspaces.
  std::variant<Checked, Fault> check(int slot) override;
  std::variant<Samples, Fault> time(int slot, const SampleRequest& request) override;

 private:
  CudaHarness::Call call_with(bool maps);
  std::vector<void*> params(std::int64_t set) const;

  CudaHarness harness_;
  CudaArena workspaces_;
  FoundKernel found_;
  std::vector<CudaTensorMap> maps_;  ///< of set 0
};

}  // namespace lehr::bundle
