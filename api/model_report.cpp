#include "api/model_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/progress.h"
#include "base/describe_json.h"
#include "base/error.h"
#include "base/text.h"
#include "measure/core/format.h"
#include "network/layouts.h"
#include "tune/documents.h"
#include "workload/short_text.h"

namespace lehr {

std::string knowledge_text(const std::vector<SharedTask>& tasks) {
  const auto count = [&](Knowledge knowledge) {
    return std::ranges::count(tasks, knowledge, &SharedTask::knowledge);
  };
  return fmt::format("{} of {} workloads known from the log, {} near, {} new", count(Knowledge::kKnown),
                     tasks.size(), count(Knowledge::kNear), count(Knowledge::kNew));
}

namespace {

bool is_provisional(const SharedResult& result) {
  return result.summary && result.summary->verdict.provisional;
}

std::string results_table(const std::vector<SharedResult>& results) {
  const double all_us = totals_of(results).best_us;
  std::vector<std::vector<std::string>> rows;
  for (const SharedResult& each : results)
    rows.push_back({fmt::format("{:.0f}", each.occurrences),
                    all_us > 0 ? fmt::format("{:.1f} %", 100 * each.uses * each.best_us / all_us) : "-",
                    format_time_us(each.default_us),
                    format_time_us(each.best_us) + (is_provisional(each) ? " ?" : ""),
                    format_ratio(each.best_us > 0 ? each.default_us / each.best_us : 0),
                    format_ratio(each.best_us > 0 ? each.baseline_us / each.best_us : 0),
                    each.baseline.empty() ? "-" : each.baseline, std::to_string(measured_of(each)),
                    std::string(name_of(each.knowledge)), short_text(each.workload)});
  return format_table({"places", "share", "default", "best", "vs default", "vs baseline", "<baseline",
                       "trials", "<log", "<workload"},
                      rows);
}

/// Returns for how many matches a kernel in bf16 or with channels last is expected to be faster; "" if no
/// such workload was tuned.
std::string forms_text(const std::vector<SharedResult>& results) {
  double matches = 0, narrow = 0, last = 0, plain_us = 0;
  bool any = false;
  for (const SharedResult& each : results) {
    any = any || each.instead_of;
    if (!each.instead_of) {
      matches += each.occurrences;
      plain_us += each.occurrences * each.best_us;
    }
    if (each.instead_of && tensors_of(each.workload)[0].type == DType::kBF16) narrow += each.uses;
    if (has_channels_last(each.workload)) last += each.uses;
  }
  if (!any) return "";
  return fmt::format(
      "of {:.0f} are faster in bf16: {:.0f}; with channels last: {:.0f}; {} with all as they are", matches,
      narrow, last, format_time_us(plain_us));
}

/// Returns a line about a workload for which no kernel ran, with the first failure if there was one.
std::string missing_text(const SharedResult& result) {
  const std::string workload = to_text(result.workload);
  if (result.range) return fmt::format("'{}': {}", workload, result.range->missing);
  if (!result.summary) return fmt::format("'{}': no time was left for it", workload);
  return fmt::format("'{}': none of {} candidates ran ({})", workload, result.summary->measured,
                     result.summary->first_failure);
}

}  // namespace

std::string report_text(const std::string& flags, const std::vector<SharedResult>& results,
                        const Device& device, const std::string& database) {
  std::string out = fmt::format("\nmodel     {}\ndevice    {} ({}, {} {}), {} caches\n\n", flags, device.name,
                                device.limits.arch, device.limits.cores, device.limits.target->core_word,
                                device.cold ? "cold" : "usual");
  out += results_table(results) + "\n";
  const auto line = [&](const char* name, const std::string& text) {
    if (!text.empty()) out += fmt::format("{:<9} {}\n", name, text);
  };
  const SharedTotals totals = totals_of(results);
  double matches = 0;
  int trials = 0, timed = 0, disturbed = 0;
  for (const SharedResult& each : results) {
    if (!each.instead_of) matches += each.occurrences;
    trials += measured_of(each);
    if (each.summary) {
      timed += each.summary->timed;
      disturbed += each.summary->disturbed;
    }
    if (each.range) {
      timed += each.range->timed;
      disturbed += each.range->disturbed;
    }
    if (each.best_us <= 0) line("missing", printable(missing_text(each)));
  }
  line("result", fmt::format("{} for {:.0f} convolutions and products, {} with the defaults: {}",
                             format_time_us(totals.best_us), matches, format_time_us(totals.default_us),
                             format_ratio(totals.best_us > 0 ? totals.default_us / totals.best_us : 0)));
  line("", forms_text(results));
  if (const auto unproven = std::ranges::count_if(results, is_provisional); unproven > 0)
    line("", fmt::format("? provisional: there was no time to prove {} of them; lehr export does", unproven));
  if (totals.baseline_us > 0)
    line("", fmt::format("where a baseline was timed: {} against {} of the fastest one: {}",
                         format_time_us(totals.best_where_baseline_us), format_time_us(totals.baseline_us),
                         format_ratio(totals.baseline_us / totals.best_where_baseline_us)));
  line("trials", fmt::format("{} measured", trials));
  line("busy", busy_text(disturbed, timed));
  line("database", database);
  line("next", fmt::format("lehr export --db {} --out kernels.bundle", shell_quoted(database)));
  const std::string threads = device.limits.target.has(Feature::kChosenCores)
                                  ? fmt::format(" --threads {}", device.limits.cores)
                                  : "";
  const bool narrow = std::ranges::any_of(results, [](const SharedResult& each) {
    return each.instead_of && tensors_of(each.workload)[0].type == DType::kBF16;
  });
  line("", fmt::format("lehr apply {}{}{} --bundle kernels.bundle --out faster", flags, threads,
                       narrow ? " --precision bf16" : ""));
  return out;
}

nlohmann::json document_of(const std::string& file, const std::vector<SharedResult>& results,
                           const std::string& database) {
  return NetworkDocument{file, database, results};
}

}  // namespace lehr
