// Rounds, stages and entries of a contest.
#include "measure/worker/contest.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "measure/core/ratio.h"

namespace lehr {
namespace {

constexpr int kTrialBlocks = 3;
constexpr double kTrialSeconds = 0.06;

/// Seconds since construction.
class Elapsed {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct Turn {
  double us = 0;
  std::optional<GpuState> gpu;
};
using Round = std::vector<std::optional<Turn>>;  ///< by participant

/// The participants, and which of them have not dropped out.
class Contestants {
 public:
  Contestants(std::vector<Participant>& participants, const ContestOptions& options)
      : participants_(participants), options_(options), dropped_(participants.size(), false) {}

  /// Times one block of participant `i`. If it fails, returns nullopt and sets `missing`.
  std::optional<Turn> turn(std::size_t i) {
    Participant& one = participants_[i];
    if (!races(i)) return std::nullopt;
    const Elapsed elapsed;
    one.worker->resume();
    std::optional<Turn> result = running_turn(i);
    one.worker->stop();
    one.turns_s += elapsed.seconds();
    return result;
  }

  bool races(std::size_t i) const { return participants_[i].missing.empty() && !dropped_[i]; }
  bool dropped(std::size_t i) const { return dropped_[i]; }

  /// Drops the slower half of the contenders that are left, but keeps at least `most_finalists`.
  void end_stage(const std::vector<Round>& rounds) {
    std::vector<std::pair<double, std::size_t>> times;
    for (std::size_t i = 0; i < participants_.size(); ++i) {
      if (!participants_[i].contender || !races(i)) continue;
      std::vector<double> us;
      for (const Round& round : rounds) us.push_back(round[i]->us);
      times.emplace_back(estimate(us), i);
    }
    std::sort(times.begin(), times.end());
    for (std::size_t place = std::max(times.size() / 2, options_.most_finalists); place < times.size();
         ++place)
      dropped_[times[place].second] = true;
  }

  void load_all(Deadline end) {
    for (std::size_t i = 0; i < participants_.size(); ++i) {
      Participant& one = participants_[i];
      if (!one.missing.empty() || one.loaded != 0) continue;
      const Elapsed elapsed;
      if (seconds_left(end) <= 0) {
        one.missing = kNoTimeLeft;
        continue;
      }
      one.worker->resume();
      ensure_loaded(i);
      one.worker->stop();
      one.turns_s += elapsed.seconds();
    }
  }

 private:
  void fail(std::size_t i, const Failure& failure) {
    participants_[i].failure = failure;
    const std::string_view first = first_line(failure.text);
    participants_[i].missing = failure.kind == FailureKind::kWrongResult
                                   ? fmt::format("its result does not match the reference: {}", first)
                                   : fmt::format("{}: {}", name_of(failure.kind), first);
  }

  /// Loads participant `i` again if necessary: if one participant crashes, all participants of its worker
  /// lose their slots.
  bool ensure_loaded(std::size_t i) {
    Participant& one = participants_[i];
    if (one.loaded == one.worker->generation() && one.loaded != 0) return true;
    const std::variant<Done, Failure> loaded = one.worker->load(one.load, options_.timeout_s);
    if (const auto* failure = std::get_if<Failure>(&loaded)) {
      fail(i, *failure);
      return false;
    }
    const Done& done = std::get<Done>(loaded);
    if (!done.note.empty()) one.note = done.note;
    one.finding = done.finding;
    one.overhead_us = done.overhead_us;
    one.loaded = one.worker->generation();
    return true;
  }

  std::optional<Turn> running_turn(std::size_t i) {
    Participant& one = participants_[i];
    if (!ensure_loaded(i)) return std::nullopt;
    // Samples of a tenth of a millisecond each: their median ignores an interruption.
    const SampleRequest block = {100, 1, options_.block_us, options_.block_us, 1, 0};
    const std::variant<Samples, Failure> answer =
        one.worker->time({one.load.slot, block}, options_.timeout_s);
    if (const auto* failure = std::get_if<Failure>(&answer)) {
      fail(i, *failure);
      return std::nullopt;
    }
    const Samples& samples = std::get<Samples>(answer);
    return Turn{median(samples.us), samples.gpu};
  }

