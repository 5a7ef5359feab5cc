// Fits the global model, and chooses the first picks: see transfer.h.
#include "tune/transfer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "base/error.h"

namespace lehr {
namespace {

double best_of(const PastTask& task) {
  return *std::ranges::min_element(task.times_us);
}

void append_task(Dataset& data, const PastTask& task, Rng& rng) {
  std::vector<std::size_t> order(task.times_us.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return task.times_us[i]; });
  if (order.size() > Transfer::kMostRows) {
    const std::size_t fastest = Transfer::kMostRows / 4;
    std::vector<std::size_t> others(order.begin() + fastest, order.end());
    rng.shuffle(others);
    order.resize(fastest);
    order.insert(order.end(), others.begin(), others.begin() + (Transfer::kMostRows - fastest));
  }
  FeatureMatrix rows(task.rows.columns());
  std::vector<double> times_us;
  for (const std::size_t i : order) {
    rows.append(task.rows.row(i));
    times_us.push_back(task.times_us[i]);
  }
  append_group(data, rows, times_us);
}

Dataset dataset_of(const std::vector<PastTask>& tasks, std::uint64_t seed) {
  Rng rng = Rng(seed).fork("transfer");
  Dataset data(tasks[0].rows.columns());
  for (const PastTask& task : tasks) append_task(data, task, rng);
  return data;
}

/// A config that may be picked first.
struct Choice {
  Config config;
  std::vector<double> by_task;  // best time / time, by task; 0: not measured
  double mean;                  // weighted mean over the tasks
};

/// Returns the configs that were fast in one of the tasks, the highest mean first. `weights` is the sum of
/// the tasks' weights.
std::vector<Choice> choices_of(const std::vector<PastTask>& tasks, double weights) {
  std::unordered_map<Config, std::vector<double>, ConfigHash> performance;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const double best = best_of(tasks[t]);
    for (std::size_t i = 0; i < tasks[t].configs.size(); ++i) {
      auto& row = performance.try_emplace(tasks[t].configs[i], tasks.size(), 0.0).first->second;
      row[t] = std::max(row[t], best / tasks[t].times_us[i]);
    }
  }
  std::vector<Choice> choices;
  for (const auto& [config, by_task] : performance) {
    if (std::ranges::max(by_task) < Transfer::kLeastSpeed) continue;
    double mean = 0;
    for (std::size_t t = 0; t < tasks.size(); ++t) mean += tasks[t].weight * by_task[t] / weights;
    choices.push_back({config, by_task, mean});
  }
  std::ranges::sort(choices, [](const Choice& a, const Choice& b) {
    return a.mean != b.mean ? a.mean > b.mean : to_text(a.config) < to_text(b.config);
  });
  return choices;
}

}  // namespace

Transfer::Transfer(std::vector<PastTask> tasks, std::uint64_t seed) : tasks_(std::move(tasks)), model_(seed) {
  CHECK(!tasks_.empty());
  for (const PastTask& task : tasks_)
    CHECK(!task.times_us.empty() && task.rows.rows() == task.times_us.size() &&
              task.configs.size() == task.times_us.size(),
          "{}: {} times", task.name, task.times_us.size());
  const Dataset data = dataset_of(tasks_, seed);
  model_.fit(data);
  const std::vector<double> scores = model_.predict(data.rows);
  const auto n = static_cast<double>(scores.size());
  double square = 0;
  for (const double score : scores) mean_ += score / n;
  for (const double score : scores) square += (score - mean_) * (score - mean_) / n;
  if (square > 1e-18) deviation_ = std::sqrt(square);
}

std::vector<double> Transfer::predict(const FeatureMatrix& rows) const {
  std::vector<double> scores = model_.predict(rows);
  for (double& score : scores) score = (score - mean_) / deviation_;
  return scores;
}

std::vector<Point> Transfer::first_picks(const Space& space, std::size_t count) const {
  double weights = 0;
  for (const PastTask& task : tasks_) weights += task.weight;
  const std::vector<Choice> choices = choices_of(tasks_, weights);
  std::vector<Point> picks;
  std::vector<double> covered(tasks_.size(), 0);
  std::vector<char> taken(choices.size(), 0);
  // Takes one pick for each task that has no pick near its best.
  while (picks.size() < std::min(count, tasks_.size())) {
    std::size_t best = choices.size();
    double best_gain = 0.01;  // a task whose best is nearer than 1 % needs no pick of its own
    for (std::size_t i = 0; i < choices.size(); ++i) {
      if (taken[i]) continue;
      double gain = 0;
      for (std::size_t t = 0; t < tasks_.size(); ++t)
        gain += tasks_[t].weight * std::max(0.0, choices[i].by_task[t] - covered[t]) / weights;
      if (gain <= best_gain) continue;
      if (!space.contains(choices[i].config)) {
        taken[i] = 1;
        continue;
      }
      best = i;
      best_gain = gain;
    }
    if (best == choices.size()) break;
    taken[best] = 1;
    picks.push_back(space.point_of(choices[best].config));
    for (std::size_t t = 0; t < tasks_.size(); ++t)
      covered[t] = std::max(covered[t], choices[best].by_task[t]);
  }
  for (std::size_t i = 0; i < choices.size() && picks.size() < count; ++i) {
    if (taken[i]) continue;
    if (const auto point = space.find(choices[i].config)) picks.push_back(*point);
  }
  return picks;
}

std::size_t Transfer::trials() const {
  std::size_t trials = 0;
  for (const PastTask& task : tasks_) trials += task.times_us.size();
  return trials;
}

std::string describe(const Transfer& transfer) {
  const std::size_t trials = transfer.trials(), tasks = transfer.tasks().size();
  return fmt::format("{} trial{} of {} other task{} (nearest: {})", trials, trials == 1 ? "" : "s", tasks,
                     tasks == 1 ? "" : "s", transfer.tasks()[0].name);
}

}  // namespace lehr
