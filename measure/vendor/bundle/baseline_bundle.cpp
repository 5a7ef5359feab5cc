// On the CPU a bundle runs in a context with a thread pool of its own.
#include "measure/vendor/bundle/baseline_bundle.h"

#include <fmt/core.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "base/error.h"
#include "measure/core/sampling.h"
#include "measure/host/cache_sweep.h"
#include "measure/host/host_buffers.h"
#include "measure/vendor/bundle/cuda_bundle.h"
#include "measure/vendor/bundle/exported_library.h"

namespace lehr::bundle {
namespace {

/// Frees memory from std::aligned_alloc(). Packed memory must be aligned to 64 bytes.
struct Freed {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Freed>;

Memory memory_of(std::uint64_t bytes) {
  Memory memory(std::aligned_alloc(64, (bytes / 64 + 1) * 64));
  if (!memory) throw std::bad_alloc();
  return memory;
}

class BundleRunner : public VendorRunner {
 public:
  void prepare(const Problem& problem, const RunSettings& settings) override;
  std::variant<Checked, Fault> check(int slot) override;
  std::variant<Samples, Fault> time(int slot, const SampleRequest& request) override;

 private:
  kernels_status call() const;

  std::optional<ExportedLibrary> library_;
  ExportedLibrary::Answer answer_;
  std::unique_ptr<HostBuffers> buffers_;
  CacheSweep sweep_;
  Memory packed_;
  std::vector<void*> arguments_;
  int threads_ = 1;
};

// The function's tensors are the problem's, except for a tensor that the function takes packed.
void BundleRunner::prepare(const Problem& problem, const RunSettings& settings) {
  threads_ = settings.threads;
  kernels_options options = {};
  options.threads = static_cast<std::uint32_t>(threads_);
  answer_ = {};
  const ExportedFunctions& functions = library_.emplace(settings.bundle).functions();
  answer_ = library_->answer(workload_of(problem), options);
  kernels_context* const context = answer_.context.get();
  const kernels_function& function = *answer_.function;
  try {
    buffers_ = std::make_unique<HostBuffers>(problem);
    sweep_ = CacheSweep(settings.cold, *buffers_);
    arguments_.assign(buffers_->pointers(), buffers_->pointers() + function.tensor_count);
    for (std::uint32_t i = 0; i < function.tensor_count; ++i) {
      if (function.tensors[i].packed == 0) continue;
      packed_ = memory_of(functions.pack_bytes(context, &function));
      library_->expect(functions.pack(context, &function, arguments_[i], packed_.get()), answer_.context);
      arguments_[i] = packed_.get();
    }
  } catch (const std::bad_alloc&) {
    throw_environment("no memory for the bundle to run this problem");
  }
}

kernels_status BundleRunner::call() const {
  return library_->functions().call(answer_.context.get(), answer_.function, arguments_.data(), answer_.rows);
}

std::variant<Checked, Fault> BundleRunner::check(int) {
  buffers_->reset_outputs();
  library_->expect(call(), answer_.context);
  auto verdict = buffers_->verdict();
  if (auto* checked = std::get_if<Checked>(&verdict)) checked->note = answer_.row.kernel;
  return verdict;
}

std::variant<Samples, Fault> BundleRunner::time(int, const SampleRequest& request) {
  return sample_calls([this] { call(); }, request, threads_, sweep_.beside(threads_));
}

void require_served(const Workload&, const RunSettings& settings) {
  if (settings.bundle.empty()) throw_user("no bundle is named");
}

void require_served_on_gpu(const Workload& workload, const RunSettings& settings) {
  require_served(workload, settings);
  if (settings.cold) throw_user("a bundle's kernels on a GPU are timed without a sweep of its caches only");
}

constexpr Baseline kOnProcessor[] = {
    {.name = "bundle",
     .make_runner = []() -> std::unique_ptr<Runner> { return std::make_unique<BundleRunner>(); },
     .require_served = &require_served,
     .reads_all = true}};
constexpr Baseline kOnCuda[] = {
    {.name = "bundle-cuda",
     .make_runner = []() -> std::unique_ptr<Runner> { return std::make_unique<CudaBundleRunner>(); },
     .require_served = &require_served_on_gpu,
     .reads_all = true}};

constexpr VendorLibrary library_of(Target target, std::span<const Baseline> baselines) {
  return {.name = "bundle",
          .target = target,
          .by_default = false,
          .baselines = baselines,
          .variants = &as_it_comes,
          .describe = [](const std::vector<std::string>&) { return std::string("lehr bench --bundle DIR"); }};
}

}  // namespace

constinit const VendorLibrary kLibrary = library_of(Target::kCpu, kOnProcessor),
                              kCudaLibrary = library_of(Target::kCuda, kOnCuda);

}  // namespace lehr::bundle
