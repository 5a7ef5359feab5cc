// oneDNN, found at run time. The declarations are ours, so that no header of the library is needed.
#include "measure/vendor/onednn/baseline_onednn.h"

#include <new>
#include <optional>

#include "base/error.h"
#include "measure/core/sampling.h"
#include "measure/core/stats.h"
#include "measure/system/shared_library.h"
#include "measure/vendor/baseline_sgemm.h"
#include "measure/vendor/onednn/onednn_conv2d.h"

namespace lehr::onednn {
namespace {

/// The library as it is here.
struct OneDnnLibrary {
  void* handle = nullptr;  ///< dlopen's; stays open
  std::string version;     ///< "2.6.3"
  /// Version 3 has other calls for convolutions than 2, which OneDnnConv2d makes; dnnl_sgemm is the same.
  bool serves_convolutions = false;
};

/// The head of dnnl_version_t, the same in all versions.
struct DnnlVersion {
  int major, minor, patch;
};

/// Throws Error(kEnvironment) when there is none, or only one of a version that is not served.
OneDnnLibrary open_library() {
  // 3.6 is what Debian 13's has for a name.
  const std::vector<std::string> names = {"libdnnl.so.2", "libdnnl.so.3", "libdnnl.so.3.6", "libdnnl.so"};
  const SharedLibrary library = load_library(names);
  if (!library)
    throw_environment("oneDNN is not installed (Debian 12: apt-get install libdnnl2, Debian 13: libdnnl3.6)");
  const DnnlVersion* (*version_of)() = nullptr;
  FunctionFinder find(library.handle);
  find("dnnl_version", version_of);
  if (version_of == nullptr) throw_environment("{} has no dnnl_version: it is no oneDNN", library.path);
  const DnnlVersion version = *version_of();
  const std::string text = fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
  if (version.major < 2 || version.major > 3)
    throw_environment("oneDNN {} is not served: versions 2 and 3 are", text);
  return {library.handle, text, version.major == 2};
}

// oneDNN's C API: row-major, dimensions are int64_t, 0 is dnnl_success. The same in versions 2 and 3.
using DnnlSgemm = int (*)(char transa, char transb, std::int64_t m, std::int64_t n, std::int64_t k,
                          float alpha, const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
                          float beta, float* c, std::int64_t ldc);

Sgemm open_sgemm(int) {
  DnnlSgemm sgemm = nullptr;
  const OneDnnLibrary library = open_library();
  FunctionFinder find(library.handle);
  find("dnnl_sgemm", sgemm);
  if (sgemm == nullptr)
    throw_environment("oneDNN {} has no dnnl_sgemm: it was built without a CPU engine", library.version);
  return {[sgemm](const SgemmCall& call) {
    // A failed call leaves the poison in the output, and the check says so.
    sgemm(call.transpose_a ? 'T' : 'N', call.transpose_b ? 'T' : 'N', call.m, call.n, call.k, 1.0F, call.a,
          call.lda, call.b, call.ldb, 0.0F, call.c, call.ldc);
  }};
}

/// Long enough to tell ways apart that differ by some percent.
constexpr SampleRequest kChoosing = {1000, 5, 20000, 100000, 3, 0};

void require_served(const Workload& workload, const RunSettings& settings) {
  if (!std::holds_alternative<Conv2d>(workload.problem)) return require_sgemm("onednn", workload, settings);
  if (!workload.epilogue.empty()) throw_user("onednn is not asked for what follows a convolution");
  for (const TensorSpec& tensor : tensors_of(workload))
    if (tensor.type != DType::kF32) throw_user("onednn is called for f32 only, not {}", name_of(tensor.type));
  if (settings.cold) throw_user("onednn is timed with warm caches only");
}

class OneDnnRunner : public VendorRunner {
 public:
  /// For a convolution: checks and times every way that oneDNN has, and keeps the fastest right one.
  void prepare(const Problem& problem, const RunSettings& settings) override;
  std::variant<Checked, Fault> check(int slot) override;
  std::variant<Samples, Fault> time(int slot, const SampleRequest& request) override;

 private:
  void choose_way();

  SgemmRunner gemm_{"onednn", &open_sgemm};
  std::unique_ptr<HostBuffers> buffers_;  ///< these are of a convolution, null while it is a GEMM
  std::unique_ptr<OneDnnConv2d> conv2d_;
  std::size_t way_ = 0;
  int threads_ = 1;
};

void OneDnnRunner::prepare(const Problem& problem, const RunSettings& settings) {
  conv2d_.reset();
  buffers_.reset();
  require_served(problem.workload, settings);
  const Conv2d* conv = std::get_if<Conv2d>(&problem.workload.problem);
  if (conv == nullptr) return gemm_.prepare(problem, settings);
  threads_ = settings.threads;
  try {
    buffers_ = std::make_unique<HostBuffers>(problem);
  } catch (const std::bad_alloc&) {
    throw_environment("no memory for onednn to run this problem");
  }
  const auto pointer = [this](std::size_t i) { return static_cast<float*>(buffers_->pointers()[i]); };
  const OneDnnLibrary library = open_library();
  if (!library.serves_convolutions)
    throw_environment(
        "oneDNN {} is not served for convolutions: they are called through the API of version 2",
        library.version);
  conv2d_ = std::make_unique<OneDnnConv2d>(library.handle, *conv, pointer(0), pointer(1), pointer(2));
  choose_way();
}

void OneDnnRunner::choose_way() {
  std::optional<double> fastest;
  for (std::size_t way = 0; way < conv2d_->ways().size(); ++way) {
    buffers_->poison_output();
    conv2d_->call(way);
    if (std::holds_alternative<Fault>(buffers_->verdict())) continue;  // Winograd may lose more than allowed
    const double us = estimate(sample_calls([&] { conv2d_->call(way); }, kChoosing, threads_).us);
    if (fastest && *fastest <= us) continue;
    fastest = us;
    way_ = way;
  }
  if (!fastest) throw_user("none of onednn's convolutions gives the right result here");
}

std::variant<Checked, Fault> OneDnnRunner::check(int slot) {
  if (!conv2d_) return gemm_.check(slot);
  buffers_->poison_output();
  conv2d_->call(way_);
  auto verdict = buffers_->verdict();
  if (auto* checked = std::get_if<Checked>(&verdict)) checked->note = conv2d_->ways()[way_];
  return verdict;
}

std::variant<Samples, Fault> OneDnnRunner::time(int slot, const SampleRequest& request) {
  if (!conv2d_) return gemm_.time(slot, request);
  return sample_calls([this] { conv2d_->call(way_); }, request, threads_);
}

std::string describe(const std::vector<std::string>&) {
  const OneDnnLibrary library = open_library();
  if (library.serves_convolutions) return fmt::format("{}: it takes part in the finals", library.version);
  return fmt::format(
      "{}: it takes part in the finals of matrix products; for convolutions version 2 is needed",
      library.version);
}

constexpr Baseline kBaselines[] = {
    {"onednn", []() -> std::unique_ptr<Runner> { return std::make_unique<OneDnnRunner>(); },
     &require_served}};

}  // namespace

constinit const VendorLibrary kLibrary = {.name = "onednn",
                                          .target = Target::kCpu,
                                          .baselines = kBaselines,
                                          .variants = &with_openmp,
                                          .describe = &describe};

}  // namespace lehr::onednn
