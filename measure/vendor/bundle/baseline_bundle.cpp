// Through the folder's own liblehr_bundle.so, on a pool of its own.
#include "measure/vendor/bundle/baseline_bundle.h"

#include <fmt/core.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "base/error.h"
#include "deploy/runtime/lehr_bundle.h"
#include "measure/core/sampling.h"
#include "measure/host/host_buffers.h"
#include "measure/system/shared_library.h"

namespace lehr::bundle {
namespace {

struct Functions : LibraryFunctions {
  Function<decltype(lehr_open)> open{this, "lehr_open"};
  Function<decltype(lehr_find)> find_kernel{this, "lehr_find"};
  Function<decltype(lehr_info)> info{this, "lehr_info"};
  Function<decltype(lehr_param)> param{this, "lehr_param"};
  Function<decltype(lehr_scratch_bytes)> scratch_bytes{this, "lehr_scratch_bytes"};
  Function<decltype(lehr_run)> run{this, "lehr_run"};
  Function<decltype(lehr_prepack)> prepack{this, "lehr_prepack"};
  Function<decltype(lehr_pool_create)> pool_create{this, "lehr_pool_create"};
  Function<decltype(lehr_pool_run)> pool_run{this, "lehr_pool_run"};
};

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
  void find(const RunSettings& settings, const std::string& workload);
  void take_memory(std::uint32_t threads);
  void expect(lehr_status status) const;

  Functions functions_;
  lehr_error error_ = {sizeof(lehr_error), ""};
  lehr_kernel kernel_ = 0;
  lehr_kernel_info info_ = {};
  std::unique_ptr<HostBuffers> buffers_;
  std::vector<void*> params_;
  std::vector<Memory> memory_;
  lehr_call call_ = {};
  int threads_ = 1;
};

void BundleRunner::expect(lehr_status status) const {
  if (status != LEHR_OK) throw_environment("the bundle does not serve this: {}", error_.text);
}

// The library stays loaded, and the bundle open, as long as the process.
void BundleRunner::find(const RunSettings& settings, const std::string& workload) {
  const std::vector<std::string> paths = {settings.bundle + "/liblehr_bundle.so"};
  const SharedLibrary library = load_library(paths);
  if (!library) throw_environment("{} cannot be loaded", paths[0]);
  if (const std::string_view missing = functions_.find(library.handle); !missing.empty())
    throw_environment("{} has no function named {}", paths[0], missing);
  lehr_bundle bundle = 0;
  expect(functions_.open(settings.bundle.c_str(), nullptr, &bundle, &error_));
  const lehr_find_options options = {sizeof options, static_cast<std::uint32_t>(settings.threads), 0, LEHR_CPU};
  expect(functions_.find_kernel(bundle, workload.c_str(), &options, &kernel_, &error_));
  info_.size = sizeof info_;
  expect(functions_.info(kernel_, &info_, &error_));
}

// Tensors are the problem's; what is prepacked, and scratch, are ours.
void BundleRunner::take_memory(std::uint32_t threads) {
  const std::size_t tensors = buffers_->problem().tensors.size();
  params_.assign(buffers_->pointers(), buffers_->pointers() + tensors);
  for (std::uint32_t i = static_cast<std::uint32_t>(tensors); i < info_.params; ++i) {
    lehr_param_info param = {};
    param.size = sizeof param;
    expect(functions_.param(kernel_, i, &param, &error_));
    params_.push_back(memory_.emplace_back(memory_of(param.bytes)).get());
  }
  std::uint64_t bytes = 0;
  expect(functions_.scratch_bytes(kernel_, threads, &bytes, &error_));
  lehr_pool* pool = nullptr;
  if (threads > 1) expect(functions_.pool_create(threads, &pool, &error_));
  call_ = {sizeof call_, info_.params, params_.data(),      memory_.emplace_back(memory_of(bytes)).get(),
           bytes,        threads,      functions_.pool_run, pool};
}

void BundleRunner::prepare(const Problem& problem, const RunSettings& settings) {
  threads_ = settings.threads;
  find(settings, to_text(problem.workload));
  try {
    buffers_ = std::make_unique<HostBuffers>(problem);
    take_memory(static_cast<std::uint32_t>(threads_));
  } catch (const std::bad_alloc&) {
    throw_environment("no memory for the bundle to run this problem");
  }
  expect(functions_.prepack(kernel_, &call_, &error_));
}

std::variant<Checked, Fault> BundleRunner::check(int) {
  buffers_->poison_output();
  expect(functions_.run(kernel_, &call_, &error_));
  auto verdict = buffers_->verdict();
  if (auto* checked = std::get_if<Checked>(&verdict)) checked->note = info_.name;
  return verdict;
}

std::variant<Samples, Fault> BundleRunner::time(int, const SampleRequest& request) {
  return sample_calls([this] { functions_.run(kernel_, &call_, &error_); }, request, threads_);
}

void require_served(const Workload&, const RunSettings& settings) {
  if (settings.bundle.empty()) throw_user("no bundle is named");
  if (settings.cold) throw_user("a bundle is timed with warm caches only");
}

constexpr Baseline kBaselines[] = {
    {.name = "bundle",
     .make_runner = []() -> std::unique_ptr<Runner> { return std::make_unique<BundleRunner>(); },
     .require_served = &require_served,
     .reads_all = true}};

}  // namespace

constinit const VendorLibrary kLibrary = {
    .name = "bundle",
    .target = Target::kCpu,
    .by_default = false,
    .baselines = kBaselines,
    .variants = &as_it_comes,
    .describe = [](const std::vector<std::string>&) { return std::string("lehr bench --bundle DIR"); }};

}  // namespace lehr::bundle
