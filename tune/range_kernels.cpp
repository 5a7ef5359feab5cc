#include "tune/range_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "codegen/source_hash.h"
#include "tune/evaluator.h"
#include "tune/finals.h"

namespace lehr {
namespace {

/// Returns the log's trials of a task whose kernels this version still makes.
Trials known_trials(const Task& task, const Candidates& candidates, const Database& log,
                    const std::string& session) {
  std::vector<Record> rows = log.all({.workload = task.problem.text,
                                      .device = "",
                                      .target = std::string(name_of(task.device.limits.target)),
                                      .family = ""});
  if (!session.empty())
    std::erase_if(rows, [&](const Record& row) { return !row.session.starts_with(session); });
  Trials trials;
  EarlierRuns earlier = earlier_runs(rows, identity_of(task.device), candidates, log.origins());
  for (KnownTrial& trial : earlier.answers) trials.add(std::move(trial));
  return trials;
}

/// Collects kernels of several tasks, each once.
class Collection {
 public:
  void add(const Task& task, const Config& config, Source source, std::string layout, const FoundAt& found) {
    const std::uint64_t hash = hash_of(source);
    if (const auto known = place_.find(hash); known != place_.end()) {
      by_rank_[known->second.first][known->second.second].found.push_back(found);
      return;
    }
    Workload own = of_any_call(*task.workload);
    const auto rank = static_cast<std::size_t>(found.rank);
    by_rank_.resize(std::max(by_rank_.size(), rank + 1));
    place_[hash] = {rank, by_rank_[rank].size()};
    by_rank_[rank].push_back(
        {own, config, std::move(source), hash, std::move(layout), {found}, call_rows(own).any});
  }

  std::vector<RangeKernel> by_rank() && {
    std::vector<RangeKernel> kernels;
    for (std::vector<RangeKernel>& rank : by_rank_)
      for (RangeKernel& kernel : rank) kernels.push_back(std::move(kernel));
    return kernels;
  }

