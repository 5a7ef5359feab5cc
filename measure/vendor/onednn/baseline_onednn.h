// oneDNN as a baseline: runner "onednn". GEMMs by dnnl_sgemm, convolutions by the fastest of its ways.
#pragma once

#include <memory>
#include <string>

#include "measure/vendor/baseline_sgemm.h"
#include "measure/vendor/onednn/onednn_conv2d.h"

namespace lehr {

/// The library as it is here.
struct OneDnnLibrary {
  void* handle = nullptr;  ///< dlopen's; stays open
  std::string version;     ///< "2.6.3"
  /// Version 3 has other calls for convolutions than 2, which OneDnnConv2d makes; dnnl_sgemm is the same.
  bool serves_convolutions = false;
};
/// Throws Error(kEnvironment) when there is none, or only one of a version that is not served.
OneDnnLibrary open_onednn_library();

/// A Runner (measure/core/runner.h) whose one slot needs no file: Candidate is not looked at.
class OneDnnRunner {
 public:
  static constexpr auto& kReads = SgemmRunner::kReads;

  OneDnnRunner();
  /// For a convolution: checks and times every way that oneDNN has, and keeps the fastest right one. Throws
  /// Error(kEnvironment) when the library is missing, Error(kUser) when it has no call for the problem.
  void prepare(const Problem& problem, const RunSettings& settings);
  std::variant<Resources, Fault> load(int slot, const Candidate& candidate);
  std::variant<Checked, Fault> check(int slot);
  std::variant<Samples, Fault> time(int slot, const SampleRequest& request);
  void unload(int slot);

 private:
  void choose_way();

  SgemmRunner gemm_;
  std::unique_ptr<HostBuffers> buffers_;  ///< these are of a convolution, null while it is a GEMM
  std::unique_ptr<OneDnnConv2d> conv2d_;
  std::size_t way_ = 0;
  int threads_ = 1;
};

}  // namespace lehr
