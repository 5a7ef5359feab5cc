// oneDNN, loaded at run time. Its functions are declared here, so that no header of the library is needed.
#include "measure/vendor/onednn/baseline_onednn.h"

#include <new>
#include <optional>

#include "base/error.h"
#include "measure/core/sampling.h"
#include "measure/core/stats.h"
#include "measure/system/shared_library.h"
#include "measure/vendor/baseline_sgemm.h"
#include "measure/vendor/onednn/onednn_conv2d.h"
#include "measure/vendor/onednn/onednn_epilogue.h"
#include "measure/vendor/onednn/onednn_gemm.h"
#include "measure/vendor/onednn/onednn_library.h"
#include "measure/vendor/onednn/onednn_rowwise.h"

namespace lehr::onednn {
namespace {

// oneDNN's C API: matrices are row-major, dimensions are int64_t, and 0 is dnnl_success. It is the same in
// versions 2 and 3.
using DnnlSgemm = int(char transa, char transb, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                      const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta,
                      float* c, std::int64_t ldc);

/// Returns Checked::note of an algorithm.
std::string note_of(const OneDnnLibrary& library, std::string_view algorithm) {
  return fmt::format("oneDNN {}: {}", library.version, algorithm);
}

Sgemm open_sgemm(int) {
  const OneDnnLibrary library = open_library();
  const auto sgemm = function_of<DnnlSgemm>(library.handle, "dnnl_sgemm");
  if (sgemm == nullptr)
    throw_environment("oneDNN {} has no dnnl_sgemm: it was built without a CPU engine", library.version);
  const auto call = [sgemm](const SgemmCall& c) {
    // A failed call leaves the poison in the output, and the check reports it.
    sgemm(c.transpose_a ? 'T' : 'N', c.transpose_b ? 'T' : 'N', c.m, c.n, c.k, c.alpha, c.a, c.lda, c.b,
          c.ldb, 0.0F, c.c, c.ldc);
  };
  return {call, note_of(library, "sgemm")};
}

/// Sampling that is long enough to distinguish algorithms that differ by a few per cent.
constexpr SampleRequest kChoosing = {1000, 5, 20000, 100000, 3, 0};

/// Types of the operands and the output.
struct Types {
  DType src, weights, dst;
};
Types types_of(const Workload& workload) {
  const std::vector<TensorSpec> tensors = tensors_of(workload);
  return {tensors[0].type, tensors[1].type, tensors[2].type};
}
/// Returns "bf16" or "u8 x s8".
std::string text_of(const Types& types) {
  const std::string_view src = name_of(types.src);
  return types.src == types.weights ? std::string(src) : fmt::format("{} x {}", src, name_of(types.weights));
}

/// Whether oneDNN's primitives are called for these types.
bool are_served(const Types& t, DType sums) {
  if (t.src == DType::kBF16)
    return t.weights == DType::kBF16 && (t.dst == DType::kBF16 || t.dst == DType::kF32) &&
           sums == DType::kF32;
  if (t.src == DType::kU8 || t.src == DType::kS8)
    return (t.weights == DType::kS8 || t.weights == DType::kS7) && sums == DType::kS32;
  return t.src == DType::kF32 && t.weights == DType::kF32 && t.dst == DType::kF32;
}

/// Returns the types of a product's operands, or of a row expression's first input.
std::string types_text(const Workload& workload) {
  return workload.op() == Operator::kRowwise ? std::string(name_of(tensors_of(workload)[0].type))
                                             : text_of(types_of(workload));
}

void require_served(const Workload& workload, const RunSettings&) {
  if (workload.op() == Operator::kRowwise) return require_rowwise(workload.rowwise());
  if (workload.op() != Operator::kGemm && workload.op() != Operator::kConv2d)
    throw_user("onednn has no call that computes this problem");
  require_epilogue(workload);
  const Types types = types_of(workload);
  if (!are_served(types, accum_of(workload)))
    throw_user(
        "onednn is called for f32, for bf16 with sums in f32, and for u8 or s8 by s8 with sums in s32, not "
        "for {} with sums in {} and an output of {}",
        text_of(types), name_of(accum_of(workload)), name_of(types.dst));
}

class OneDnnRunner : public VendorRunner {
 public:
  /// Checks and times every algorithm of oneDNN, and keeps the fastest one whose result is right. There is
  /// one exception: for an f32 GEMM whose B is not constant, version 2 uses its sgemm only.
  void prepare(const Problem& problem, const RunSettings& settings) override;
  std::variant<Checked, Fault> check(int slot) override;
  std::variant<Samples, Fault> time(int slot, const SampleRequest& request) override;

 private:
  std::vector<Algorithm> algorithms_of(const Workload& workload) const;
  Algorithm fastest_of(const std::vector<Algorithm>& algorithms);