 private:
  std::vector<std::vector<RangeKernel>> by_rank_;
  std::map<std::uint64_t, std::pair<std::size_t, std::size_t>> place_;  // rank and position, by hash
};

}  // namespace

std::vector<RangeKernel> range_kernels(const std::vector<RangeTask>& tasks, const Database& log,
                                       const std::string& session, std::size_t each,
                                       const std::optional<std::string>& layout) {
  constexpr std::size_t kMostLookedAt = 24;
  Collection kernels;
  for (const RangeTask& one : tasks) {
    const Candidates candidates = candidates_for(one.task);
    const Trials trials = known_trials(one.task, candidates, log, session);
    double fastest_us = 0;
    int rank = 0;
    for (const std::size_t at : pick_finalists(trials, std::nullopt, layout ? kMostLookedAt : each)) {
      const KnownTrial& trial = trials.all()[at];
      const bool first = fastest_us == 0;
      if (first) fastest_us = *trial.time_us();
      Source source = candidates.source_of(trial.point);
      std::string own = prepack_layout(source);
      const bool wanted = !layout || own.empty() || own == *layout;
      if (!first && !wanted) continue;
      kernels.add(one.task, trial.config, std::move(source), std::move(own),
                  {one.rows, wanted ? rank : 0, *trial.time_us() / fastest_us, *trial.time_us(), trial.id});
      if (wanted && ++rank == static_cast<int>(each)) break;
    }
  }
  return std::move(kernels).by_rank();
}

std::optional<Config> common_layout(const std::vector<RangeKernel>& kernels,
                                    const std::vector<std::int64_t>& sizes) {
  // If no kernel with a layout is among the best at a size, its time is assumed to be that of the slowest
  // listed kernel, but at least this multiple of the fastest one's: it is at least as slow, and likely
  // slower.
  constexpr double kNotAmongThem = 1.15;
  // Time / fastest time, by layout, then by rows.
  std::map<std::string, std::map<std::int64_t, double>> slower;
  std::map<std::int64_t, double> last;
  // The config of the layout that was found at most sizes.
  std::map<std::string, std::pair<std::size_t, Config>> example;
  for (const RangeKernel& kernel : kernels) {
    if (!kernel.any_rows) continue;
    auto& [times, config] = example[kernel.layout];
    if (kernel.found.size() > times) {
      times = kernel.found.size();
      config = kernel.config;
    }
    for (const FoundAt& found : kernel.found) {
      double& least = slower[kernel.layout].try_emplace(found.rows, found.slower).first->second;
      least = std::min(least, found.slower);
      double& most = last.try_emplace(found.rows, kNotAmongThem).first->second;
      most = std::max(most, found.slower);
    }
  }
  double least = std::numeric_limits<double>::infinity();
  std::optional<Config> best;
  for (const auto& [layout, at] : slower) {
    double sum = 0;
    for (const std::int64_t rows : sizes)
      if (last.contains(rows)) sum += at.contains(rows) ? at.at(rows) : last.at(rows);
    if (sum >= least) continue;
    least = sum;
    best = layout.empty() ? std::nullopt : std::optional(example[layout].second);
  }
  return best;
}

std::vector<std::size_t> worth_timing(const std::vector<RangeKernel>& kernels, std::int64_t rows) {
  const auto away = [&](const RangeKernel& kernel) {
    double least = std::numeric_limits<double>::infinity();
    for (const FoundAt& found : kernel.found) {
      const double octaves = std::log2(static_cast<double>(found.rows) / static_cast<double>(rows));
      least = std::min(least, std::abs(octaves) + found.rank);
    }
    return least;
  };
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (kernels[i].any_rows || rows_of(kernels[i].workload) == rows) order.push_back({away(kernels[i]), i});
  std::ranges::stable_sort(order, {}, &std::pair<double, std::size_t>::first);
  std::vector<std::size_t> numbers;
  for (const auto& [distance, number] : order) numbers.push_back(number);
  return numbers;
}

RangeTimer::RangeTimer(const Workload& range, const OpenDevice& device, Database& log,
                       const SessionOptions& session, const std::vector<RangeKernel>& kernels,
                       std::function<void(const Trial&)> on_trial)
    : range_(range),
      device_(device),
      log_(log),
      session_(session),
      kernels_(kernels),
      on_trial_(std::move(on_trial)) {}

void RangeTimer::time_at(std::int64_t rows, const std::vector<std::size_t>& order,
                         const std::function<bool()>& enough, TimeLeft left) {
  const Workload call = call_of(range_, rows), fixed = with_rows(range_, rows);
  prepare(*device_.measurer, task_of(call, device_.device), session_.seed);
  std::vector<std::size_t> of_any, of_fixed;
  for (const std::size_t kernel : order) (kernels_[kernel].any_rows ? of_any : of_fixed).push_back(kernel);
  time_group(fixed, of_fixed, enough, left);
  time_group(call, of_any, enough, left);
}

// Any time is plausible here: the search that found the kernel has judged it.
void RangeTimer::time_group(const Workload& workload, const std::vector<std::size_t>& group,
                            const std::function<bool()>& enough, TimeLeft left) {
  if (group.empty()) return;
  const Task task = task_of(workload, device_.device);
  const Candidates candidates = candidates_for(task);
  Trials trials;
  Evaluator evaluator(
      candidates, *device_.measurer, log_, common_row(task, session_, log_), trials,
      [](const Point&, double) { return std::string(); },
      [this](const Trial& trial, bool) { on_trial_(trial); });
  std::vector<Proposal> picks;
  for (const std::size_t kernel : group)
    picks.push_back({candidates.space.point_of(kernels_[kernel].config), kPickedForSet});
  evaluator.measure(picks, enough, left);
  for (std::size_t i = 0; i < group.size(); ++i) {
    const KnownTrial* trial = trials.find(picks[i].point);
    if (trial == nullptr) continue;
    times_[{group[i], rows_of(workload)}] = {trial->time_us().value_or(kNeverUs), trial->id};
  }
}

void RangeTimer::know_found(const std::vector<std::int64_t>& sizes) {
  for (const std::int64_t rows : sizes) {
    const auto is_there = [&](const auto& time) { return time.first.second == rows; };
    if (std::ranges::any_of(times_, is_there)) continue;
    for (std::size_t kernel = 0; kernel < kernels_.size(); ++kernel)
      for (const FoundAt& found : kernels_[kernel].found)
        if (found.rows == rows) times_[{kernel, rows}] = {found.us, found.record};
  }
}

double RangeTimer::us(std::size_t kernel, std::int64_t rows) const {
  const auto found = times_.find({kernel, rows});
  return found == times_.end() ? kNeverUs : found->second.us;
}

const std::string& RangeTimer::record(std::size_t kernel, std::int64_t rows) const {
  const auto found = times_.find({kernel, rows});
  CHECK(found != times_.end(), "kernel {} was not timed at {} rows", kernel, rows);
  return found->second.record;
}

RowTimes RangeTimer::times(const std::vector<std::int64_t>& sizes) const {
  RowTimes times = {sizes, {}};
  for (std::size_t kernel = 0; kernel < kernels_.size(); ++kernel) {
    times.us.emplace_back();
    for (const std::int64_t rows : sizes) times.us.back().push_back(us(kernel, rows));
  }
  return times;
}

}  // namespace lehr
