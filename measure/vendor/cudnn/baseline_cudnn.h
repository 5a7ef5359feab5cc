// cuDNN as three baselines for convolutions, through its graph API. "cudnn" takes the first plan that
// heuristic A offers, as most users do. "cudnn-best" times every plan of heuristics A, B and FALLBACK and
// takes the fastest. "cudnn-unfused" runs two plans one after the other: the best plan of the convolution
// alone, and then the best plan of the epilogue.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "measure/cuda/cuda_harness.h"
#include "measure/vendor/cudnn/cudnn_plan.h"
#include "measure/vendor/vendor_choice.h"
#include "measure/vendor/vendor_library.h"

namespace lehr::cudnn {

extern const VendorLibrary kLibrary;

/// The libraries that are opened. Only tests set others.
struct CudnnOptions {
  CudaLibraries cuda;
  std::vector<std::string> paths = cudnn_paths();
};

enum class Mode { kFirst, kBest, kUnfused };

/// Times calls in the same way as our own kernels: with the same tensors, in graphs. prepare() chooses the
/// plan.
///
/// f32 operands are multiplied in f32. Plans that round them to TF32 for tensor cores are left out, and so
/// are plans that add partial sums in a narrower type.
class CudnnRunner : public VendorRunner {
 public:
  explicit CudnnRunner(CudnnOptions options = {}, Mode mode = Mode::kFirst);

  /// Throws Error(kEnvironment) if the driver or the library is missing, Error(kUser) if the library has no
  /// plan for the problem.
  void prepare(const Problem& problem, const RunSettings& settings) override;
  std::string checked_by() const override { return harness_.checked_by(); }
  std::optional<LibraryFinding> finding() const override;
  std::variant<Checked, Fault> check(int slot) override;
  std::variant<Samples, Fault> time(int slot, const SampleRequest& request) override;

 private:
  /// A graph, the library's configs for it, and the chosen plan.
  struct Stage {
    DnnOperations operations;
    std::vector<DnnConfig> configs;
    std::shared_ptr<DnnPlan> plan;
    std::optional<VendorChoice> choice;  ///< nullopt: nothing was searched
    std::string note;
  };

  void describe(const DnnGraph& graph);
  void take_first(Stage& stage);
  void take_fastest(Stage& stage, const std::optional<FoundAlgorithm>& known, double seconds);
  std::shared_ptr<DnnPlan> plan_of(const DnnConfig& config, std::string& why_not);
  std::optional<Fault> run(const DnnOperations& operations, const DnnPlan& plan, std::int64_t set) const;
  CudaHarness::Call all_stages() const;

  CudnnOptions options_;
  Mode mode_ = Mode::kFirst;
  CudaHarness harness_;
  CudaMemory workspace_;  ///< this and the next three members are destroyed before the context
  CudaMemory intermediate_;
  std::unique_ptr<Cudnn> library_;
  std::vector<std::unique_ptr<Stage>> stages_;
  std::string name_;  ///< name and version of the library
  std::string note_;
};

}  // namespace lehr::cudnn
