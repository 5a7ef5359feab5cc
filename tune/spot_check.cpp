// Draws, emits, measures, counts.
#include "tune/spot_check.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "measure/core/check.h"
#include "workload/reference.h"

namespace lehr {
namespace {

/// Of a failure's text in the document: the sentence and the first lines of a compile log.
constexpr std::size_t kMostText = 2000;

/// Leaves a batch of the measurer between two candidates.
struct Interrupted {};

/// The family's default first, then distinct samples. Fewer than `count` when it has no more.
std::vector<Config> draw(const FamilySpace& family, const std::vector<Config>& defaults, int count,
                         Rng& rng) {
  constexpr int kDrawsPerConfig = 20;
  std::vector<Config> configs;
  for (const Config& config : defaults)
    if (config.family == family.family()) configs.push_back(config);
  for (int i = 0; i < count * kDrawsPerConfig && configs.size() < static_cast<std::size_t>(count); ++i) {
    const std::optional<Point> point = family.sample(rng);
    if (!point) break;
    Config config = family.config_of(*point);
    if (std::ranges::find(configs, config) == configs.end()) configs.push_back(std::move(config));
  }
  return configs;
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

std::vector<FamilyCheck> spot_check(const Task& task, const Candidates& candidates, Measurer& measurer,
                                    const SpotCheckOptions& options, const std::atomic<bool>& interrupted) {
  const Problem problem = asked_problem(task.workload, options.seed);
  const double tolerance = tolerance_for(task.workload, problem.tensors[output_of(problem)].elements);
  measurer.prepare(problem, std::nullopt, plain_source(task.workload, task.device.limits));
  Rng rng(options.seed);
  std::vector<FamilyCheck> checks;
  for (const FamilySpace& family : candidates.space.families()) {
    FamilyCheck& check = checks.emplace_back();
    check.family = family.family();
    std::vector<Config> configs;
    std::vector<Source> sources;
    for (const Config& config : draw(family, candidates.defaults, options.samples, rng)) {
      std::variant<Source, Failure> source = try_emit(candidates, config);
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
        if (interrupted && cut_off != nullptr && cut_off->kind == FailureKind::kInterrupted)
          throw Interrupted();
        count(check, configs[i], outcome, tolerance);
        if (interrupted) throw Interrupted();
      });
    } catch (const Interrupted&) {
      break;
    }
    check.checked_by = measurer.checked_by();
    if (interrupted) break;
  }
  return checks;
}

nlohmann::json to_json(const std::string& workload, const std::vector<FamilyCheck>& checks) {
  nlohmann::json result = nlohmann::json::array();
  for (const FamilyCheck& check : checks) {
    nlohmann::json failures = nlohmann::json::array();
    for (const CheckFailure& one : check.failures)
      failures.push_back({{"config", to_text(one.config)},
                          {"kind", std::string(name_of(one.failure.kind))},
                          {"text", one.failure.text.substr(0, kMostText)}});
    result.push_back({{"workload", workload},
                      {"family", check.family},
                      {"sampled", check.sampled},
                      {"right", check.right},
                      {"rejected", check.rejected},
                      {"checked_by", check.checked_by},
                      {"error_of_tolerance", check.error_of_tolerance},
                      {"failures", failures}});
  }
  return result;
}

}  // namespace lehr
