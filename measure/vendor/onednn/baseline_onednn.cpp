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
#include "measure/vendor/onednn/onednn_gemm.h"

namespace lehr::onednn {
namespace {

/// The library as it is here.
struct OneDnnLibrary {
  void* handle = nullptr;  ///< dlopen's; stays open
  std::string version;     ///< "2.6.3"
  /// Version 3 has other calls for primitives than 2, which are made here; dnnl_sgemm is the same.
  bool has_primitives = false;
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
  const auto version_of = function_of<const DnnlVersion*()>(library.handle, "dnnl_version");
  if (version_of == nullptr) throw_environment("{} has no dnnl_version: it is no oneDNN", library.path);
  const DnnlVersion version = *version_of();
  const std::string text = fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
  if (version.major < 2 || version.major > 3)
    throw_environment("oneDNN {} is not served: versions 2 and 3 are", text);
  return {library.handle, text, version.major == 2};
}

// oneDNN's C API: row-major, dimensions are int64_t, 0 is dnnl_success. The same in versions 2 and 3.
using DnnlSgemm = int(char transa, char transb, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                      const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta,
                      float* c, std::int64_t ldc);

Sgemm open_sgemm(int) {
  const OneDnnLibrary library = open_library();
  const auto sgemm = function_of<DnnlSgemm>(library.handle, "dnnl_sgemm");
  if (sgemm == nullptr)
    throw_environment("oneDNN {} has no dnnl_sgemm: it was built without a CPU engine", library.version);
  return {[sgemm](const SgemmCall& call) {
    // A failed call leaves the poison in the output, and the check says so.
    sgemm(call.transpose_a ? 'T' : 'N', call.transpose_b ? 'T' : 'N', call.m, call.n, call.k, call.alpha,
          call.a, call.lda, call.b, call.ldb, 0.0F, call.c, call.ldc);
  }};
}

/// Long enough to tell ways apart that differ by some percent.
constexpr SampleRequest kChoosing = {1000, 5, 20000, 100000, 3, 0};

void require_served(const Workload& workload, const RunSettings& settings) {
  if (!std::holds_alternative<Conv2d>(workload.problem)) return require_sgemm("onednn", workload, settings);
  if (!workload.epilogue.empty()) throw_user("onednn is not asked for what follows a convolution");
  for (const TensorSpec& tensor : tensors_of(workload))
    if (tensor.type != DType::kF32) throw_user("onednn is called for f32 only, not {}", name_of(tensor.type));
}

class OneDnnRunner : public VendorRunner {
 public:
  /// For a convolution or a constant B: checks and times every way that oneDNN has, and keeps the fastest
  /// right one.
  void prepare(const Problem& problem, const RunSettings& settings) override;
  std::variant<Checked, Fault> check(int slot) override;
  std::variant<Samples, Fault> time(int slot, const SampleRequest& request) override;

 private:
  float* pointer(std::size_t tensor) const { return static_cast<float*>(buffers_->pointers()[tensor]); }
  std::vector<Way> conv2d(const Conv2d& conv, const OneDnnLibrary& library) const;
  std::vector<Way> constant_gemm(const Gemm& gemm, const OneDnnLibrary& library) const;
  Way fastest_of(const std::vector<Way>& ways);

  SgemmRunner gemm_{"onednn", &open_sgemm};  ///< of a GEMM that is called in no other way
  std::unique_ptr<HostBuffers> buffers_;     ///< these are of all else
  CacheSweep sweep_;
  std::optional<Way> way_;
  int threads_ = 1;
};

void OneDnnRunner::prepare(const Problem& problem, const RunSettings& settings) {
  way_.reset();
  buffers_.reset();
  require_served(problem.workload, settings);
  const OneDnnLibrary library = open_library();
  const Conv2d* conv = std::get_if<Conv2d>(&problem.workload.problem);
  if (conv == nullptr && !(problem.workload.gemm().b.constant && library.has_primitives))
    return gemm_.prepare(problem, settings);
  threads_ = settings.threads;
  try {
    buffers_ = std::make_unique<HostBuffers>(problem);
    sweep_ = CacheSweep(settings.cold);
  } catch (const std::bad_alloc&) {
    throw_environment("no memory for onednn to run this problem");
  }
  way_ =
      fastest_of(conv != nullptr ? conv2d(*conv, library) : constant_gemm(problem.workload.gemm(), library));
}

std::vector<Way> OneDnnRunner::conv2d(const Conv2d& conv, const OneDnnLibrary& library) const {
  if (!library.has_primitives)
    throw_environment(
        "oneDNN {} is not served for convolutions: they are called through the API of version 2",
        library.version);
  return conv2d_ways(library.handle, conv, pointer(0), pointer(1), pointer(2));
}

std::vector<Way> OneDnnRunner::constant_gemm(const Gemm& gemm, const OneDnnLibrary& library) const {
  std::vector<Way> ways = packed_gemm_ways(library.handle, gemm, pointer(0), pointer(1), pointer(2));
  ways.push_back({"sgemm", [sgemm = open_sgemm(threads_),
                            calls = sgemm_calls(gemm, pointer(0), pointer(1), pointer(2))] {
                    for (const SgemmCall& one : calls) sgemm.call(one);
                  }});
  return ways;
}

Way OneDnnRunner::fastest_of(const std::vector<Way>& ways) {
  std::optional<double> least;
  const Way* fastest = nullptr;
  for (const Way& way : ways) {
    buffers_->poison_output();
    way.call();
    if (std::holds_alternative<Fault>(buffers_->verdict())) continue;  // Winograd may lose more than allowed
    const double us = estimate(sample_calls(way.call, kChoosing, threads_, sweep_.beside(threads_)).us);
    if (least && *least <= us) continue;
    least = us;
    fastest = &way;
  }
  if (fastest == nullptr) throw_user("none of onednn's ways to compute this gives the right result here");
  return *fastest;
}

std::variant<Checked, Fault> OneDnnRunner::check(int slot) {
  if (!way_) return gemm_.check(slot);
  buffers_->poison_output();
  way_->call();
  auto verdict = buffers_->verdict();
  if (auto* checked = std::get_if<Checked>(&verdict)) checked->note = way_->name;
  return verdict;
}

std::variant<Samples, Fault> OneDnnRunner::time(int slot, const SampleRequest& request) {
  if (!way_) return gemm_.time(slot, request);
  return sample_calls(way_->call, request, threads_, sweep_.beside(threads_));
}

std::string describe(const std::vector<std::string>&) {
  const OneDnnLibrary library = open_library();
  if (library.has_primitives) return fmt::format("{}: it takes part in the finals", library.version);
  return fmt::format(
      "{}: it takes part in the finals of matrix products, without laying a constant B out; for convolutions "
      "and that version 2 is needed",
      library.version);
}

constexpr Baseline kBaselines[] = {
    {"onednn", []() -> std::unique_ptr<Runner> { return std::make_unique<OneDnnRunner>(); }, &require_served,
     kSgemmReads}};

}  // namespace

constinit const VendorLibrary kLibrary = {.name = "onednn",
                                          .target = Target::kCpu,
                                          .baselines = kBaselines,
                                          .variants = &with_openmp,
                                          .describe = &describe};

}  // namespace lehr::onednn
