// Draws, emits, measures, counts.
#include "tune/spot_check.h"

#include <algorithm>

#include "measure/core/check.h"

namespace lehr {
namespace {

/// Thrown to leave a batch of the measurer between two candidates.
struct Interrupted {};

/// Draws the default of the family at position `family`, then distinct samples. Returns fewer than `count`
/// points if the family has no more.
std::vector<Point> draw(const Candidates& candidates, std::size_t family, int count, Rng& rng) {
  constexpr int kDrawsPerConfig = 20;
  std::vector<Point> points;
  for (const Point& point : candidates.defaults)
    if (point.family == family) points.push_back(point);
  for (int i = 0; i < count * kDrawsPerConfig && points.size() < static_cast<std::size_t>(count); ++i) {
    std::optional<Point> point = candidates.space.families()[family].sample(rng);
    if (!point) break;
    point->family = static_cast<std::uint16_t>(family);
    if (std::ranges::find(points, *point) == points.end()) points.push_back(*point);
  }
  return points;
}

void count(FamilyCheck& check, const Config& config, const Outcome& outcome, double tolerance) {
  ++check.sampled;
  if (const auto* timing = std::get_if<Timing>(&outcome)) {
    ++check.right;
    if (tolerance > 0)
      check.error_of_tolerance = std::max(check.error_of_tolerance, timing->max_error / tolerance);
    return;
  }
  const Failure& failure = std::get<Failure>(outcome);
  if (failure.kind == FailureKind::kRejected)
    ++check.rejected;
  else
    check.failures.push_back({config, failure});
}

}  // namespace

std::vector<FamilyCheck> spot_check(const Task& task, const Candidates& candidates, const OpenDevice& device,
                                    const SpotCheckOptions& options) {
  Measurer& measurer = *device.measurer;
  Problem problem = task.problem;
  problem.seed = options.seed;
  problem.kind->set_tolerances(problem);
  const double tolerance = problem.arguments[outputs_of(problem)[0]].absolute;
  measurer.prepare(problem, std::nullopt, plain_source(task));
  Rng rng(options.seed);
  std::vector<FamilyCheck> checks;
  for (std::size_t family = 0; family < candidates.space.families().size(); ++family) {
    FamilyCheck& check = checks.emplace_back();
    check.workload = task.problem.text;
    check.family = candidates.space.families()[family].family();
    std::vector<Config> configs;
    std::vector<Source> sources;
    for (const Point& point : draw(candidates, family, options.samples, rng)) {
      const Config config = candidates.space.config_of(point);
      std::variant<Source, Failure> source = try_emit(candidates, point);
      if (const auto* failure = std::get_if<Failure>(&source)) {
        count(check, config, *failure, tolerance);
        continue;
      }
      configs.push_back(config);
      sources.push_back(std::get<Source>(std::move(source)));
    }
    try {
      measurer.measure(sources, [&](std::size_t i, const Outcome& outcome) {
        const auto* cut_off = std::get_if<Failure>(&outcome);
        if (device.stopped() && cut_off != nullptr && cut_off->kind == FailureKind::kInterrupted)
          throw Interrupted();
        count(check, configs[i], outcome, tolerance);
        if (device.stopped()) throw Interrupted();
      });
    } catch (const Interrupted&) {
      break;
    }
    check.checked_by = measurer.checked_by();
    if (device.stopped()) break;
  }
  return checks;
}

}  // namespace lehr
