// The report on tuning a range of rows, for people.
#include <fmt/core.h>

#include <algorithm>

#include "api/progress.h"
#include "api/tune_report.h"
#include "base/text.h"
#include "measure/core/format.h"
#include "workload/short_text.h"

namespace lehr {
namespace {

std::string rows_text(std::int64_t from, std::int64_t to) {
  return from == to ? fmt::format("{}", from) : fmt::format("{}..{}", from, to);
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::string members_table(const RowSet& set, std::size_t width) {
  std::vector<std::vector<std::string>> rows;
  std::int64_t from = set.least;
  for (const RowMember& member : set.members) {
    const auto time = std::ranges::find(set.times, member.to, &RowTime::rows);
    rows.push_back({rows_text(from, member.to), time == set.times.end() ? "-" : format_time_us(time->us),
                    member.config});
    from = member.to + 1;
  }
  return format_table({"<rows", "time of the most", "<kernel"}, rows, {.width = width});
}

std::string held_out_line(const RowSet& set) {
  if (set.held_out.empty())
    return "no size was held out: there were no time and trials for one, or there is none left";
  const Losses losses = losses_of(set.held_out);
  const auto worst = std::ranges::max_element(set.held_out, {}, &HeldOutRows::loss);
  const Interval& of_mean = losses.mean_interval;
  return fmt::format(
      "{} in the mean{}, {} at worst ({} to {}, at {} rows), at {} sizes that were not measured "
      "(seed {}), of the faster one of the default and a short search at each",
      percent(losses.mean),
      of_mean.known() ? fmt::format(" ({} to {})", percent(of_mean.low), percent(of_mean.high)) : "",
      percent(losses.worst), percent(worst->loss_low), percent(worst->loss_high), worst->rows,
      set.held_out.size(), set.held_out_seed);
}

}  // namespace

std::string set_text(const RowSet& set, std::size_t width) {
  const Losses losses = losses_of(set.times);
  const auto sizes = std::ranges::count_if(set.times, [](const RowTime& time) { return time.best_us > 0; });
  return fmt::format(
      "{}\nloss      {} in the mean, {} at worst, of the fastest kernel at each of {} measured size{}\n"
      "held out  {}\n",
      members_table(set, width), percent(losses.mean), percent(losses.worst), sizes, sizes == 1 ? "" : "s",
      held_out_line(set));
}

std::string report_text(const RangeSummary& s, const Device& device, const std::string& database) {
  std::string out = fmt::format("\nworkload  {}\ndevice    {} ({}, {} {})\n\n", s.workload, device.name,
                                device.limits.arch, device.limits.cores, device.limits.target->core_word);
  const auto line = [&](const char* name, const std::string& text) {
    if (!text.empty()) out += fmt::format("{:<9} {}\n", name, text);
  };
  if (s.set) out += set_text(*s.set);
  if (!s.set) line("result", "none: " + printable(s.missing));
  if (s.caches == "cold") line("caches", "cold: swept before each timed call");
  const std::string failed = failures_text(s.failed);
  line("trials",
       fmt::format("{} measured: {} timed, {} failed{}; the set is out of {} kernels", s.measured, s.timed,
                   s.measured - s.timed, failed.empty() ? "" : " (" + failed + ")", s.compared));
  line("failure", s.first_failure);
  line("busy", busy_text(s.disturbed, s.timed));
  line("time", fmt::format("{:.1f} s: searches {:.1f}, choice {:.1f}, held-out sizes {:.1f}", s.total_s,
                           s.search_s, s.choice_s, s.held_out_s));
  line("database", database);
  if (!s.set) return out;
  line("next",
       fmt::format("lehr show {} --db {}", shell_quoted(short_text(s.workload)), shell_quoted(database)));
  line("", fmt::format("lehr export --db {} --out kernels", shell_quoted(database)));
  return out;
}

}  // namespace lehr
