// The fake's contest follows the arithmetic that ContestEntry documents.
#include "fake_measurer.h"

#include <algorithm>
#include <deque>

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
  searches.clear();
  in_place_ = Inputs::kPrepared;
  clock_->now_s += prepare_s;
}

std::size_t FakeMeasurer::measure(const NextSource& next,
                                  const std::function<void(std::size_t, const Outcome&)>& done,
                                  TimeLeft time) {
  const double begin_s = clock_->now_s;
  std::deque<Source> given;
  bool more = true;
  const auto take_more = [&] {
    while (more && static_cast<int>(given.size()) < window) {
      std::optional<Source> source = next();
      more = source.has_value();
      if (source) given.push_back(*std::move(source));
    }
  };
  take_more();
  std::size_t count = 0;
  while (!given.empty()) {
    const Source source = std::move(given.front());
    given.pop_front();
    if (before_trial) before_trial(static_cast<int>(measured.size()));
    const double gone_s = clock_->now_s - begin_s;
    left.push_back({time.wanted_s - gone_s, time.most_s - gone_s, time.compile_s - gone_s});
    const double whole_s = seconds_of ? seconds_of(source) : trial_s_;
    const double most_s = std::min(left.back().most_s, only_compiles ? left.back().compile_s : kNoLimitS);
    const double trial_s = std::min(whole_s, std::max(0.0, most_s));
    clock_->now_s += trial_s;
    spent_.compile_s += trial_s / 2;
    spent_.compiling_s += trial_s;  // half of the compiling happened while another trial ran
    spent_.run_s += trial_s / 2;
    ++spent_.kernels;
    measured.push_back(source.entry);
    Outcome outcome =
        trial_s < whole_s ? Failure{FailureKind::kInterrupted, "the time was up", {}} : outcome_of_(source);
    if (auto* timing = std::get_if<Timing>(&outcome)) timing->run_s = trial_s / 2;
    if (done) done(count, outcome);
    ++count;
    if (overlap || given.empty()) take_more();
  }
  return count;
}

std::vector<ContestEntry> FakeMeasurer::contest(std::span<const Source> sources,
                                                std::span<const Challenger> challengers,
                                                std::span<const std::string> baselines, ContestTime time) {
  last_budget_s = time.wanted_s;
  last_most_s = time.most_s;
  const double takes_s = std::max(0.0, std::min(time.wanted_s, time.most_s));
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
    if (const auto found = overheads.find(name); found != overheads.end()) entry.overhead_us = found->second;
    entries.push_back(std::move(entry));
  }
  for (ContestEntry& entry : entries) {
    entry.finished = finishes && !entry.failure;
    if (entry.round_us.empty()) continue;
    entry.time_us = quantile(entry.round_us, 0.5);
  }
  return entries;
}

std::optional<Failure> FakeMeasurer::prove(std::size_t source, Inputs inputs, double seconds) {
  if (inputs != in_place_) clock_->now_s += swap_s;
  in_place_ = inputs;
  clock_->now_s += std::max(kLeastProofs * check_s, check_s > 0 ? seconds : 0);
  proven.push_back(contested.at(source) + (inputs == Inputs::kOther ? " other" : " own"));
  return proof_failure ? proof_failure(contested[source], inputs) : std::nullopt;
}

}  // namespace lehr::testing
