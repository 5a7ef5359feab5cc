// Measures whether two kernels that differ by 3 % are put into the right order. It orders pairs of sampled
// CPU kernels by the finalists' contest and by single trials, against a long contest before and another one
// after: on a shared machine the ratio of two kernels may be another one minutes later, and then there is no
// right order. So there is another kind of pairs, too: `alike`, of one kernel whose calls are 34 and 33
// rounds of the same work.
//   ranking_pairs LEHR [PAIRS] [LONG_S] [FINAL_S] [REPEATS] [SEED] [different|alike]
// (30 pairs, 8 s, 1.6 s, 3, 1, different)
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "measure/host/cpu_device.h"
#include "measure/host/host_compiler.h"
#include "measure/worker/local_measurer.h"
#include "tune/finals.h"
#include "tune/task.h"
#include "tune/workload_problem.h"

namespace lehr {
namespace {

constexpr double kWanted = 1.03, kLeast = 1.02, kMost = 1.04;
/// Bounds of the 95 % interval of a long contest: within them the order is sure, and 3 % is about right.
constexpr double kSurelyAbove = 1.01, kSurelyBelow = 1.06;
/// Tries for a pair: a long contest corrects the numbers of calls, and the pair is tried again.
constexpr int kAttempts = 3;
constexpr int kCalls = 20, kMostCalls = 60;
constexpr int kAlikeSlow = 34, kAlikeFast = 33;  // 3.03 % apart

struct Plan {
  std::string lehr;
  int pairs = 30;
  double long_s = 8;
  /// Seconds that two of the last six participants of a contest get in a session of 60 s: 8 s less the stages
  /// of sixteen finalists, 2 s, shared by four finalists, the default and a vendor library.
  double final_s = 1.6;
  int repeats = 3;
  std::uint64_t seed = 1;
  bool alike = false;
};

/// A kernel, and how long one call of it takes.
struct Timed {
  Source source;
  double us = 0;
};

/// Returns a kernel whose call is `calls` calls of `source`, work item by work item: that sets its time in
/// steps of 2 to 5 %.
Source repeated(const Source& source, int calls) {
  Source result = source;
  result.entry = source.entry + "_repeated";
  result.text += fmt::format(
      "extern \"C\" void {}(void* const* params, void* scratch, long task) {{\n"
      "  for (int i = 0; i < {}; ++i) {{ {}(params, scratch, task); asm volatile(\"\" ::: \"memory\"); "
      "}}\n}}\n",
      result.entry, calls, source.entry);
  return result;
}

/// Two kernels, the slower one first.
struct Pair {
  Source slow, fast;
  double ratio = 0;  ///< of their times: first the expected one, then that of the long contest
};

/// Returns numbers of calls that bring the two near the wanted ratio.
Pair near(const Timed& a, const Timed& b) {
  int best_a = kCalls, best_b = kCalls;
  double best = 1e9;
  for (int calls = kCalls; calls <= kMostCalls; ++calls) {
    const int other = std::max(1, static_cast<int>(std::lround(calls * a.us / (kWanted * b.us))));
    const double off = std::abs(calls * a.us / (other * b.us) - kWanted);
    if (off >= best) continue;
    best = off;
    best_a = calls;
    best_b = other;
  }
  return {repeated(a.source, best_a), repeated(b.source, best_b), best_a * a.us / (best_b * b.us)};
}

/// Returns the time of `slow` over that of `fast`.
Ratio contest(LocalMeasurer& measurer, const Pair& pair, bool slow_first, double budget_s) {
  const std::vector<Source> sources =
      slow_first ? std::vector<Source>{pair.slow, pair.fast} : std::vector<Source>{pair.fast, pair.slow};
  const std::vector<ContestEntry> entries = measurer.contest(sources, {}, {}, {.wanted_s = budget_s});
  const std::size_t fast = slow_first ? 1 : 0;
  return speedup_over(entries[fast], entries[1 - fast]);
}

/// Samples kernels of one product that take between 15 us and 1.5 ms a call, in random order.
std::vector<Timed> sample(LocalMeasurer& measurer, const Candidates& candidates, std::size_t count,
                          Rng& rng) {
  std::vector<Timed> kernels;
  for (std::size_t draw = 0; draw < 4 * count && kernels.size() < count; ++draw) {
    const auto emitted = try_emit(candidates, candidates.space.sample(rng));
    const auto* source = std::get_if<Source>(&emitted);
    if (source == nullptr) continue;
    const Outcome outcome = measurer.measure(std::vector<Source>{repeated(*source, kCalls)}, {})[0];
    const auto* timing = std::get_if<Timing>(&outcome);
    if (timing == nullptr) continue;
    const double us = timing->time_us / kCalls;
    if (us > 15 && us < 1500) kernels.push_back({*source, us});
  }
  return kernels;
}

/// Returns whether the order is sure and 3 % is about right.
bool is_clear(const Ratio& ratio) {
  return ratio.value >= kLeast && ratio.value <= kMost && ratio.interval.low >= kSurelyAbove &&
         ratio.interval.high <= kSurelyBelow;
}

/// Returns the two kernels with such numbers of calls that they surely differ by about 3 %; nullopt where the
/// machine is too busy to tell.
std::optional<Pair> find_pair(LocalMeasurer& measurer, const Timed& first, Timed second, double long_s) {
  // Single trials are some per cent off: a first, short contest tells how much the numbers of calls must
  // change.
  const Pair guess = near(first, second);
  const double said = contest(measurer, guess, true, long_s / 4).value;
  if (said <= 0) return std::nullopt;
  second.us *= guess.ratio / said;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Pair pair = near(first, second);
    const Ratio ratio = contest(measurer, pair, true, long_s);
    if (ratio.value <= 0) return std::nullopt;
    const bool clear = is_clear(ratio);
    fmt::print("{:<9} {:.4f} ({:.4f} to {:.4f})\n", clear ? "pair" : "not yet", ratio.value,
               ratio.interval.low, ratio.interval.high);
    std::fflush(stdout);
    second.us *= pair.ratio / ratio.value;
    pair.ratio = ratio.value;
    if (clear) return pair;
  }
  return std::nullopt;
}

struct Share {
  int right = 0, of = 0;
  void add(bool is_right) {
    right += is_right ? 1 : 0;
    ++of;
  }
  std::string text() const {
    return fmt::format("{} of {} ({:.1f} %)", right, of, of > 0 ? 100.0 * right / of : 0);
  }
};

double single_trial_ratio(LocalMeasurer& measurer, const Pair& pair, bool slow_first) {
  std::vector<Source> sources = {pair.slow, pair.fast};
  if (!slow_first) std::swap(sources[0], sources[1]);
  const std::vector<Outcome> outcomes = measurer.measure(sources, {});
  const auto* first = std::get_if<Timing>(&outcomes[0]);
  const auto* second = std::get_if<Timing>(&outcomes[1]);
  if (first == nullptr || second == nullptr) return 1;
  return slow_first ? first->time_us / second->time_us : second->time_us / first->time_us;
}

/// Everything that the contests run on.
struct Field {
  LocalMeasurer& measurer;
  const Candidates& candidates;
  Rng& rng;
};

/// Returns pairs of a kernel with itself.
std::vector<Pair> alike_pairs(const Field& field, const Plan& plan) {
  std::vector<Pair> pairs;
  const auto count = static_cast<std::size_t>(plan.pairs);
  for (const Timed& kernel : sample(field.measurer, field.candidates, count, field.rng)) {
    Pair pair = {repeated(kernel.source, kAlikeSlow), repeated(kernel.source, kAlikeFast)};
    pair.ratio = contest(field.measurer, pair, true, plan.long_s).value;
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

/// Returns pairs of two different kernels, as far as there are such pairs.
std::vector<Pair> different_pairs(const Field& field, const Plan& plan) {
  const auto wanted = static_cast<std::size_t>(plan.pairs);
  std::vector<Pair> pairs;
  int unclear = 0;
  for (int batch = 0; batch < 4 && pairs.size() < wanted; ++batch) {
    const std::vector<Timed> kernels =
        sample(field.measurer, field.candidates, 2 * (wanted - pairs.size()) + 2, field.rng);
    for (std::size_t i = 0; i + 1 < kernels.size() && pairs.size() < wanted; i += 2) {
      const auto pair = find_pair(field.measurer, kernels[i], kernels[i + 1], plan.long_s);
      if (pair)
        pairs.push_back(*pair);
      else
        ++unclear;
    }
  }
  fmt::print("{} pairs between {} and {}; {} others were not, or not clearly\n", pairs.size(), kLeast, kMost,
             unclear);
  return pairs;
}

/// Results of a short contest of a pair, and of single trials of the two.
struct Attempt {
  Ratio contest;
  double single = 1;
};

/// Returns the attempts by pair: one at each pair, then the next one at each.
std::vector<std::vector<Attempt>> attempts_at(const Field& field, const std::vector<Pair>& pairs,
                                              const Plan& plan) {
  std::vector<std::vector<Attempt>> attempts(pairs.size());
  for (int repeat = 0; repeat < plan.repeats; ++repeat) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const bool slow_first = field.rng.uniform() < 0.5;
      const Ratio ratio = contest(field.measurer, pairs[i], slow_first, plan.final_s);
      attempts[i].push_back({ratio, single_trial_ratio(field.measurer, pairs[i], slow_first)});
    }
  }
  return attempts;
}

int report(const Field& field, const std::vector<Pair>& pairs,
           const std::vector<std::vector<Attempt>>& attempts, const Plan& plan) {
  fmt::print("\n before   after  contests in between\n");
  Share finals, decided, held, trials;
  std::size_t counted = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Ratio after = contest(field.measurer, pairs[i], true, plan.long_s);
    fmt::print("{:.4f}  {:.4f} ", pairs[i].ratio, after.value);
    for (const Attempt& attempt : attempts[i]) fmt::print(" {:.3f}", attempt.contest.value);
    const bool counts = plan.alike || is_clear(after);
    fmt::print("{}\n", counts ? "" : "  left out: another ratio afterwards");
    std::fflush(stdout);
    if (!counts) continue;
    ++counted;
    const double truth =
        plan.alike ? static_cast<double>(kAlikeSlow) / kAlikeFast : std::sqrt(pairs[i].ratio * after.value);
    for (const Attempt& attempt : attempts[i]) {
      const Interval& interval = attempt.contest.interval;
      finals.add(attempt.contest.value > 1);
      if (interval.low > 1 || interval.high < 1) decided.add(interval.low > 1);
      held.add(interval.low <= truth && truth <= interval.high);
      trials.add(attempt.single > 1);
    }
  }
  if (finals.of == 0) {
    fmt::print(stderr, "ranking_pairs: no pair is left to judge by\n");
    return 1;
  }
  if (plan.alike)
    fmt::print("\n{} pairs of {} and {} calls of one kernel\n", counted, kAlikeSlow, kAlikeFast);
  else
    fmt::print("\n{} of {} pairs between {} and {} were there afterwards too\n", counted, pairs.size(),
               kLeast, kMost);
  fmt::print("ordered right by the finalists' contest    {}; the goal is 90 %\n", finals.text());
  fmt::print("of those whose 95 % interval leaves out 1  {}\n", decided.text());
  fmt::print("the true ratio lies in that interval       {}\n", held.text());
  fmt::print("ordered right by single trials             {}\n", trials.text());
  return 0;
}

