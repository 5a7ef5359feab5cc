// A bundle's kernels for CUDA, called as a product calls them, with the tensors and the clock of our own.
#pragma once

#include <optional>

#include "measure/cuda/cuda_harness.h"
#include "measure/vendor/bundle/exported_library.h"

namespace lehr::bundle {

class CudaBundleRunner : public VendorRunner {
 public:
  /// `libraries`: others than these are for tests; the bundle itself loads the system's driver.
  explicit CudaBundleRunner(CudaLibraries libraries = {}) : harness_(std::move(libraries)) {}

  /// Throws Error(kEnvironment) when the driver is missing, or the bundle does not serve the problem here.
  void prepare(const Problem& problem, const RunSettings& settings) override;
  std::string checked_by() const override { return harness_.checked_by(); }
  /// Twice: also with the tensor maps, and with what lies in the workspaces, that the first call has left.
  std::variant<Checked, Fault> check(int slot) override;
  std::variant<Samples, Fault> time(int slot, const SampleRequest& request) override;

 private:
  CudaHarness::Call call() const;

  CudaHarness harness_;
  std::optional<ExportedLibrary> library_;
  ExportedLibrary::Answer answer_;  ///< ends before the harness's context, which it is for
};

}  // namespace lehr::bundle
