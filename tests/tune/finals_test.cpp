// Tests of the end of a session: how its time is split, which config is proven when, and which one is
// reported.
#include "tune/finals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/rng.h"
#include "measure/core/stats.h"
#include "measure/worker/backends.h"
#include "tune/run_finals.h"

namespace lehr {
namespace {

const ContestOptions& cpu() {
  return backend_of(Target::kCpu).contest;
}

// --- how the time is split

FinalsCosts costs_of(std::size_t finalists, double call_s, double check_s, double inputs_s) {
  FinalsCosts costs;
  costs.the_default = FinalistCost{call_s, check_s, check_s};
  costs.finalists.assign(finalists, {call_s, check_s, check_s});
  costs.inputs = {inputs_s, inputs_s};
  costs.libraries = 2;
  costs.library_s = 0.2;
  return costs;
}

TEST(Plan, HasAsManyFinalistsAsTheTimePaysFor) {
  const ContestOptions cuda = backend_of(Target::kCuda).contest;
  const FinalsCosts costs = costs_of(16, 1e-4, 1e-3, 0.01);
  const auto count = [&](double seconds, const ContestOptions& contest) {
    return plan_finals(costs, {seconds, seconds}, contest)->finalists;
  };
  EXPECT_EQ(count(9, cuda), 16u);
  EXPECT_EQ(count(9, cpu()), 16u);
  EXPECT_GT(count(2, cpu()), count(1, cpu()));
  EXPECT_GT(count(2, cpu()), count(2, cuda)) << "a GPU's turns are longer";
  EXPECT_EQ(plan_finals(costs_of(1, 1e-4, 1e-3, 0.01), {9, 9}, cpu())->finalists, 1u);
  EXPECT_EQ(plan_finals(costs_of(0, 1e-4, 1e-3, 0.01), {9, 9}, cpu())->finalists, 0u);
}

TEST(Plan, SetsTheProofsAside) {
  const FinalsCosts costs = costs_of(4, 1e-3, 0.02, 0.3);
  const FinalsPlan plan = *plan_finals(costs, {2, 2}, cpu());
  // The time behind the contest: inputs there and back, four checks of the fastest and of the default.
  EXPECT_NEAR(plan.contest.most_s, 2 - (0.6 + 8 * 0.02), 1e-9);
  EXPECT_LE(plan.contest.wanted_s, plan.contest.most_s);
  EXPECT_LT(plan.contest.libraries_s, plan.contest.most_s);
  EXPECT_EQ(plan.contest.last_s, 2);
}

// Finalists go first, then libraries' searches, rounds, libraries, the unfused pair, and the proofs last.
TEST(Plan, GivesUpWhatMattersLeastFirst) {
  FinalsCosts costs = costs_of(8, 2e-3, 0.02, 0.2);
  costs.challengers = 1;
  costs.challenger_s = 0.3;
  std::size_t finalists = 99;
  bool libraries = true, challengers = true;
  for (double seconds = 8; seconds > 0.01; seconds -= 0.01) {
    const auto plan = plan_finals(costs, {seconds, seconds}, cpu());
    if (!plan) {
      EXPECT_LT(seconds, 0.2) << "three rounds of two fit";
      break;
    }
    EXPECT_LE(plan->finalists, finalists);
    const bool has_libraries = plan->contest.libraries_s > 0;
    EXPECT_TRUE(challengers || !plan->challengers);
    EXPECT_TRUE(libraries || !has_libraries);
    EXPECT_TRUE(has_libraries || plan->finalists <= 2) << seconds;
    EXPECT_TRUE(plan->challengers || !has_libraries) << seconds;
    EXPECT_TRUE(plan->finalists >= 2 || !plan->challengers) << seconds;
    const double kept_s = seconds - plan->contest.most_s;
    EXPECT_TRUE(kept_s > 0.2 || plan->finalists == 1) << "proofs go last";
    finalists = plan->finalists;
    challengers = plan->challengers;
    libraries = has_libraries;
  }
  EXPECT_EQ(finalists, 1u);
}

TEST(Plan, WithoutALimitKeepsNothingBack) {
  const FinalsPlan plan = *plan_finals(costs_of(16, 1, 1, 5), {.wanted_s = 2}, cpu());
  EXPECT_EQ(plan.contest.most_s, kNoLimitS);
  EXPECT_EQ(plan.contest.libraries_s, kNoLimitS);
  EXPECT_GE(plan.finalists, 4u);
}

// --- a contest and its proofs, on a clock of their own

/// Kernels with true times, on a machine whose calls, checks and swaps take time.
class SlowMachine : public Measurer {
 public:
  struct Kernel {
    double us = 100, check_s = 0.01;
    std::optional<Inputs> wrong_on = std::nullopt;
  };

