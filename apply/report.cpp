#include "apply/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/describe_json.h"
#include "base/text.h"
#include "measure/core/format.h"

namespace lehr {
namespace {

/// Least share that is reported with its operator's name. Smaller shares are reported as one sum.
constexpr double kLeastNamed = 0.01;

std::string not_covered_text(const std::vector<OperatorShare>& operators) {
  std::vector<std::string> named;
  double others = 0;
  for (const OperatorShare& each : operators)
    if (each.share >= kLeastNamed)
      named.push_back(fmt::format("{} {:.1f} %", printable(each.name), 100 * each.share));
    else
      others += each.share;
  if (others > 0) named.push_back(fmt::format("others {:.1f} %", 100 * others));
  return fmt::format("{}", fmt::join(named, ", "));
}

std::string session_text(const Applied& applied) {
  const auto megabytes = [](const SessionCost& cost) { return static_cast<double>(cost.memory_bytes) / 1e6; };
  return fmt::format(
      "session: made in {} (the original's in {}), {:.0f} MB with the first inference ({:.0f} MB)\n",
      format_time_us(applied.session.creation_us), format_time_us(applied.original_session.creation_us),
      megabytes(applied.session), megabytes(applied.original_session));
}

std::string engine_text(const Applied& applied) {
  const EngineVerdict& verdict = applied.verdict;
  if (verdict.proof != Proof::kRight) return fmt::format("not verified: {}\n", printable(verdict.failure));
  std::string text = fmt::format("ONNX Runtime {}: {}\n", verdict.engine, agreement_text(verdict));
  if (applied.narrow > 0) text += outputs_text(verdict);
  if (applied.tolerance > 0)
    text += fmt::format("what is in bf16 was held to {:.2g} of their ranges\n", applied.tolerance);
  if (verdict.speedup.value > 0 && applied.replaced > 0) text += speedup_text(verdict) + "\n";
  if (applied.other_sizes)
    text += fmt::format(
        "at {}, by the original's nodes: original {}, rewritten {}: {}\n",
        printable(applied.other_sizes->sizes), format_time_us(applied.other_sizes->original_us),
        format_time_us(applied.other_sizes->rewritten_us), format_ratio(applied.other_sizes->speedup));
  if (applied.session.creation_us > 0) text += session_text(applied);
  if (applied.without_saving_us > 0)
    text += fmt::format("without Winograd's kernels, which do fewer products and round more: {}\n",
                        format_time_us(applied.without_saving_us));
  return text;
}

}  // namespace

std::string agreement_text(const EngineVerdict& verdict) {
  std::string text = fmt::format("{} within {:.1g} of their ranges",
                                 verdict.uncompared.empty() ? "outputs" : "the other outputs", verdict.worst);
  if (verdict.matches.compared > 0)
    text += fmt::format(", {} kernels' own outputs within {:.1g}", verdict.matches.compared,
                        verdict.matches.worst);
  if (verdict.own > 0) text += fmt::format("; the original itself differs by {:.1g}", verdict.own);
  for (const std::string& each : verdict.uncompared) text += "\nnot compared: output " + printable(each);
  for (const std::string& each : verdict.notes) text += "\n" + printable(each);
  return text;
}

std::string outputs_text(const EngineVerdict& verdict) {
  std::string text;
  for (const onnxruntime::OutputAgreement& each : verdict.outputs) {
    text += fmt::format("output '{}': within {:.2g} of its range", printable(each.name), each.worst);
    if (each.rows > 0)
      text += fmt::format(", the same class first in {} of {} rows", each.same_class, each.rows);
    text += "\n";
  }
  return text;
}

std::string speedup_text(const EngineVerdict& verdict) {
  return fmt::format("original {}, rewritten {}: {}", format_time_us(verdict.original_us),
                     format_time_us(verdict.rewritten_us), format_ratio(verdict.speedup));
}

std::string coverage_text(const Applied& applied) {
  if (applied.covered_share) {
    std::string text =
        fmt::format("kernels cover {:.1f} % of the original's time", 100 * *applied.covered_share);
    if (!applied.not_covered.empty()) text += "; not covered: " + not_covered_text(applied.not_covered);
    return text;
  }
  std::vector<std::string> named;
  for (const auto& [name, nodes] : applied.not_counted)
    named.push_back(fmt::format("{} x {}", nodes, printable(name)));
  return named.empty() ? "" : fmt::format("not counted: {}", fmt::join(named, ", "));
}

std::string layers_text(const std::vector<Layer>& layers) {
  constexpr std::size_t kMostRows = 10, kMostCharacters = 40;
  if (layers.empty()) return "";
  std::vector<Layer> sorted = layers;
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &Layer::before_us);
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](std::string name, const Layer& layer) {
    if (name.size() > kMostCharacters) name = "..." + name.substr(name.size() - kMostCharacters + 3);
    const bool both = layer.before_us > 0 && layer.after_us > 0;
    rows.push_back({std::move(name), layer.op, format_time_us(layer.before_us),
                    format_time_us(layer.after_us), format_ratio(both ? layer.before_us / layer.after_us : 0),
                    layer.kernel ? "kernel" : ""});
  };
  Layer others;
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (i < kMostRows || sorted.size() == kMostRows + 1)
      add(sorted[i].node.empty() ? "(the engine's)" : sorted[i].node, sorted[i]);
    else {
      others.before_us += sorted[i].before_us;
      others.after_us += sorted[i].after_us;
    }
  if (sorted.size() > rows.size()) add(fmt::format("{} others", sorted.size() - rows.size()), others);
  return format_table({"<layer", "<", "before", "after", "", "<"}, rows);
}

std::string report_text(const Applied& applied) {
  std::string text = fmt::format(
      "{} of {} convolutions and products by kernels{}{}{}: {} expected\n", applied.replaced, applied.matches,
      applied.narrow > 0 ? fmt::format(", {} of them in bf16", applied.narrow) : "",
      applied.channels_last > 0 ? fmt::format(", {} with channels last", applied.channels_last) : "",
      applied.covered_share
          ? ""
          : fmt::format(", {:.1f} % of the operations that are counted", 100 * applied.share_of_flops),
      format_time_us(applied.expected_us));
  if (!applied.sizes.empty())
    text += fmt::format("the kernels are for {}; other sizes are computed by the original's nodes\n",
                        printable(applied.sizes));
  if (applied.prepacked_bytes > 0)
    text += fmt::format("{:.1f} MB of prepacked weights beside the model's own\n",
                        static_cast<double>(applied.prepacked_bytes) / 1e6);
  for (const auto& [reason, count] : applied.reasons)
    text += fmt::format("left to the engine: {} x {}\n", count, printable(reason));
  if (const std::size_t removed = applied.with_kernels - applied.replaced; removed > 0)
    text +=
        fmt::format("left to the engine: {} x the model is faster so, though there is a kernel\n", removed);
  if (applied.with_kernels > 0) text += engine_text(applied);
  if (const std::string coverage = coverage_text(applied); !coverage.empty()) text += coverage + "\n";
  if (applied.replaced > 0) text += layers_text(applied.layers);
  if (applied.replaced == 0) text += "nothing gains: the model is written as it was\n";
  return text;
}

nlohmann::json to_json(const Applied& applied) {
  return applied;
}

}  // namespace lehr
