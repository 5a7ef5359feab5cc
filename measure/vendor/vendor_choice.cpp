// Screening, then rounds in which the best take turns.
#include "measure/vendor/vendor_choice.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "base/error.h"
#include "measure/core/stats.h"

namespace lehr {
namespace {

/// First look at each way, then the best of them in turn.
constexpr SampleRequest kScreening = {200, 2, 0, 5000, 1, 0};
constexpr double kHopelessFactor = 3;
constexpr std::size_t kFinalists = 8;
constexpr int kRounds = 5;
constexpr SampleRequest kRound = {500, 3, 3000, 100000, 1, 0};

struct Way {
  std::size_t index = 0;
  CudaHarness::Call call;
  double us = 0;
};

bool faster(const Way& x, const Way& y) {
  return x.us < y.us;
}

/// nullopt when it does not run, or is hopeless beside `best_us` (0: nothing is known).
std::optional<double> screen(CudaHarness& harness, const CudaHarness::Call& call, double best_us,
                             const std::string& who) {
  // Not captured: libraries load a kernel when it is first called, which a capture does not allow.
  if (call(0)) return std::nullopt;
  if (const CudaStatus status = harness.stream().wait(); !status.ok())
    throw_environment("{} failed while its kernels were tried: {}", who, harness.driver().text_of(status));
  SampleRequest request = kScreening;
  request.hopeless_us = kHopelessFactor * best_us;
  const std::variant<Samples, Fault> timed = harness.time(call, request, who);
  const auto* samples = std::get_if<Samples>(&timed);
  if (samples == nullptr) return std::nullopt;
  return estimate(samples->us);
}

/// Sets each one's time to the median of rounds in which all of them take turns.
void time_in_turn(CudaHarness& harness, std::vector<Way>& ways, const std::string& who) {
  std::vector<std::vector<double>> times(ways.size());
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const std::variant<Samples, Fault> timed = harness.time(ways[i].call, kRound, who);
      if (const auto* samples = std::get_if<Samples>(&timed)) times[i].push_back(estimate(samples->us));
    }
  }
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (!times[i].empty()) ways[i].us = median(times[i]);
  }
}

}  // namespace

std::optional<VendorChoice> choose_fastest(
    CudaHarness& harness, std::size_t ways,
    const std::function<std::optional<CudaHarness::Call>(std::size_t)>& call_of, double screening_s,
    const std::string& who) {
  const auto start = std::chrono::steady_clock::now();
  VendorChoice choice;
  std::vector<Way> timed;
  double best_us = 0;
  for (std::size_t i = 0; i < ways; ++i) {
    const double spent_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!timed.empty() && spent_s > screening_s) break;
    ++choice.tried;
    std::optional<CudaHarness::Call> call = call_of(i);
    if (!call) continue;
    const std::optional<double> us = screen(harness, *call, best_us, who);
    if (!us) continue;
    if (best_us == 0 || *us < best_us) best_us = *us;
    timed.push_back({i, *std::move(call), *us});
  }
  if (timed.empty()) return std::nullopt;
  std::stable_sort(timed.begin(), timed.end(), faster);
  timed.resize(std::min(timed.size(), kFinalists));
  time_in_turn(harness, timed, who);
  std::stable_sort(timed.begin(), timed.end(), faster);
  const auto right = std::find_if(timed.begin(), timed.end(), [&](const Way& way) {
    return std::holds_alternative<Checked>(harness.check(way.call, who));
  });
  if (right != timed.end()) choice.wrong = static_cast<std::size_t>(right - timed.begin());
  choice.way = right == timed.end() ? timed.front().index : right->index;
  return choice;
}

}  // namespace lehr
