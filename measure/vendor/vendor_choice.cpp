// Times all algorithms briefly, then the best ones in turn.
#include "measure/vendor/vendor_choice.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "measure/core/stats.h"

namespace lehr {
namespace {

/// Sampling for the brief timing of each algorithm.
constexpr SampleRequest kScreening = {200, 2, 0, 5000, 1, 0};
constexpr double kHopelessFactor = 3;
constexpr std::size_t kFinalists = 8;
constexpr int kRounds = 5;
constexpr SampleRequest kRound = {500, 3, 3000, 100000, 1, 0};
/// Fraction of a search's seconds for the brief timings. The rest is for the rounds.
constexpr double kScreeningShare = 0.75;

struct Algorithm {
  std::size_t index = 0;
  CudaHarness::Call call;
  double us = 0;
};

class Search {
 public:
  Search(CudaHarness& harness, const VendorAlgorithms& algorithms, double seconds)
      : harness_(harness), algorithms_(algorithms), seconds_(seconds) {}

  /// Whether at least one algorithm runs and there is no time to time another one.
  bool cut(double share = kScreeningShare) const {
    const double spent_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    return !timed_.empty() && seconds_ > 0 && spent_s > share * seconds_;
  }
  bool empty() const { return timed_.empty(); }

  /// Times algorithm `index` briefly.
  void try_algorithm(std::size_t index) {
    std::optional<CudaHarness::Call> call = algorithms_.call_of(index);
    if (!call) return;
    const std::optional<double> us = screen(*call);
    if (!us) return;
    if (best_us_ == 0 || *us < best_us_) best_us_ = *us;
    timed_.push_back({index, *std::move(call), *us});
  }

  bool is_right(std::size_t index) {
    const std::optional<CudaHarness::Call> call = algorithms_.call_of(index);
    return call && is_right(*call);
  }

  /// Returns the fastest of the algorithms that were tried. CHECKs that at least one ran.
  VendorChoice fastest() {
    CHECK(!timed_.empty());
    std::stable_sort(timed_.begin(), timed_.end(), faster);
    timed_.resize(std::min(timed_.size(), kFinalists));
    if (timed_.size() > 1) time_in_turn();
    std::stable_sort(timed_.begin(), timed_.end(), faster);
    const auto right = std::find_if(timed_.begin(), timed_.end(),
                                    [&](const Algorithm& algorithm) { return is_right(algorithm.call); });
    VendorChoice choice;
    choice.right = right != timed_.end();
    if (choice.right) choice.wrong = static_cast<std::size_t>(right - timed_.begin());
    choice.found.algorithm = static_cast<std::int64_t>(choice.right ? right->index : timed_.front().index);
    return choice;
  }

 private:
  static bool faster(const Algorithm& x, const Algorithm& y) { return x.us < y.us; }

  bool is_right(const CudaHarness::Call& call) {
    const std::variant<Checked, Fault> checked = harness_.check(call, algorithms_.who);
    const auto* fault = std::get_if<Fault>(&checked);
    if (fault != nullptr && fault->worker_lost)
      throw_environment("{} failed while its kernels were tried: {}", algorithms_.who, fault->failure.text);
    return fault == nullptr;
  }

  /// Returns the algorithm's time; nullopt if it does not run, or is hopeless compared with the best
  /// algorithm so far.
  std::optional<double> screen(const CudaHarness::Call& call) {
    // This call is not captured: libraries load a kernel when it is first called, and that is not allowed in
    // a capture.
    if (call(0)) return std::nullopt;
    if (const CudaStatus status = harness_.stream().wait(); !status.ok())
      throw_environment("{} failed while its kernels were tried: {}", algorithms_.who,
                        harness_.driver().text_of(status));
    SampleRequest request = kScreening;
    request.hopeless_us = kHopelessFactor * best_us_;
    return time(call, request);
  }

  std::optional<double> time(const CudaHarness::Call& call, const SampleRequest& request) {
    const std::variant<Samples, Fault> timed = harness_.time(call, request, algorithms_.who);
    const auto* samples = std::get_if<Samples>(&timed);
    return samples != nullptr ? std::optional(estimate(samples->us)) : std::nullopt;
  }

  /// Sets each algorithm's time to the median over rounds in which all algorithms take turns.
  void time_in_turn() {
    std::vector<std::vector<double>> times(timed_.size());
    for (int round = 0; round < kRounds && (round == 0 || !cut(1)); ++round)
      for (std::size_t i = 0; i < timed_.size(); ++i)
        if (const std::optional<double> us = time(timed_[i].call, kRound)) times[i].push_back(*us);
    for (std::size_t i = 0; i < timed_.size(); ++i)
      if (!times[i].empty()) timed_[i].us = median(times[i]);
  }

  CudaHarness& harness_;
  const VendorAlgorithms& algorithms_;
  double seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<Algorithm> timed_;
  double best_us_ = 0;
};

}  // namespace

std::string VendorChoice::text() const {
  const char* const algorithms = found.offered == 1 ? "algorithm" : "algorithms";
  std::string text = found.complete()
                         ? fmt::format("fastest of {} {}", found.offered, algorithms)
                         : fmt::format("{} of {} {} tried", found.tried, found.offered, algorithms);
  if (recalled) text += " by an earlier search";
  if (wrong > 0) text += fmt::format(" ({} faster one{} wrong)", wrong, wrong == 1 ? " was" : "s were");
  return text;
}

std::optional<VendorChoice> choose_fastest(CudaHarness& harness, const VendorAlgorithms& algorithms,
                                           const std::optional<FoundAlgorithm>& known, double seconds) {
  Search search(harness, algorithms, seconds);
  const std::size_t count = algorithms.texts.size();
  const auto mark_of = [&](std::int64_t algorithm) {
    return stable_hash(algorithms.texts[static_cast<std::size_t>(algorithm)]);
  };
  const bool of_this_list = known && known->offered == static_cast<std::int64_t>(count) &&
                            known->algorithm >= 0 && known->algorithm < known->offered &&
                            mark_of(known->algorithm) == known->mark;
  if (of_this_list && known->complete() && search.is_right(static_cast<std::size_t>(known->algorithm)))
    return VendorChoice{.found = *known, .right = true, .recalled = true};
  std::size_t next = 0;
  if (of_this_list && !known->complete()) {
    search.try_algorithm(static_cast<std::size_t>(known->algorithm));
    if (!search.empty())
      next = static_cast<std::size_t>(std::clamp<std::int64_t>(known->tried, 0, known->offered));
  }
  for (; next < count && !search.cut(); ++next) search.try_algorithm(next);
  if (search.empty()) return std::nullopt;
  VendorChoice choice = search.fastest();
  choice.found.mark = mark_of(choice.found.algorithm);
  choice.found.tried = static_cast<std::int64_t>(next);
  choice.found.offered = static_cast<std::int64_t>(count);
  return choice;
}

std::optional<FoundAlgorithm> known_algorithm(const LibrarySearch& search, std::string_view library,
                                              std::size_t list) {
  for (const LibraryFinding& finding : search.known)
    if (finding.library == library && list < finding.lists.size()) return finding.lists[list];
  return std::nullopt;
}

}  // namespace lehr