  SlowMachine(std::vector<Kernel> kernels, double swap_s, double noise, std::uint64_t seed)
      : kernels_(std::move(kernels)), swap_s_(swap_s), noise_(noise), rng_(seed) {}

  void prepare(const Problem&, const std::optional<Problem>&, const std::optional<PlainSource>&) override {}
  std::size_t measure(const NextSource&, const std::function<void(std::size_t, const Outcome&)>&,
                      TimeLeft) override {
    return 0;
  }
  int in_flight() const override { return 1; }
  std::variant<Repetition, Failure> repeat(const Source&) override { return Repetition{}; }
  Spent spent() const override { return {}; }
  SwapCosts swaps() const override { return {swap_s_, swap_s_}; }

  std::vector<ContestEntry> contest(std::span<const Source> sources, std::span<const Challenger>,
                                    std::span<const std::string> baselines, ContestTime time) override {
    const double begin_s = now_s;
    const auto gone_s = [&] { return now_s - begin_s; };
    std::vector<ContestEntry> entries(sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i) {
      entries[i].finished = gone_s() < time.most_s;
      if (!entries[i].finished)
        entries[i].missing = kNoTimeLeft;
      else
        now_s += 2 * kernels_[i].check_s;
    }
    for (const std::string& name : baselines) {
      ContestEntry& entry = entries.emplace_back();
      entry.name = name;
      if (gone_s() < time.libraries_s)
        now_s += 0.2;
      else
        entry.missing = kNoTimeLeft;
    }
    int rounds = 0;
    for (double last_s = 0; rounds < 200; ++rounds) {
      const bool least = rounds < kLeastRounds;
      if (!least && gone_s() >= time.wanted_s) break;
      if (gone_s() + last_s > (least ? time.last_s : time.most_s)) break;
      const double round_s = now_s;
      for (std::size_t i = 0; i < sources.size(); ++i) {
        if (!entries[i].missing.empty()) continue;
        now_s += turn_s(kernels_[i]);
        entries[i].round_us.push_back(kernels_[i].us * (1 + noise_ * rng_.uniform()));
      }
      last_s = now_s - round_s;
    }
    for (ContestEntry& entry : entries) {
      entry.finished = entry.missing.empty() && rounds >= kLeastRounds;
      if (!entry.round_us.empty()) entry.time_us = median(entry.round_us);
    }
    return entries;
  }

  std::optional<Failure> prove(std::size_t source, Inputs inputs, double seconds) override {
    if (inputs != in_place_) {
      now_s += swap_s_;
      ++swapped;
    }
    in_place_ = inputs;
    const Kernel& kernel = kernels_[source];
    now_s += std::max(kLeastProofs * kernel.check_s, std::floor(seconds / kernel.check_s) * kernel.check_s);
    if (kernel.wrong_on == inputs) return Failure{FailureKind::kWrongResult, "planted", {}};
    return std::nullopt;
  }

  /// Returns the seconds of a turn: waking its process, a call to warm up, a block.
  static double turn_s(const Kernel& kernel) {
    const double call_s = kernel.us * 1e-6;
    return 1.6e-3 + call_s + std::max(2e-3, call_s);
  }

  double now_s = 0;
  int swapped = 0;

