// Measures the loss of `lehr tune --trials 0`: its choice for tasks that are left out, beside the fastest
// that their searches found. For each kind of belief it prints cases, quantiles of the loss, and in how many
// cases the loss and the time were as stated (tune/untuned.h).
//   untuned_loss [--draws N] LOG...
// log: for each session with twice as many trials, the fastest of the first 1, 2, 4, ... against that of all.
// prior, other tasks: for each workload and device whose default was timed, the choice among the timed
// configs, knowing nothing, or all other tasks of the same file and device, or N random ones of them.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "database/database.h"
#include "measure/core/stats.h"
#include "replay/origin.h"
#include "replay/table.h"
#include "tune/untuned.h"

namespace {

using namespace lehr;

/// Trials of one workload on one device, in order of creation.
struct LoggedTask {
  std::string file;
  Task task;
  std::vector<Record> rows;
};

/// Returns the tasks of a log. Rows get the identity of the device as far as it is known: origin_of() has
/// nothing but limits.
std::vector<LoggedTask> tasks_of(const std::string& file) {
  const Database log = Database::open_read_only(file);
  const LoggedFacts facts = log.devices();
  std::map<std::pair<std::string, std::string>, std::vector<Record>> groups;
  for (Record& record : log.all({})) groups[{record.workload, record.device}].push_back(std::move(record));
  std::vector<LoggedTask> tasks;
  for (auto& [key, rows] : groups) {
    const std::optional<TableOrigin> origin = origin_of(rows, facts);
    if (!origin) continue;
    Device device;
    device.name = key.second;
    device.limits = origin->limits;
    for (Record& row : rows) row.device = identity_of(device);
    tasks.push_back({file, task_of(origin->workload, device), std::move(rows)});
  }
  return tasks;
}

/// Results of the cases of one kind.
struct Cases {
  std::vector<double> losses, over_expected;  // the second: times over what was expected, of estimates
  int loss_held = 0, time_held = 0;

