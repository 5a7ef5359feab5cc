// Synthetic landscapes: see landscape.h.
#include "tests/search/landscape.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/hash.h"

namespace lehr::testing {
namespace {

std::uint64_t bits(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

double unit(std::uint64_t hash) {
  return static_cast<double>(hash >> 11) * 0x1.0p-53;
}

}  // namespace

double Landscape::operator()(const Point& point) const {
  const Config config = space.config_of(point);
  Rng rng = Rng(seed).fork(config.family);
  std::vector<double> x;
  for (const KnobValue& knob : config.knobs) x.push_back(std::log2(static_cast<double>(knob.value) + 1));
  double cost = 0;
  for (double each : x) {
    const double target = 0.5 + 4 * rng.uniform();
    cost += (0.05 + 0.1 * rng.uniform()) * (each - target) * (each - target);
  }
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::size_t i = rng.below(x.size());
    const std::size_t j = rng.below(x.size());
    cost += 0.15 * rng.uniform() * std::abs(x[i] + x[j] - 6 * rng.uniform());
    const std::uint64_t pair = hash_combine(bits(config.knobs[i].value), bits(config.knobs[j].value));
    cost += rugged * unit(hash_combine(seed + k, pair));
  }
  return std::exp(-cost);
}

Score score_of(const Landscape& landscape, double noise) {
  return [=](std::span<const Point> points) {
    std::vector<double> scores;
    for (const Point& point : points) {
      Rng rng(stable_hash(to_text(landscape.space.config_of(point))));
      double normal = -6;  // Irwin-Hall: 12 uniforms
      for (int i = 0; i < 12; ++i) normal += rng.uniform();
      scores.push_back(landscape(point) * std::exp(noise * normal));
    }
    return scores;
  };
}

double reference_optimum(const Space& space, const Landscape& landscape) {
  Rng rng = Rng(landscape.seed).fork("reference");
  double best = 0;
  for (int start = 0; start < 20; ++start) {
    Point point = space.sample(rng);
    double value = landscape(point);
    for (int left = 300; left > 0; --left) {
      const auto next = space.mutate(point, rng);
      const double moved = next ? landscape(*next) : 0;
      if (moved <= value) continue;
      point = *next;
      value = moved;
      left = 300;
    }
    best = std::max(best, value);
  }
  return best;
}

std::vector<double> tune(Strategy& strategy, const std::function<double(const Point&)>& fitness,
                         const Score& score, std::size_t batch, std::size_t batches, std::uint64_t seed,
                         double failure_below) {
  Rng rng(seed);
  Seen seen;
  double best = 0;
  std::vector<double> curve;
  for (std::size_t round = 0; round < batches; ++round) {
    std::vector<Observed> results;
    for (const Point& point : strategy.propose(batch, seen, round == 0 ? Score() : score, rng)) {
      const double value = fitness(point);
      seen.insert(point);
      if (value >= failure_below) best = std::max(best, value);
      results.push_back({point, value});
      if (value < failure_below) results.back().fitness.reset();
    }
    strategy.observe(results);
    curve.push_back(best);
  }
  return curve;
}

}  // namespace lehr::testing