  std::vector<Participant>& participants_;
  const ContestOptions& options_;
  std::vector<bool> dropped_;
};

/// Returns the median of each quantity over the rounds in which the quantity is known.
std::optional<GpuState> typical_state(const std::vector<Round>& rounds, std::size_t participant) {
  std::vector<double> clocks, powers, temperatures;
  for (const Round& round : rounds) {
    if (!round[participant]) break;
    const std::optional<GpuState>& state = round[participant]->gpu;
    if (!state) continue;
    clocks.push_back(state->sm_mhz);
    powers.push_back(state->power_w);
    temperatures.push_back(state->temperature_c);
  }
  if (clocks.empty()) return std::nullopt;
  return GpuState{median(clocks), median(powers), median(temperatures)};
}

void fill_entries(std::vector<ContestEntry>& entries, const std::vector<Round>& rounds) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    ContestEntry& entry = entries[i];
    if (!entry.missing.empty()) continue;
    for (const Round& round : rounds) {
      if (!round[i]) break;  // dropped out
      entry.round_us.push_back(round[i]->us);
    }
    if (entry.round_us.empty()) continue;
    entry.time_us = median(calm_us(entry));
    entry.gpu = typical_state(rounds, i);
  }
}

}  // namespace

void load(std::vector<Participant>& participants, const ContestOptions& options) {
  Contestants(participants, options).load_all(deadline_in(options.most_s));
}

std::vector<ContestEntry> run_contest(std::vector<Participant>& participants, const ContestOptions& options) {
  const Deadline end = deadline_in(options.most_s), last = deadline_in(options.last_s);
  const Elapsed elapsed;
  Contestants contestants(participants, options);
  contestants.load_all(end);
  const std::size_t count = participants.size();
  std::vector<Round> rounds;
  int stage_start = 0;
  double stage_start_s = elapsed.seconds(), round_start_s = stage_start_s;
  while (static_cast<int>(rounds.size()) < options.max_rounds) {
    const int done = static_cast<int>(rounds.size());
    const double spent_s = elapsed.seconds();
    if (done >= options.min_rounds && spent_s >= options.budget_s) break;
    if (done >= kLeastRounds && spent_s >= 2 * options.budget_s) break;
    // The next round is assumed to take as long as the last one.
    if (seconds_left(done < kLeastRounds ? last : end) < spent_s - round_start_s) break;
    round_start_s = spent_s;
    const int in_stage = done - stage_start;
    if (in_stage >= options.stage_rounds ||
        (in_stage >= 2 && spent_s - stage_start_s >= options.stage_share * options.budget_s)) {
      contestants.end_stage(rounds);
      stage_start = done;
      stage_start_s = spent_s;
    }
    if (std::all_of(participants.begin(), participants.end(),
                    [](const Participant& p) { return !p.missing.empty(); }))
      break;
    Round round(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t who = (i + rounds.size()) % count;
      round[who] = contestants.turn(who);
    }
    rounds.push_back(std::move(round));
  }
  for (const Participant& one : participants) {
    if (one.worker != nullptr) one.worker->resume();
  }

  std::vector<ContestEntry> entries;
  for (std::size_t i = 0; i < count; ++i) {
    ContestEntry& entry = entries.emplace_back();
    entry.name = participants[i].name;
    entry.calm_within = options.calm_within;
    entry.dropped = contestants.dropped(i);
    entry.turns_s = participants[i].turns_s;
    entry.missing = participants[i].missing;
    entry.finished =
        entry.missing.empty() && !entry.dropped && static_cast<int>(rounds.size()) >= kLeastRounds;
    entry.failure = participants[i].failure;
    entry.note = participants[i].note;
    if (participants[i].worker != nullptr) entry.checked_by = participants[i].worker->checked_by();
    entry.finding = participants[i].finding;
    entry.overhead_us = participants[i].overhead_us;
  }
  fill_entries(entries, rounds);
  return entries;
}

double trial_block_us(Participant& participant, const ContestOptions& options) {
  std::vector<Participant> alone = {participant};
  Contestants contestants(alone, options);
  std::vector<double> times;
  const Elapsed elapsed;
  for (int block = 0; block < kTrialBlocks || elapsed.seconds() < kTrialSeconds; ++block) {
    const std::optional<Turn> turn = contestants.turn(0);
    if (!turn) break;
    times.push_back(turn->us);
  }
  participant.missing = alone[0].missing;
  return times.empty() ? 0 : estimate(times);
}

}  // namespace lehr
