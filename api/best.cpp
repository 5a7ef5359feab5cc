#include "api/best.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

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
#include "workload/short_text.h"

namespace lehr::api {
namespace {

using nlohmann::json;

/// Returns, by the positions of winners, the reasons why lehr export leaves them out. Provisional winners are
/// not in the map.
std::map<std::size_t, std::string> lost_of(const std::vector<Winner>& found, const Database& log) {
  std::map<std::size_t, std::string> lost;
  for (const Skipped& skipped : rebuild(found, log).skipped)
    if (!skipped.provisional) lost[skipped.winner] = skipped.reason;
  return lost;
}

/// Returns the baseline's name. If not all of its algorithms were tried, adds how many were.
std::string baseline_of(const Verdict& verdict) {
  if (verdict.baseline.empty()) return "-";
  if (verdict.algorithms_tried == verdict.algorithms) return verdict.baseline;
  return fmt::format("{} ({} of {} algorithms tried)", verdict.baseline, verdict.algorithms_tried,
                     verdict.algorithms);
}

struct Shown {
  const char* name;  ///< column name for format_table()
  std::string (*text)(const Winner& winner);
  const Ratio Verdict::* ratio = nullptr;  ///< the ratio that `text` shows; nullptr if it shows none
};

std::string time_text(const Winner& winner) {
  const char* const mark = !winner.contested ? " *" : winner.verdict.provisional ? " ?" : "";
  return format_time_us(winner.verdict.best) + mark;
}

std::string gflops_text(const Winner& winner) {
  return gflops_of(winner) > 0 ? fmt::format("{:.1f}", gflops_of(winner)) : "-";
}

const std::vector<Shown>& columns_of(bool wide) {
  static const Shown kTime = {"time", &time_text}, kGflops = {"GFLOP/s", &gflops_text},
                     kLibrary = {"<baseline", [](const Winner& w) { return baseline_of(w.verdict); }},
                     kConfig = {"<config", [](const Winner& w) { return to_text(w.record.config); }};
  // The most important columns come first: a narrow terminal has no room for the last ones.
  static const std::vector<Shown> kNarrow = {
      {"<workload", [](const Winner& w) { return short_text(w.record.workload); }},
      kTime,
      {"vs default", [](const Winner& w) { return format_ratio(w.verdict.speedup_vs_default.value); },
       &Verdict::speedup_vs_default},
      {"vs baseline", [](const Winner& w) { return format_ratio(w.verdict.speedup_vs_baseline.value); },
       &Verdict::speedup_vs_baseline},
      kLibrary,
      kGflops,
      kConfig};
  static const std::vector<Shown> kWide = {
      {"<workload", [](const Winner& w) { return w.record.workload; }},
      kTime,
      kGflops,
      {"vs default", [](const Winner& w) { return format_ratio(w.verdict.speedup_vs_default); },
       &Verdict::speedup_vs_default},
      {"vs baseline", [](const Winner& w) { return format_ratio(w.verdict.speedup_vs_baseline); },
       &Verdict::speedup_vs_baseline},
      kLibrary,
      {"trials", [](const Winner& w) { return std::to_string(w.trials); }},
      {"<found by",
       [](const Winner& w) {
         return w.record.picked_by + (w.merged_from.empty() ? "" : ", of " + w.merged_from);
       }},
      {"<when (UTC)", [](const Winner& w) { return format_date(w.record.created_unix_ms); }},
      kConfig};
  return wide ? kWide : kNarrow;
}

/// Returns green if the winner is proven to be faster than the kernel or library that the column compares it
/// with, red if it is proven to be slower, and "" in all other cases.
std::string_view paint_of(const Winner& winner, const Shown& column) {
  if (!column.ratio) return "";
  const bool proven = winner.contested && !winner.verdict.provisional;
  const std::string_view word = word_of(winner.verdict.*column.ratio, proven);
  return word == "faster" ? kGreen : word == "slower" ? kRed : "";
}

std::size_t width_of(const BestLook& look) {
  return look.wide || look.format == BestLook::kMarkdown ? 0 : look.width;
}

std::string table_of(const std::vector<Winner>& found, const BestLook& look) {
  const std::vector<Shown>& columns = columns_of(look.wide);
  std::vector<std::string> header;
  for (const Shown& column : columns) header.emplace_back(column.name);
  std::vector<std::vector<std::string>> rows;
  for (const Winner& winner : found)
    for (std::vector<std::string>& row = rows.emplace_back(); const Shown& column : columns)
      row.push_back(column.text(winner));
  if (look.format == BestLook::kMarkdown) return markdown_table(header, rows);
  TableLook table = {.width = width_of(look)};
  if (look.colour)
    table.paint = [&](std::size_t row, std::size_t column) { return paint_of(found[row], columns[column]); };
  return format_table(header, rows, table);
}

/// Returns the device's identity, shortened to `width`. The end "cold caches" is kept, since it alone
/// distinguishes the two tables of a device.
std::string heading_of(const std::string& device, std::size_t width) {
  constexpr std::string_view kCold = " | cold caches";
  if (width <= kCold.size() || !device.ends_with(kCold)) return cut_to(device, width);
  return cut_to(device.substr(0, device.size() - kCold.size()), width - kCold.size()).append(kCold);
}

/// Returns a table for each device.
std::string tables_of(const std::vector<Winner>& found, const BestLook& look) {
  std::map<std::string, std::vector<Winner>> by_device;
  for (const Winner& winner : found) by_device[winner.record.device].push_back(winner);
  std::string text;
  for (const auto& [device, winners] : by_device) {
    const char* const around = look.format == BestLook::kMarkdown ? "**" : "";
    const char* const behind = look.format == BestLook::kMarkdown ? "\n\n" : "\n";
    text += fmt::format("{0}{1}{0}{2}{3}\n", around, heading_of(printable(device), width_of(look)), behind,
                        table_of(winners, look));
  }
  return text;
}

std::string text_of(const std::vector<Winner>& found, const std::map<std::size_t, std::string>& lost,
                    const BestLook& look) {
  std::string text = tables_of(found, look);
  for (const Winner& winner : found)
    if (winner.rows)
      text += fmt::format(
          "{}\n{}\n",
          printable(width_of(look) > 0 ? short_text(winner.record.workload) : winner.record.workload),
          set_text(*winner.rows, width_of(look)));
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

/// Returns CSV as in RFC 4180, but with line feeds as line ends. A null becomes an empty field.
std::string csv_of(const json& documents) {
  // Names of columns, with their pointers into the document of --json.
  constexpr std::pair<const char*, const char*> kColumns[] = {
      {"workload", "/workload"},
      {"device", "/device"},
      {"target", "/target"},
      {"arch", "/arch"},
      {"time_us", "/time_us"},
      {"time_us_low", "/time_us_interval/0"},
      {"time_us_high", "/time_us_interval/1"},
      {"gflops", "/gflops"},
      {"speedup_vs_default", "/speedup_vs_default"},
      {"speedup_vs_default_low", "/speedup_vs_default_interval/0"},
      {"speedup_vs_default_high", "/speedup_vs_default_interval/1"},
      {"baseline", "/baseline"},
      {"baseline_us", "/baseline_us"},
      {"speedup_vs_baseline", "/speedup_vs_baseline"},
      {"speedup_vs_baseline_low", "/speedup_vs_baseline_interval/0"},
      {"speedup_vs_baseline_high", "/speedup_vs_baseline_interval/1"},
      {"trials", "/trials"},
      {"contested", "/contested"},
      {"provisional", "/provisional"},
      {"picked_by", "/picked_by"},
      {"merged_from", "/merged_from"},
      {"created_unix_ms", "/created_unix_ms"},
      {"config", "/config"}};
  std::string text;
  for (const auto& [name, match] : kColumns) text += fmt::format("{}{}", text.empty() ? "" : ",", name);
  for (const json& document : documents)
    for (const char* before = "\n"; const auto& [name, match] : kColumns) {
      const json value = document.value(json::json_pointer(match), json());
      text += std::exchange(before, ",");
      text += value.is_string() ? csv_quoted(printable(value.get<std::string>()))
              : value.is_null() ? ""
                                : value.dump();
    }
  return text + '\n';
}

/// Sorts the winners by this key of --sort. Equal winners stay in the order of workload and device.
void sort_by(std::vector<Winner>& found, const std::string& key) {
  const auto rank = [&](const Winner& winner) -> double {
    if (key == "time") return winner.verdict.best.us;
    if (key == "speedup") return -winner.verdict.speedup_vs_default.value;
    if (key == "baseline") return -winner.verdict.speedup_vs_baseline.value;
    if (key == "trials") return -static_cast<double>(winner.trials);
    if (key == "newest") return -static_cast<double>(winner.record.created_unix_ms);
    return 0;
  };
  std::ranges::stable_sort(found, {}, rank);
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

Listing list_best(const BestOptions& options, const BestLook& look) {
  check(options);
  const RecordFilter filter = filter_of(options);
  const Database log = Database::open_read_only(options.log);
  std::vector<Winner> found = winners(log, filter);
  if (found.empty())
    throw_not_found("{} holds no timed trial that matches; lehr tune gemm --db {} fills it", options.log,
                    options.log);
  sort_by(found, options.sort);
  if (options.limit > 0 && options.limit < std::ssize(found))
    found.erase(found.begin() + options.limit, found.end());
  const std::map<std::size_t, std::string> lost = lost_of(found, log);
  json document = json::array();
  for (std::size_t i = 0; i < found.size(); ++i) {
    document.push_back(report_of(found[i]));
    document.back()["lost"] = lost.contains(i) ? json(lost.at(i)) : json(nullptr);
  }
  return {look.format == BestLook::kCsv ? csv_of(document) : text_of(found, lost, look), dumped(document)};
}

}  // namespace lehr::api
