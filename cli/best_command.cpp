// The winners' table.
#include "cli/best_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "api/tune_report.h"
#include "base/describe_json.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/help.h"
#include "cli/standard_streams.h"
#include "deploy/kernel_json.h"
#include "deploy/rebuild.h"
#include "deploy/winners.h"
#include "measure/core/format.h"
#include "tune/summary.h"

namespace lehr {
namespace {

using nlohmann::json;

/// 0 for a workload that this version cannot read.
double gflops(const Winner& winner) {
  try {
    return gflops_of(flops_of(parse_workload(winner.record.workload)), winner.verdict.best.us);
  } catch (const Error&) {
    return 0;
  }
}

/// Explains, by a winner's position, why lehr export leaves it out. Winners that are only provisional are not
/// among them.
std::map<std::size_t, std::string> lost_of(const std::vector<Winner>& found, const Database& log) {
  std::map<std::size_t, std::string> lost;
  for (const Skipped& skipped : rebuild(found, log).skipped)
    if (!skipped.provisional) lost[skipped.winner] = skipped.reason;
  return lost;
}

json json_of(const Winner& winner, const std::string& lost) {
  const Record& record = winner.record;
  const Verdict& verdict = winner.verdict;
  json document = to_json(winner);
  document.update({{"gflops", known_or_null(gflops(winner))},
                   {"speedup_vs_default", known_or_null(verdict.speedup_vs_default.value)},
                   {"speedup_vs_default_interval", verdict.speedup_vs_default.interval},
                   {"baseline", known_or_null(verdict.baseline)},
                   {"baseline_us", known_or_null(verdict.baseline_us)},
                   {"ways_tried", known_or_null(verdict.ways_tried)},
                   {"ways", known_or_null(verdict.ways)},
                   {"provisional", verdict.provisional},
                   {"speedup_vs_baseline", known_or_null(verdict.speedup_vs_baseline.value)},
                   {"speedup_vs_baseline_interval", verdict.speedup_vs_baseline.interval},
                   {"trials", winner.trials},
                   {"picked_by", record.picked_by},
                   {"created_unix_ms", record.created_unix_ms},
                   {"session", record.session},
                   {"lost", known_or_null(lost)},
                   {"set", winner.rows}});
  return document;
}

/// With the ways that it has not tried.
std::string baseline_of(const Verdict& verdict) {
  if (verdict.baseline.empty()) return "-";
  if (verdict.ways_tried == verdict.ways) return verdict.baseline;
  return fmt::format("{} ({} of {} ways tried)", verdict.baseline, verdict.ways_tried, verdict.ways);
}

}  // namespace

BestCommand::BestCommand(CLI::App& root, const Environment& environment) : database_(environment.database) {
  CLI::App* command =
      root.add_subcommand("best", "Show the fastest known kernel of each workload and how it was found");
  filter_.add_to(*command);
  value_flag(*command, kOutputGroup, "--db", database_, "the trial log (./lehr.db, or LEHR_DB)");
  switch_flag(*command, kOutputGroup, "--json", json_, "one JSON array on stdout");
  command->footer(examples({{"filters", "lehr best --family gemm_cpu --workload \"gemm m=512 n=512 k=512\""},
                            {"output", "lehr best --db llama.db --json"}}));
}

int BestCommand::run() {
  const RecordFilter filter = filter_.filter();
  const Database log = Database::open_read_only(database_);
  const std::vector<Winner> found = winners(log, filter);
  if (found.empty())
    throw_not_found("{} holds no timed trial that matches; lehr tune gemm --db {} fills it", database_,
                    database_);
  const std::map<std::size_t, std::string> lost = lost_of(found, log);
  if (json_) {
    json document = json::array();
    for (std::size_t i = 0; i < found.size(); ++i)
      document.push_back(json_of(found[i], lost.contains(i) ? lost.at(i) : ""));
    print_json(document);
    return 0;
  }
  std::vector<std::vector<std::string>> rows;
  std::string device;
  const auto flush = [&] {
    if (rows.empty()) return;
    fmt::print("{}\n{}\n", printable(device),
               format_table({"<workload", "time", "GFLOP/s", "vs default", "vs baseline", "<baseline",
                             "trials", "<found by", "<when (UTC)", "<config"},
                            rows));
    rows.clear();
  };
  std::vector<const Winner*> by_device;
  for (const Winner& winner : found) by_device.push_back(&winner);
  std::ranges::stable_sort(by_device, {}, [](const Winner* winner) { return winner->record.device; });
  for (const Winner* winner : by_device) {
    const Record& record = winner->record;
    const Verdict& verdict = winner->verdict;
    if (record.device != device) flush();
    device = record.device;
    rows.push_back({record.workload,
                    format_time_us(verdict.best) + (!winner->contested    ? " *"
                                                    : verdict.provisional ? " ?"
                                                                          : ""),
                    gflops(*winner) > 0 ? fmt::format("{:.1f}", gflops(*winner)) : "-",
                    format_ratio(verdict.speedup_vs_default), format_ratio(verdict.speedup_vs_baseline),
                    baseline_of(verdict), std::to_string(winner->trials),
                    record.picked_by + (winner->merged_from.empty() ? "" : ", of " + winner->merged_from),
                    format_date(record.created_unix_ms), to_text(record.config)});
  }
  flush();
  for (const Winner& winner : found)
    if (winner.rows) fmt::print("{}\n{}\n", printable(winner.record.workload), set_text(*winner.rows));
  for (const Winner& winner : found)
    if (!winner.verdict.deterministic.value_or(true))
      fmt::print("not deterministic, other bits in a second run on the same input: {}\n",
                 printable(winner.record.workload));
  for (const auto& [winner, reason] : lost) fmt::print("lehr export: {}\n", printable(reason));
  fmt::print("+-: half the width of the 95 % interval\n");
  if (std::ranges::any_of(found, [](const Winner& winner) { return !winner.contested; }))
    fmt::print("* a single trial, not re-timed here against the default: lehr tune the workload again\n");
  if (std::ranges::any_of(found, [](const Winner& winner) { return winner.verdict.provisional; }))
    fmt::print(
        "? provisional: there was no time to prove it; lehr export does, or tune the workload again\n");
  return 0;
}

}  // namespace lehr