 private:
  std::vector<Kernel> kernels_;
  double swap_s_, noise_;
  Inputs in_place_ = Inputs::kPrepared;
  Rng rng_;
};

struct Ran {
  FinalsResult result;
  double took_s = 0;
  int swapped = 0;
  bool planned = false;
};

/// Runs the finals as a session does, with costs that are known exactly.
Ran run(const std::vector<SlowMachine::Kernel>& kernels, double swap_s, TimeLeft left, double noise = 0.02,
        std::uint64_t seed = 1) {
  FinalsCosts costs;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const FinalistCost cost = {kernels[i].us * 1e-6, kernels[i].check_s, kernels[i].check_s};
    if (i == 0)
      costs.the_default = cost;
    else
      costs.finalists.push_back(cost);
  }
  costs.inputs = {swap_s, swap_s};
  costs.libraries = 1;
  costs.library_s = 0.2;
  Ran ran;
  const auto plan = plan_finals(costs, left, cpu());
  if (!plan) return ran;
  ran.planned = true;
  SlowMachine machine(kernels, swap_s, noise, seed);
  FinalsSides sides;
  sides.sources.resize(1 + plan->finalists);
  for (std::size_t i = 0; i < sides.sources.size(); ++i) sides.check_s.push_back(kernels[i].check_s);
  sides.libraries = {"library"};
  ran.result =
      run_finals(machine, sides, *plan,
                 {[&] { return machine.now_s; },
                  [&] {
                    return TimeLeft{left.wanted_s - machine.now_s,
                                    left.most_s >= kNoLimitS ? kNoLimitS : left.most_s - machine.now_s};
                  },
                  [] { return false; }});
  ran.took_s = machine.now_s;
  ran.swapped = machine.swapped;
  return ran;
}

ProofState proof_of(const Ran& ran, std::size_t entry) {
  for (const Contender& contender : ran.result.contenders)
    if (contender.entry == entry) return contender.proof;
  return ProofState::kNone;
}

using Kernel = SlowMachine::Kernel;

TEST(Proofs, AreOfTheFastestAndTheDefaultWithOneSwapThereAndBack) {
  const Ran ran = run({{200, 0.01}, {100, 0.01}, {120, 0.01}}, 0.1, {2, 2});
  EXPECT_EQ(leader_of(ran.result.contenders)->entry, 1u);
  EXPECT_EQ(proof_of(ran, 1), ProofState::kProven);
  EXPECT_EQ(proof_of(ran, 0), ProofState::kProven);
  EXPECT_EQ(ran.swapped, 2);
  EXPECT_LE(ran.took_s, 2);
  EXPECT_GT(ran.result.proof_s[1], 0);
}

TEST(Proofs, ADefaultThatIsToldIsProvenItself) {
  const Ran ran = run({{100, 0.01}, {130, 0.01}, {120, 0.01}}, 0.1, {2, 2});
  EXPECT_TRUE(leader_of(ran.result.contenders)->is_default);
  EXPECT_EQ(proof_of(ran, 0), ProofState::kProven);
}

// A kernel that is wrong now and then is found by many calls. The next one takes its place, and is proven,
// too.
TEST(Proofs, TheNextOneTakesThePlaceOfOneThatFails) {
  for (const Inputs wrong : {Inputs::kOther, Inputs::kPrepared}) {
    const Ran ran = run({{200, 0.01}, {100, 0.01, wrong}, {120, 0.01}}, 0.1, {4, 4});
    EXPECT_EQ(leader_of(ran.result.contenders)->entry, 2u);
    EXPECT_EQ(proof_of(ran, 1), ProofState::kFailed);
    EXPECT_EQ(proof_of(ran, 2), ProofState::kProven);
    EXPECT_TRUE(ran.result.entries[1].round_us.empty());
    EXPECT_TRUE(ran.result.entries[1].failure);
  }
}

TEST(Proofs, TheFastestIsToldAndNotProvenWhereThereIsNoTime) {
  const Ran ran = run({{200, 0.01}, {100, 0.01}}, 5, {1, 1});
  ASSERT_TRUE(ran.planned);
  EXPECT_EQ(leader_of(ran.result.contenders)->entry, 1u);
  EXPECT_EQ(proof_of(ran, 1), ProofState::kNone);
  EXPECT_EQ(ran.swapped, 0);
}

struct Draw {
  std::vector<Kernel> kernels;
  double swap_s = 0;
  TimeLeft left;
};

/// Draws sizes from a microsecond to half a second a call, inputs that take nothing or seconds, gains and
/// losses.
Draw draw_of(Rng& rng) {
  const auto within = [&](double low, double high) { return low * std::pow(high / low, rng.uniform()); };
  Draw draw;
  const double us = within(1, 5e5), compare_s = within(1e-4, 0.1);
  const auto count = 1 + rng.below(9);
  for (std::uint64_t i = 0; i <= count; ++i) {
    Kernel kernel;
    kernel.us = i == 0 ? us : us * within(0.3, 1.6);
    kernel.check_s = kernel.us * 1e-6 + compare_s;
    if (i > 0 && rng.uniform() < 0.15)
      kernel.wrong_on = rng.uniform() < 0.5 ? Inputs::kOther : Inputs::kPrepared;
    draw.kernels.push_back(kernel);
  }
  std::ranges::sort(draw.kernels.begin() + 1, draw.kernels.end(), {}, &Kernel::us);
  draw.swap_s = rng.uniform() < 0.2 ? 0 : within(1e-3, 3);
  const double seconds = within(0.05, 20);
  draw.left = {seconds, seconds * (rng.uniform() < 0.5 ? 1 : within(1, 5))};
  return draw;
}

/// Returns whether `entry` really beats the default, by more than noise and the least gain may hide.
bool clearly_faster(const Draw& draw, std::size_t entry) {
  return draw.kernels[entry].us * 1.1 < draw.kernels[0].us;
}

TEST(Proofs, OfRandomFinalsKeepTheirTimeAndLoseNoWinner) {
  const std::uint64_t seed = 20261129;
  SCOPED_TRACE(seed);
  Rng rng(seed);
  int proven = 0, provisional = 0, none = 0;
  for (int i = 0; i < 3000; ++i) {
    const Draw draw = draw_of(rng);
    SCOPED_TRACE(i);
    const Ran ran = run(draw.kernels, draw.swap_s, draw.left, 0.02, seed + static_cast<std::uint64_t>(i));
    if (!ran.planned || ran.result.contenders.empty()) {
      ++none;
      continue;
    }
    const Contender* const leader = leader_of(ran.result.contenders);
    ASSERT_NE(leader, nullptr) << "the default was right";
    // No contender that was timed to the end, right and clearly faster than the reported one is passed over.
    for (const Contender& other : ran.result.contenders) {
      if (other.proof == ProofState::kFailed || !clearly_faster(draw, other.entry)) continue;
      EXPECT_LE(draw.kernels[leader->entry].us, 1.1 * draw.kernels[other.entry].us);
    }
    // A planted fault is never reported as proven.
    EXPECT_TRUE(leader->proof != ProofState::kProven || !draw.kernels[leader->entry].wrong_on);
    (leader->proof == ProofState::kProven ? proven : provisional)++;
    // A step may overrun by the time of its last call, and the least rounds by that of their last one.
    double call_s = 0, round_s = 0;
    for (const Kernel& kernel : draw.kernels) {
      call_s = std::max(call_s, kernel.check_s);
      round_s += SlowMachine::turn_s(kernel);
    }
    const double most_s = std::max(draw.left.most_s, draw.left.wanted_s);
    EXPECT_LE(ran.took_s, most_s + 2 * call_s + round_s + 0.2);
  }
  EXPECT_GT(proven, 1000);
  EXPECT_GT(provisional, 50);
  EXPECT_GT(none, 50);
}

// Known costs are paid: where the least time of the finals was there, the fastest is proven.
TEST(Proofs, OfRandomFinalsThatHaveTheirLeastTimeAreComplete) {
  const std::uint64_t seed = 77;
  Rng rng(seed);
  for (int i = 0; i < 1000; ++i) {
    Draw draw = draw_of(rng);
    for (Kernel& kernel : draw.kernels) kernel.wrong_on.reset();
    FinalsCosts costs;
    costs.inputs = {draw.swap_s, draw.swap_s};
    for (std::size_t k = 0; k < draw.kernels.size(); ++k) {
      const FinalistCost cost = {draw.kernels[k].us * 1e-6, draw.kernels[k].check_s, draw.kernels[k].check_s};
      if (k == 0)
        costs.the_default = cost;
      else
        costs.finalists.push_back(cost);
    }
    const double seconds = least_finals_s(costs, cpu()) + 1e-6;
    SCOPED_TRACE(fmt::format("seed {} draw {}: {} s", seed, i, seconds));
    const Ran ran = run(draw.kernels, draw.swap_s, {seconds, seconds}, 0.02, seed);
    ASSERT_TRUE(ran.planned);
    ASSERT_FALSE(ran.result.contenders.empty());
    EXPECT_EQ(leader_of(ran.result.contenders)->proof, ProofState::kProven);
  }
}

// --- who has won

ContestEntry entry(const std::string& name, double us) {
  ContestEntry result;
  result.name = name;
  result.round_us.assign(8, us);
  result.time_us = us;
  return result;
}

std::size_t winner_of(const std::vector<ContestEntry>& entries, std::size_t sources) {
  return ranking(entries, sources, true).at(0);
}

TEST(Ranking, PassesOverALeaderWhoseLeadIsNoise) {
  ContestEntry unsteady = entry("source 1", 70);
  unsteady.round_us = {70, 130, 70, 120, 70, 125, 70, 110};
  const std::vector<ContestEntry> entries = {entry("source 0", 100), unsteady, entry("source 2", 80),
                                             entry("vendor", 160)};
  EXPECT_EQ(ranking(entries, 3, true), (std::vector<std::size_t>{2, 0, 1}));
  const Verdict verdict = verdict_of(entries, 3, true, 2);
  EXPECT_EQ(verdict.speedup_vs_default.value, 1.25);
  EXPECT_EQ(verdict.baseline, "vendor");
  EXPECT_DOUBLE_EQ(verdict.speedup_vs_baseline.value, 2);
}

TEST(Ranking, SeesASmallSteadyLeadInALargeSpread) {
  ContestEntry base = entry("source 0", 100), steady = entry("source 1", 95);
  for (std::size_t r = 0; r < 8; ++r) {
    base.round_us[r] = r % 2 == 0 ? 80 : 120;  // the machine drifts, and takes both along
    steady.round_us[r] = base.round_us[r] * 0.95;
  }
  EXPECT_EQ(winner_of({base, steady}, 2), 1u);
}

// Seven rounds of nine would pass a one-sided sign test, which once decided; the interval of the ratio holds
// 1.
TEST(Ranking, KeepsTheDefaultWhenTheIntervalOfTheRatioHoldsOne) {
  ContestEntry base = entry("source 0", 100), often = entry("source 1", 95);
  base.round_us.assign(9, 100);
  often.round_us = {95, 95, 110, 95, 95, 95, 110, 95, 95};
  EXPECT_EQ(winner_of({base, often}, 2), 0u);
  often.round_us[2] = 95;
  EXPECT_EQ(winner_of({base, often}, 2), 1u);
  EXPECT_GT(verdict_of({base, often}, 2, true, 1).speedup_vs_default.interval.low, 1);
}

TEST(Ranking, IgnoresALeadBelowOnePercentHoweverSteady) {
  EXPECT_EQ(winner_of({entry("source 0", 100), entry("source 1", 99.5)}, 2), 0u);
}

TEST(Ranking, HasOnlyThoseWhoWereTimedToTheEnd) {
  ContestEntry dropped = entry("source 1", 50);
  dropped.finished = false;
  EXPECT_EQ(ranking({entry("source 0", 100), dropped, entry("source 2", 80)}, 3, true),
            (std::vector<std::size_t>{2, 0}));
  EXPECT_TRUE(ranking({ContestEntry{}, entry("source 1", 70)}, 2, true).empty());
  EXPECT_EQ(ranking({entry("source 0", 100), entry("source 1", 70)}, 2, false),
            (std::vector<std::size_t>{1, 0}));
}

TEST(Beats, WantsIntervalsThatDoNotTouchOrASecondWindow) {
  const auto timing = [](std::vector<double> samples) {
    Timing result;
    result.samples_us = std::move(samples);
    result.time_us = estimate(result.samples_us);
    return result;
  };
  const Timing base = timing(std::vector<double>(15, 100)), fast = timing(std::vector<double>(15, 97));
  EXPECT_TRUE(beats(fast, base));
  EXPECT_FALSE(beats(base, base));
  EXPECT_FALSE(beats(timing(std::vector<double>(15, 99.5)), base));
  std::vector<double> noisy(15, 101);
  std::fill_n(noisy.begin(), 5, 90);
  Timing twice = timing(noisy);
  EXPECT_FALSE(beats(twice, base));
  twice.confirmed = true;
  EXPECT_FALSE(beats(twice, base)) << "without a reference kernel beside it";
  twice.reference_us = 100;
  EXPECT_TRUE(beats(twice, base));
}

}  // namespace
}  // namespace lehr