int run(const Plan& plan) {
  Task task = task_of(parse_workload("gemm m=96 n=96 k=96"), cpu_device(1, false));
  HostCompiler compiler;
  task.device.compiler = compiler.identity();
  LocalOptions options;
  options.worker.program = plan.lehr;
  LocalMeasurer measurer(compiler, options);
  measurer.prepare(asked_problem(*task.workload, plan.seed));
  const Candidates candidates = candidates_for(task);
  Rng rng(plan.seed);

  fmt::print("{}\n{}, one thread, {} s to know the ratio, {} s for a contest, seed {}, {} kernels\n\n",
             task.device.name, task.problem.text, plan.long_s, plan.final_s, plan.seed,
             plan.alike ? "alike" : "different");
  const Field field = {measurer, candidates, rng};
  const std::vector<Pair> pairs = plan.alike ? alike_pairs(field, plan) : different_pairs(field, plan);
  const std::vector<std::vector<Attempt>> attempts = attempts_at(field, pairs, plan);
  return report(field, pairs, attempts, plan);
}

}  // namespace
}  // namespace lehr

int main(int count, char** words) {
  if (count < 2) {
    fmt::print(stderr,
               "usage: ranking_pairs LEHR [PAIRS] [LONG_S] [FINAL_S] [REPEATS] [SEED] [different|alike]\n");
    return 1;
  }
  lehr::Plan plan;
  plan.lehr = words[1];
  if (count > 2) plan.pairs = std::atoi(words[2]);
  if (count > 3) plan.long_s = std::atof(words[3]);
  if (count > 4) plan.final_s = std::atof(words[4]);
  if (count > 5) plan.repeats = std::atoi(words[5]);
  if (count > 6) plan.seed = std::strtoull(words[6], nullptr, 10);
  if (count > 7) plan.alike = std::string(words[7]) == "alike";
  try {
    return lehr::run(plan);
  } catch (const lehr::Error& error) {
    fmt::print(stderr, "ranking_pairs: {}\n", error.what());
    return 1;
  }
}
