#include "apply/costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

namespace lehr {
namespace {

/// Checks of dimensions whose sizes change together.
using Together = std::vector<SizeCheck>;

/// Groups the checks by their names. The last group has the first dimensions of all inputs, since a batch may
/// have no name.
std::vector<Together> dimensions_of(std::span<const SizeCheck> checks) {
  std::vector<Together> groups;
  Together first;
  for (const SizeCheck& check : checks) {
    if (check.axis == 0) first.push_back(check);
    const auto same = std::ranges::find_if(
        groups, [&](const Together& group) { return !check.name.empty() && group[0].name == check.name; });
    (same == groups.end() ? groups.emplace_back() : *same).push_back(check);
  }
  if (first.size() > 1) groups.push_back(std::move(first));
  return groups;
}

/// Returns the shapes of all inputs, with the dimensions in `changed` set to `size`.
std::map<std::string, std::vector<std::int64_t>> inputs_with(const Network& network, const Together& changed,
                                                             std::int64_t size) {
  std::map<std::string, std::vector<std::int64_t>> inputs;
  for (const OnnxValueInfo& input : network.model.inputs) {
    const ValueFacts& facts = network.shapes.of(input.name);
    if (!facts.shape || facts.constant != nullptr) continue;
    std::vector<std::int64_t>& sizes = inputs[std::string(input.name)];
    for (const Dim& dim : *facts.shape) sizes.push_back(dim.value_or(1));
    for (const SizeCheck& check : changed)
      if (check.input == input.name) sizes[check.axis] = size;
  }
  return inputs;
}

}  // namespace

SessionCost session_cost(const Network& network, const onnxruntime::ModelFile& file,
                         const EngineCheck& check) {
  const onnxruntime::TrialReport report = try_alone(network, file, check);
  if (report.models.empty() || !report.models[0].failure.empty()) return {};
  return {report.models[0].creation_us, report.models[0].memory_bytes};
}

std::string wrong_at_least(const Network& network, const onnxruntime::ModelFile& file,
                           std::span<const SizeCheck> checks, const EngineCheck& check) {
  Together ranges;
  for (const SizeCheck& each : checks)
    if (each.least < each.most) ranges.push_back(each);
  if (ranges.empty()) return "";
  EngineCheck least = check;
  least.fed.clear();  // inputs from a file have the largest sizes, not the least
  least.bindings = {{}, inputs_with(network, ranges, ranges[0].least)};
  const EngineVerdict verdict = verdict_of(try_networks(network, {file}, least, 0, true));
  if (verdict.proof != Proof::kWrong) return "";
  for (SizeCheck& each : ranges) each.most = each.least;
  return fmt::format("at {} {}", sizes_text(ranges), verdict.failure);
}

std::optional<OtherSizes> try_other_sizes(const Network& network, const onnxruntime::ModelFile& file,
                                          std::span<const SizeCheck> checks, const EngineCheck& check,
                                          double seconds, std::string& wrong) {
  EngineCheck other = check;
  other.fed.clear();  // inputs from a file have the stated sizes, not the other ones
  const std::vector<Together> dimensions = dimensions_of(checks);
  const std::function<std::int64_t(std::int64_t)> ways[] = {[](std::int64_t most) { return most + 1; },
                                                            [](std::int64_t most) { return 2 * most; }};
  const auto at = [&](const Together& changed, std::int64_t size) -> std::optional<OtherSizes> {
    other.bindings = {{}, inputs_with(network, changed, size)};
    const EngineVerdict verdict = verdict_of(try_networks(network, {file}, other, seconds, false));
    if (verdict.proof == Proof::kNone || verdict.proof == Proof::kOpen) return std::nullopt;
    SizeCheck reported = changed[0];
    reported.least = reported.most = size;
    const std::string sizes = sizes_text({&reported, 1});
    if (verdict.proof == Proof::kWrong) wrong = fmt::format("at {} {}", sizes, verdict.failure);
    return OtherSizes{sizes, verdict.original_us, verdict.rewritten_us, verdict.speedup};
  };
  for (const auto& larger : ways)
    for (const Together& changed : dimensions)
      if (auto found = at(changed, larger(changed[0].most))) return found;
  // The original may fail at larger sizes, since a sequence can be at most as long as the network's table of
  // positions.
  for (const Together& changed : dimensions)
    if (changed[0].least > 1)
      if (auto found = at(changed, changed[0].least - 1)) return found;
  return std::nullopt;
}

}  // namespace lehr
