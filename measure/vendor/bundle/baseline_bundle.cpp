// On the processor: on a pool of the library's own.
#include "measure/vendor/bundle/baseline_bundle.h"

#include <fmt/core.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "base/error.h"
#include "measure/core/sampling.h"
#include "measure/host/cache_sweep.h"
#include "measure/host/host_buffers.h"
#include "measure/vendor/bundle/cuda_bundle.h"
#include "measure/vendor/bundle/found_kernel.h"

namespace lehr::bundle {
namespace {

/// Aligned to 64 bytes, as scratch and prepacked memory have to be.
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
  void take_memory(std::uint32_t threads);

  FoundKernel found_;
  std::unique_ptr<HostBuffers> buffers_;
  CacheSweep sweep_;
  std::vector<void*> params_;
  std::vector<Memory> memory_;
  lehr_call call_ = {};
  int threads_ = 1;
};

// Tensors are the problem's; what is prepacked, and scratch, are ours.
void BundleRunner::take_memory(std::uint32_t threads) {
  const std::size_t tensors = buffers_->problem().tensors.size();
  params_.assign(buffers_->pointers(), buffers_->pointers() + tensors);
  for (std::uint32_t i = static_cast<std::uint32_t>(tensors); i < found_.info.params; ++i)
    params_.push_back(memory_.emplace_back(memory_of(found_.param_bytes(i))).get());
  std::uint64_t bytes = 0;
  found_.expect(found_.functions.scratch_bytes(found_.kernel, threads, &bytes, &found_.error));
  lehr_pool* pool = nullptr;
  if (threads > 1) found_.expect(found_.functions.pool_create(threads, &pool, &found_.error));
  void* const scratch = memory_.emplace_back(memory_of(bytes)).get();
  call_ = {sizeof call_, found_.info.params,        params_.data(), scratch, bytes,
           threads,      found_.functions.pool_run, pool,           0};
}

void BundleRunner::prepare(const Problem& problem, const RunSettings& settings) {
  threads_ = settings.threads;
  found_.find(settings, to_text(problem.workload), LEHR_CPU);
  try {
    buffers_ = std::make_unique<HostBuffers>(problem);
    sweep_ = CacheSweep(settings.cold);
    take_memory(static_cast<std::uint32_t>(threads_));
  } catch (const std::bad_alloc&) {
    throw_environment("no memory for the bundle to run this problem");
  }
  found_.expect(found_.functions.prepack(found_.kernel, &call_, &found_.error));
}

std::variant<Checked, Fault> BundleRunner::check(int) {
  buffers_->poison_output();
  found_.expect(found_.functions.run(found_.kernel, &call_, &found_.error));
  auto verdict = buffers_->verdict();
  if (auto* checked = std::get_if<Checked>(&verdict)) checked->note = found_.info.name;
  return verdict;
}

std::variant<Samples, Fault> BundleRunner::time(int, const SampleRequest& request) {
  return sample_calls([this] { found_.functions.run(found_.kernel, &call_, &found_.error); }, request,
                      threads_, sweep_.beside(threads_));
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
