// The fake's contest follows the arithmetic that ContestEntry documents.
#include "fake_measurer.h"

#include <algorithm>

namespace lehr::testing {
namespace {

constexpr int kRounds = 9;

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

}  // namespace

void FakeMeasurer::prepare(const Problem&, const std::optional<Problem>&, const std::optional<PlainSource>&) {
  ++prepared;
  clock_->now_s += prepare_s;
}

std::vector<Outcome> FakeMeasurer::measure(std::span<const Source> sources,
                                           const std::function<void(std::size_t, const Outcome&)>& done,
                                           TimeLeft time) {
  std::vector<Outcome> outcomes;
  const double begin_s = clock_->now_s;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (before_trial) before_trial(static_cast<int>(measured.size()));
    const double gone_s = clock_->now_s - begin_s;
    left.push_back({time.wanted_s - gone_s, time.most_s - gone_s});
    const double whole_s = seconds_of ? seconds_of(sources[i]) : trial_s_;
    const double trial_s = std::min(whole_s, std::max(0.0, left.back().most_s));
    clock_->now_s += trial_s;
    spent_.compile_s += trial_s / 2;
    spent_.compiling_s += trial_s;  // half of it while another trial ran
    spent_.run_s += trial_s / 2;
    ++spent_.kernels;
    measured.push_back(sources[i].entry);
    if (trial_s < whole_s)
      outcomes.push_back(Failure{FailureKind::kInterrupted, "the time was up", {}});
    else
      outcomes.push_back(outcome_of_(sources[i]));
    if (auto* timing = std::get_if<Timing>(&outcomes.back())) timing->run_s = trial_s / 2;
    done(i, outcomes.back());
  }
  return outcomes;
}

std::vector<ContestEntry> FakeMeasurer::contest(std::span<const Source> sources,
                                                std::span<const Challenger> challengers,
                                                std::span<const std::string> baselines, double budget_s,
                                                double most_s) {
  last_budget_s = budget_s;
  last_most_s = most_s;
  const double takes_s = std::min(budget_s, most_s);
  clock_->now_s += takes_s;
  spent_.run_s += takes_s;
  spent_.kernels += static_cast<int>(sources.size());
  contested.clear();
  std::vector<ContestEntry> entries;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    contested.push_back(sources[i].entry);
    ContestEntry entry;
    entry.name = "source " + std::to_string(i);
    if (contest_failure) entry.failure = contest_failure(sources[i]);
    for (int round = 0; round < kRounds && !entry.failure; ++round)
      entry.round_us.push_back(contest_us ? contest_us(sources[i], round)
                                          : std::get<Timing>(outcome_of_(sources[i])).time_us);
    entries.push_back(std::move(entry));
  }
  for (const Challenger& challenger : challengers) {
    ContestEntry entry;
    entry.name = challenger.name;
    entry.note = challenger.note;
    entry.round_us.assign(kRounds, challenger_us);
    entries.push_back(std::move(entry));
  }
  for (const std::string& name : baselines) {
    ContestEntry entry;
    entry.name = name;
    if (name == "absent")
      entry.missing = "libabsent.so is not installed";
    else
      entry.round_us.assign(kRounds, baseline_us);
    if (const auto found = findings.find(name); found != findings.end()) entry.finding = found->second;
    entries.push_back(std::move(entry));
  }
  for (ContestEntry& entry : entries) {
    entry.finished = finishes;
    if (entry.round_us.empty()) continue;
    entry.time_us = quantile(entry.round_us, 0.5);
  }
  return entries;
}

}  // namespace lehr::testing
