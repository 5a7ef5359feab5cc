#include "api/best.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/sessions.h"
#include "api/tune_report.h"
#include "base/args.h"
#include "base/describe_json.h"
#include "base/error.h"
#include "base/target.h"
#include "base/text.h"
#include "deploy/kernel_json.h"
#include "deploy/rebuild.h"
#include "deploy/winners.h"
#include "measure/core/format.h"
#include "templates/catalog.h"
#include "tune/summary.h"

namespace lehr::api {
namespace {

using nlohmann::json;

/// Explains, by a winner's position, why lehr export leaves it out. Winners that are only provisional are not
/// among them.
std::map<std::size_t, std::string> lost_of(const std::vector<Winner>& found, const Database& log) {
  std::map<std::size_t, std::string> lost;
  for (const Skipped& skipped : rebuild(found, log).skipped)
    if (!skipped.provisional) lost[skipped.winner] = skipped.reason;
  return lost;
}

/// With the algorithms that it has not tried.
std::string baseline_of(const Verdict& verdict) {
  if (verdict.baseline.empty()) return "-";
  if (verdict.algorithms_tried == verdict.algorithms) return verdict.baseline;
  return fmt::format("{} ({} of {} algorithms tried)", verdict.baseline, verdict.algorithms_tried,
                     verdict.algorithms);
}

std::vector<std::string> row_of(const Winner& winner) {
  const Record& record = winner.record;
  const Verdict& verdict = winner.verdict;
  const char* const mark = !winner.contested ? " *" : verdict.provisional ? " ?" : "";
  return {record.workload,
          format_time_us(verdict.best) + mark,
          gflops_of(winner) > 0 ? fmt::format("{:.1f}", gflops_of(winner)) : "-",
          format_ratio(verdict.speedup_vs_default),
          format_ratio(verdict.speedup_vs_baseline),
          baseline_of(verdict),
          std::to_string(winner.trials),
          record.picked_by + (winner.merged_from.empty() ? "" : ", of " + winner.merged_from),
          format_date(record.created_unix_ms),
          to_text(record.config)};
}

/// A table for each device.
std::string tables_of(const std::vector<Winner>& found) {
  std::map<std::string, std::vector<std::vector<std::string>>> by_device;
  for (const Winner& winner : found) by_device[winner.record.device].push_back(row_of(winner));
  std::string text;
  for (const auto& [device, rows] : by_device)
    text += fmt::format("{}\n{}\n", printable(device),
                        format_table({"<workload", "time", "GFLOP/s", "vs default", "vs baseline",
                                      "<baseline", "trials", "<found by", "<when (UTC)", "<config"},
                                     rows));
  return text;
}

std::string text_of(const std::vector<Winner>& found, const std::map<std::size_t, std::string>& lost) {
  std::string text = tables_of(found);
  for (const Winner& winner : found)
    if (winner.rows)
      text += fmt::format("{}\n{}\n", printable(winner.record.workload), set_text(*winner.rows));
  for (const Winner& winner : found)
    if (!winner.verdict.deterministic.value_or(true))
      text += fmt::format("not deterministic, other bits in a second run on the same input: {}\n",
                          printable(winner.record.workload));
  for (const auto& [winner, reason] : lost) text += fmt::format("lehr export: {}\n", printable(reason));
  text += "+-: half the width of the 95 % interval\n";
  if (std::ranges::any_of(found, [](const Winner& winner) { return !winner.contested; }))
    text += "* a single trial, not re-timed here against the default: lehr tune the workload again\n";
  if (std::ranges::any_of(found, [](const Winner& winner) { return winner.verdict.provisional; }))
    text += "? provisional: there was no time to prove it; lehr export does, or tune the workload again\n";
  return text;
}

}  // namespace

RecordFilter checked(RecordFilter filter) {
  try {
    if (!filter.workload.empty()) filter.workload = to_text(parse_workload(filter.workload));
  } catch (const lehr::Error& error) {
    throw_user("--workload: {}", error.what());
  }
  if (!filter.target.empty()) parse_choice("--target", filter.target, target_names());
  if (filter.family.empty()) return filter;
  std::vector<std::string> families;
  for (const Template& entry : catalog()) families.push_back(entry.name);
  parse_choice("--family", filter.family, families);
  return filter;
}

Listing list_best(const BestOptions& options) {
  const RecordFilter filter = filter_of(options);
  const Database log = Database::open_read_only(options.log);
  const std::vector<Winner> found = winners(log, filter);
  if (found.empty())
    throw_not_found("{} holds no timed trial that matches; lehr tune gemm --db {} fills it", options.log,
                    options.log);
  const std::map<std::size_t, std::string> lost = lost_of(found, log);
  json document = json::array();
  for (std::size_t i = 0; i < found.size(); ++i) {
    document.push_back(told_of(found[i]));
    document.back()["lost"] = lost.contains(i) ? json(lost.at(i)) : json(nullptr);
  }
  return {text_of(found, lost), dumped(document)};
}

}  // namespace lehr::api
