// Computes how long a contest must be to order two CPU kernels that differ by 3 %, and by which rounds. It
// cuts recorded contests (bench/results/ranking/rounds.txt.gz) into pieces. A piece would have ordered a pair
// 3 % apart if its ratio is off by less than that, in the direction that matters. The truth is the ratio of
// the pair's calm rounds in all its contests.
//   contest_pieces < ROUNDS
#include <fmt/core.h>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "measure/core/ratio.h"
#include "measure/worker/backends.h"

namespace {

using namespace lehr;

constexpr double kContestSeconds = 10;  // seconds of each recorded contest
constexpr double kApart = 0.03;

struct Contest {
  int pair = 0;
  double turn_ms = 0;
  std::vector<double> slow_us, fast_us;
};

std::vector<Contest> read(std::istream& in) {
  std::vector<Contest> contests;
  std::string line;
  while (std::getline(in, line)) {
    Contest head;
    double slow = 0, fast = 0;
    if (std::sscanf(line.c_str(), "contest pair=%d turn_ms=%lf", &head.pair, &head.turn_ms) == 2) {
      contests.push_back(head);
    } else if (!contests.empty() && std::sscanf(line.c_str(), "%lf %lf", &slow, &fast) == 2) {
      contests.back().slow_us.push_back(slow);
      contests.back().fast_us.push_back(fast);
    } else {
      throw_user("'{}' is neither 'contest pair=N turn_ms=X' nor two times in microseconds", line);
    }
  }
  return contests;
}

/// Returns the logarithm of slow / fast over rounds [begin, end).
double log_ratio(const Contest& contest, std::size_t begin, std::size_t end, double calm_within) {
  ContestEntry slow, fast;
  slow.calm_within = fast.calm_within = calm_within;
  const auto part = [&](const std::vector<double>& us) {
    return std::vector<double>(us.begin() + static_cast<std::ptrdiff_t>(begin),
                               us.begin() + static_cast<std::ptrdiff_t>(end));
  };
  slow.round_us = part(contest.slow_us);
  fast.round_us = part(contest.fast_us);
  return std::log(speedup_over(fast, slow).value);
}

/// Returns the ratio of each pair, by all its rounds.
std::map<int, double> truths(const std::vector<Contest>& contests, double calm_within) {
  std::map<int, Contest> whole;
  for (const Contest& one : contests) {
    Contest& all = whole[one.pair];
    all.slow_us.insert(all.slow_us.end(), one.slow_us.begin(), one.slow_us.end());
    all.fast_us.insert(all.fast_us.end(), one.fast_us.begin(), one.fast_us.end());
  }
  std::map<int, double> result;
  for (const auto& [pair, all] : whole) result[pair] = log_ratio(all, 0, all.slow_us.size(), calm_within);
  return result;
}

/// Returns the share of the pieces of `seconds` that would have ordered a pair 3 % apart, either of the two
/// as the slower.
double share_right(const std::vector<Contest>& contests, const std::map<int, double>& truth, double turn_ms,
                   double seconds, double calm_within) {
  int right = 0, of = 0;
  for (const Contest& one : contests) {
    if (one.turn_ms != turn_ms) continue;
    const std::size_t rounds = one.slow_us.size();
    const auto piece = static_cast<std::size_t>(static_cast<double>(rounds) * seconds / kContestSeconds);
    for (std::size_t begin = 0; piece > 0 && begin + piece <= rounds; begin += piece) {
      const double error = log_ratio(one, begin, begin + piece, calm_within) - truth.at(one.pair);
      right += (error > -kApart ? 1 : 0) + (error < kApart ? 1 : 0);
      of += 2;
    }
  }
  return of > 0 ? static_cast<double>(right) / of : 0;
}

void run() {
  const std::vector<Contest> contests = read(std::cin);
  const double calm_within = backend_of(Target::kCpu).contest.calm_within;
  const std::map<int, double> truth = truths(contests, calm_within);
  fmt::print("{} pairs\n\n| pieces of |", truth.size());
  constexpr double kTurnsMs[] = {20, 5, 2};
  for (const double turn_ms : kTurnsMs)
    fmt::print(" {:g} ms, all rounds | {:g} ms, calm rounds |", turn_ms, turn_ms);
  fmt::print("\n|---|---|---|---|---|---|---|\n");
  for (const double seconds : {0.4, 1.0, 2.0, 4.0}) {
    fmt::print("| {:g} s |", seconds);
    for (const double turn_ms : kTurnsMs)
      for (const double within : {0.0, calm_within})
        fmt::print(" {:.0f} % |", 100 * share_right(contests, truth, turn_ms, seconds, within));
    fmt::print("\n");
  }
}

}  // namespace

int main() {
  try {
    run();
    return 0;
  } catch (const lehr::Error& error) {
    fmt::print(stderr, "contest_pieces: {}\n", error.what());
    return 1;
  }
}