  SgemmRunner gemm_{"onednn", &open_sgemm};  ///< for a GEMM that has no other algorithm
  OneDnnLibrary library_;                    ///< this and the next members are for all other problems
  std::unique_ptr<HostBuffers> buffers_;
  CacheSweep sweep_;
  std::optional<Algorithm> algorithm_;
  int threads_ = 1;
};

void OneDnnRunner::prepare(const Problem& problem, const RunSettings& settings) {
  algorithm_.reset();
  buffers_.reset();
  const Workload workload = workload_of(problem);
  require_served(workload, settings);
  library_ = open_library();
  if (library_.major == 2 && workload.op() == Operator::kGemm && !workload.gemm().b.constant &&
      types_of(workload).src == DType::kF32)
    return gemm_.prepare(problem, settings);
  if (library_.major == 2 && has_extras(workload))
    throw_environment("oneDNN {} is not asked for scales and zero points: version 3 is", library_.version);
  threads_ = settings.threads;
  try {
    buffers_ = std::make_unique<HostBuffers>(judged_for_onednn(problem));
    sweep_ = CacheSweep(settings.cold, *buffers_);
  } catch (const std::bad_alloc&) {
    throw_environment("no memory for onednn to run this problem");
  }
  const std::vector<Algorithm> algorithms = algorithms_of(workload);
  if (algorithms.empty())
    throw_environment("oneDNN {} has no {} kernel for this problem on this processor", library_.version,
                      types_text(workload));
  algorithm_ = fastest_of(algorithms);
}

std::vector<Algorithm> OneDnnRunner::algorithms_of(const Workload& workload) const {
  const std::shared_ptr<Primitives> primitives = make_primitives(library_);
  const std::span<void* const> tensors(buffers_->pointers(), buffers_->problem().arguments.size());
  if (workload.op() == Operator::kConv2d) return conv2d_algorithms(primitives, workload, tensors);
  if (workload.op() == Operator::kRowwise) return rowwise_algorithms(primitives, workload.rowwise(), tensors);
  const Gemm& gemm = workload.gemm();
  std::vector<Algorithm> algorithms = gemm_algorithms(primitives, workload, tensors);
  if (gemm.a.type != DType::kF32) return algorithms;
  const auto floats = [&](std::size_t i) { return static_cast<float*>(tensors[i]); };
  algorithms.push_back(
      {"sgemm", [sgemm = open_sgemm(threads_), calls = sgemm_calls(gemm, floats(0), floats(1), floats(2))] {
         for (const SgemmCall& one : calls) sgemm.call(one);
       }});
  return algorithms;
}

Algorithm OneDnnRunner::fastest_of(const std::vector<Algorithm>& algorithms) {
  std::optional<double> least;
  const Algorithm* fastest = nullptr;
  for (const Algorithm& algorithm : algorithms) {
    buffers_->reset_outputs();
    algorithm.call();
    // Winograd's error may exceed the tolerance.
    if (std::holds_alternative<Fault>(buffers_->verdict())) continue;
    const double us = estimate(sample_calls(algorithm.call, kChoosing, threads_, sweep_.beside(threads_)).us);
    if (least && *least <= us) continue;
    least = us;
    fastest = &algorithm;
  }
  if (fastest == nullptr) throw_user("none of onednn's ways to compute this gives the right result here");
  return *fastest;
}

std::variant<Checked, Fault> OneDnnRunner::check(int slot) {
  if (!algorithm_) return gemm_.check(slot);
  buffers_->reset_outputs();
  algorithm_->call();
  auto verdict = buffers_->verdict();
  if (auto* checked = std::get_if<Checked>(&verdict)) checked->note = note_of(library_, algorithm_->name);
  return verdict;
}

std::variant<Samples, Fault> OneDnnRunner::time(int slot, const SampleRequest& request) {
  if (!algorithm_) return gemm_.time(slot, request);
  return sample_calls(algorithm_->call, request, threads_, sweep_.beside(threads_));
}

std::string describe(const std::vector<std::string>& folders) {
  const OneDnnLibrary library = open_library(folders);
  const std::string isa = library.instruction_set();
  return fmt::format("{}{}{}: it takes part in the finals", library.version, isa.empty() ? "" : ", ", isa);
}

constexpr std::string_view kReads[] = {"math", "alpha", "zero"};
constexpr Baseline kBaselines[] = {
    {"onednn", []() -> std::unique_ptr<Runner> { return std::make_unique<OneDnnRunner>(); }, &require_served,
     kReads}};

}  // namespace

constinit const VendorLibrary kLibrary = {.name = "onednn",
                                          .target = Target::kCpu,
                                          .baselines = kBaselines,
                                          .variants = &with_openmp,
                                          .describe = &describe};

}  // namespace lehr::onednn