  void add(double loss, double stated) {
    losses.push_back(loss);
    loss_held += loss <= stated;
  }
  void add_time(double us, const Time& expected) {
    over_expected.push_back(us / expected.us);
    time_held += us >= expected.interval.low && us <= expected.interval.high;
  }
  void print(const std::string& name, double stated) const {
    if (losses.empty()) return;
    const auto percent = [](int held, std::size_t of) { return 100.0 * held / static_cast<double>(of); };
    fmt::print("| {} | {} | {:.1f} % | {:.1f} % | {:.1f} % | {:.0f} % ", name, losses.size(),
               100 * percentile(losses, 0.5), 100 * percentile(losses, 0.9), 100 * stated,
               percent(loss_held, losses.size()));
    if (over_expected.empty())
      fmt::print("| - | - |\n");
    else
      fmt::print("| {:.2f} to {:.2f} | {:.0f} % |\n", percentile(over_expected, 0.05),
                 percentile(over_expected, 0.95), percent(time_held, over_expected.size()));
  }
};

using Kinds = std::map<std::string, Cases>;

void add_prefixes(const LoggedTask& logged, std::map<std::int64_t, Cases>& by_trials) {
  std::map<std::string, std::vector<double>> sessions;
  for (const Record& row : logged.rows)
    if (row.time_us()) sessions[row.session].push_back(*row.time_us());
  for (const auto& [session, times_us] : sessions) {
    constexpr std::size_t kLeast = 24;  // the best of fewer trials says little
    if (times_us.size() < kLeast) continue;
    const double best = std::ranges::min(times_us);
    for (std::size_t n = 1; 2 * n <= times_us.size(); n *= 2) {
      const double known = *std::min_element(times_us.begin(), times_us.begin() + static_cast<long>(n));
      const auto trials = static_cast<std::int64_t>(n);
      by_trials[trials].add(known / best - 1, loss_to_expect(Belief::kLog, trials));
    }
  }
}

/// The candidates that were timed; nullopt where the first default was not.
struct Timed {
  Candidates candidates;
  std::unordered_map<Config, double, ConfigHash> times_us;
  double best_us = 0;
};
std::optional<Timed> timed(const LoggedTask& logged) {
  const auto all = std::make_shared<const Candidates>(candidates_for(logged.task));
  Table table;
  std::unordered_map<Config, double, ConfigHash> times_us;
  for (const Record& row : logged.rows) {
    const auto point = all->space.find(row.config);
    if (!point || !row.time_us()) continue;
    const auto [known, fresh] = times_us.try_emplace(all->space.config_of(*point), *row.time_us());
    if (fresh) table.rows.push_back({known->first, *row.time_us()});
  }
  constexpr std::size_t kLeast = 16;
  if (times_us.size() < kLeast || !times_us.contains(all->space.config_of(all->defaults[0])))
    return std::nullopt;
  Space space = space_of(table);
  std::vector<Point> defaults;
  for (const Point& each : all->defaults)
    if (const auto point = space.find(all->space.config_of(each))) defaults.push_back(*point);
  const double best_us = std::ranges::min_element(table.rows, {}, [](const TableRow& row) {
                           return *row.time_us;
                         })->time_us.value();
  Candidates candidates = *all;
  candidates.space = space;
  candidates.defaults = std::move(defaults);
  candidates.row_of = [all, space](const Point& point, std::span<float> row) {
    return all->row_of(all->space.point_of(space.config_of(point)), row);
  };
  return Timed{std::move(candidates), std::move(times_us), best_us};
}

void add_choice(const LoggedTask& logged, const Timed& timed, const Database* others, Kinds& kinds) {
  const Untuned choice = untuned(logged.task, timed.candidates, {.others = others});
  const double us = timed.times_us.at(choice.config);
  Cases& cases = kinds[std::string(name_of(choice.belief))];
  cases.add(us / timed.best_us - 1, choice.loss);
  cases.add_time(us, choice.expected);
}

void add_choices(const std::vector<LoggedTask>& all, const LoggedTask& logged, int draws, Kinds& kinds) {
  const std::optional<Timed> known = timed(logged);
  if (!known) return;
  add_choice(logged, *known, nullptr, kinds);
  std::vector<const LoggedTask*> others;
  for (const LoggedTask& each : all)
    if (&each != &logged && each.file == logged.file && each.rows[0].device == logged.rows[0].device)
      others.push_back(&each);
  if (others.empty()) return;
  Rng rng = Rng(0).fork(logged.task.problem.text + logged.rows[0].device);
  for (int draw = 0; draw <= draws; ++draw) {
    std::vector<const LoggedTask*> drawn = others;
    if (draw > 0) {
      rng.shuffle(drawn);
      drawn.resize(1 + rng.below(drawn.size()));
    }
    Database log = Database::open(":memory:");
    for (const LoggedTask* each : drawn)
      for (const Record& row : each->rows) log.append(row);
    add_choice(logged, *known, &log, kinds);
  }
}

void run(const std::vector<std::string>& files, int draws) {
  Kinds kinds;
  std::map<std::int64_t, Cases> by_trials;
  for (const std::string& file : files) {
    const std::vector<LoggedTask> tasks = tasks_of(file);
    for (const LoggedTask& each : tasks) {
      add_prefixes(each, by_trials);
      try {
        add_choices(tasks, each, draws, kinds);
      } catch (const Error& error) {  // nobody serves it today
        fmt::print(stderr, "left out: {}\n", error.what());
      }
    }
  }
  fmt::print(
      "| belief | cases | median loss | 90th percentile | stated | held | time over expected, 5 % to 95 % | "
      "held |\n"
      "|---|---|---|---|---|---|---|---|\n");
  for (const auto& [trials, cases] : by_trials)
    cases.print(fmt::format("log, {} trial{}", trials, trials == 1 ? "" : "s"),
                loss_to_expect(Belief::kLog, trials));
  for (const Belief belief : {Belief::kOtherTasks, Belief::kPrior})
    if (const auto found = kinds.find(std::string(name_of(belief))); found != kinds.end())
      found->second.print(found->first, loss_to_expect(belief, 0));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  try {
    int draws = 3;
    if (words.size() >= 2 && words[0] == "--draws") {
      draws = std::stoi(words[1]);
      words.erase(words.begin(), words.begin() + 2);
    }
    if (words.empty()) {
      fmt::print(stderr, "usage: untuned_loss [--draws N] LOG...\n");
      return 1;
    }
    run(words, draws);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "untuned_loss: {}\n", error.what());
    return 1;
  }
}
