// Calls a bundle's CUDA kernels as a product calls them, but with our tensors and our clock.
#pragma once

#include <optional>

#include "measure/cuda/cuda_harness.h"
#include "measure/vendor/bundle/exported_library.h"

namespace lehr::bundle {

class CudaBundleRunner : public VendorRunner {
 public:
  /// `libraries` are replaced only in tests. The bundle itself loads the system's driver.
  explicit CudaBundleRunner(CudaLibraries libraries = {}) : harness_(std::move(libraries)) {}

  /// Throws Error(kEnvironment) if the driver is missing, or if the bundle does not serve the problem on this
  /// device.
  void prepare(const Problem& problem, const RunSettings& settings) override;
  std::string checked_by() const override { return harness_.checked_by(); }
  /// Checks two calls. The second call uses the tensor maps and workspaces that the first call has left.
  std::variant<Checked, Fault> check(int slot) override;
  std::variant<Samples, Fault> time(int slot, const SampleRequest& request) override;

 private:
  CudaHarness::Call call() const;

  CudaHarness harness_;
  std::optional<ExportedLibrary> library_;
  ExportedLibrary::Answer answer_;  ///< destroyed before the harness's context, which it uses
};

}  // namespace lehr::bundle
