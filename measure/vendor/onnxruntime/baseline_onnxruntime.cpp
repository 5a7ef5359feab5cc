// Runs the expression as two models: with whole functions as nodes, and with single operators, which the
// engine fuses as far as it can.
#include "measure/vendor/onnxruntime/baseline_onnxruntime.h"

#include <new>

#include "base/error.h"
#include "measure/core/sampling.h"
#include "measure/core/stats.h"
#include "measure/host/cache_sweep.h"
#include "measure/host/host_buffers.h"
#include "measure/vendor/onnxruntime/row_model.h"

namespace lehr::onnxruntime {
namespace {

/// Sampling that is long enough to distinguish two models that differ by a few per cent.
constexpr SampleRequest kChoosing = {1000, 5, 20000, 100000, 3, 0};

void require_served(const Workload& workload, const RunSettings&) {
  if (workload.op() != Operator::kRowwise) throw_user("onnxruntime is asked for row expressions only");
  row_model(workload.rowwise(), false);
}

class RowRunner : public VendorRunner {
 public:
  /// Checks and times both models, and keeps the faster one whose result is right.
  void prepare(const Problem& problem, const RunSettings& settings) override;
  std::variant<Checked, Fault> check(int slot) override;
  std::variant<Samples, Fault> time(int slot, const SampleRequest& request) override;

 private:
  std::unique_ptr<LoadedNetwork> load(const RowModel& model, std::span<void* const> pointers) const;
  double call_us(LoadedNetwork& network);
  void choose(const Rowwise& rowwise);

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<HostBuffers> buffers_;
  CacheSweep sweep_;
  std::unique_ptr<LoadedNetwork> network_;
  std::string form_;
  double overhead_us_ = 0;
  int threads_ = 1;
};

void RowRunner::prepare(const Problem& problem, const RunSettings& settings) {
  network_.reset();
  buffers_.reset();
  const Workload workload = workload_of(problem);
  require_served(workload, settings);
  if (engine_ == nullptr) engine_ = std::make_unique<Engine>(settings.onnxruntime);
  threads_ = settings.threads;
  try {
    buffers_ = std::make_unique<HostBuffers>(problem);
    sweep_ = CacheSweep(settings.cold, *buffers_);
  } catch (const std::bad_alloc&) {
    throw_environment("no memory for onnxruntime to run this problem");
  }
  float one[2] = {};
  const std::array<void*, 2> pointers = {&one[0], &one[1]};
  const auto network = load(identity_model(), pointers);
  overhead_us_ = estimate(sample_calls([&] { network->run(); }, kChoosing, threads_).us);
  choose(workload.rowwise());
}

std::unique_ptr<LoadedNetwork> RowRunner::load(const RowModel& model, std::span<void* const> pointers) const {
  auto network = std::make_unique<LoadedNetwork>(*engine_, std::string_view(model.bytes),
                                                 LoadOptions{.threads = threads_, .spins = true});
  network->bind(model.values, pointers);
  return network;
}

double RowRunner::call_us(LoadedNetwork& network) {
  return estimate(sample_calls([&] { network.run(); }, kChoosing, threads_, sweep_.beside(threads_)).us);
}

void RowRunner::choose(const Rowwise& rowwise) {
  double least = 0;
  std::string wrong;
  const std::span<void* const> pointers(buffers_->pointers(), buffers_->problem().arguments.size());
  for (const bool whole : {true, false}) {
    std::unique_ptr<LoadedNetwork> network = load(row_model(rowwise, whole), pointers);
    buffers_->reset_outputs();
    network->run();
    if (auto verdict = buffers_->verdict(); const auto* fault = std::get_if<Fault>(&verdict)) {
      wrong = fault->failure.text;
      continue;
    }
    const double us = call_us(*network);
    if (network_ != nullptr && us >= least) continue;
    least = us;
    network_ = std::move(network);
    form_ = whole ? "functions that ONNX has as one" : "operator by operator";
  }
  if (network_ == nullptr)
    throw_user("ONNX Runtime {} does not compute this right: {}", engine_->version(), wrong);
}

std::variant<Checked, Fault> RowRunner::check(int) {
  buffers_->reset_outputs();
  network_->run();
  auto verdict = buffers_->verdict();
  if (auto* checked = std::get_if<Checked>(&verdict)) {
    checked->note = fmt::format("ONNX Runtime {}: {}; a call of one element takes {:.1f} us",
                                engine_->version(), form_, overhead_us_);
    checked->overhead_us = overhead_us_;
  }
  return verdict;
}

std::variant<Samples, Fault> RowRunner::time(int, const SampleRequest& request) {
  return sample_calls([this] { network_->run(); }, request, threads_, sweep_.beside(threads_));
}

constexpr Baseline kBaselines[] = {{"onnxruntime",
                                    []() -> std::unique_ptr<Runner> { return std::make_unique<RowRunner>(); },
                                    &require_served}};

}  // namespace

constinit const VendorLibrary kLibrary = {.name = "onnxruntime",
                                          .target = Target::kCpu,
                                          .only = "rowwise",
                                          .baselines = kBaselines,
                                          .variants = &as_it_comes,
                                          .describe = nullptr};

}  // namespace lehr::onnxruntime
