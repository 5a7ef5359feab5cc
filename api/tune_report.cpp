// Formats the results of tuning as text.
#include "api/tune_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "api/progress.h"
#include "base/text.h"
#include "measure/core/format.h"
#include "target/archs.h"
#include "workload/short_text.h"

namespace lehr {
namespace {

std::string times_table(const Summary& s) {
  const Verdict& verdict = s.verdict;
  std::vector<std::vector<std::string>> rows;
  const auto gflops = [&](double us) { return us > 0 ? fmt::format("{:.1f}", gflops_of(s.flops, us)) : "-"; };
  if (s.default_trial)
    rows.push_back({"default", format_time_us(verdict.default_time), gflops(verdict.default_time.us), "1.00x",
                    to_text(s.default_trial->config)});
  if (s.best)
    rows.push_back({verdict.provisional ? "provisional" : "best", format_time_us(verdict.best),
                    gflops(verdict.best.us), format_ratio(verdict.speedup_vs_default),
                    to_text(s.best->config)});
  for (const BaselineTime& b : s.baselines)
    rows.push_back({b.name, format_time_us(b.time), gflops(b.time.us),
                    format_ratio(b.time.us > 0 ? verdict.default_time.us / b.time.us : 0),
                    b.missing.empty() ? b.note : b.missing});
  return format_table({"<", "time", "GFLOP/s", "vs default", "<"}, rows);
}

/// Returns " (1.020 to 1.040)", the 95 % interval; "" if it is not known.
std::string bounds(const Interval& interval) {
  return interval.known() ? fmt::format(" ({:.3f} to {:.3f})", interval.low, interval.high) : "";
}

/// Explains why the default kernel remains the fastest. Only candidates that were compared with it have lost
/// to it.
std::string why_it_stays(const Summary& s) {
  const auto left_out = std::ranges::count_if(s.finalists, [&](const FinalistReport& one) {
    return one.rounds < kLeastRounds && one.proof != ProofState::kFailed && !one.dropped &&
           one.config != to_text(s.best->config);
  });
  if (left_out == 0) return "nothing beat it by more than the noise";
  return fmt::format("there was no time to compare {} finalist{} with it", left_out,
                     left_out == 1 ? "" : "s");
}

std::string verdict_line(const Summary& s) {
  if (!s.best) return "";
  const Verdict& verdict = s.verdict;
  std::string text;
  if (s.default_trial && s.best->config == s.default_trial->config)
    text = "the default stays: " + why_it_stays(s);
  else if (s.default_trial)
    text = fmt::format("{} faster than the default{}", format_ratio(verdict.speedup_vs_default.value),
                       bounds(verdict.speedup_vs_default.interval));
  if (!verdict.baseline.empty())
    text += fmt::format("{}{} the speed of {}{}", text.empty() ? "" : "; ",
                        format_ratio(verdict.speedup_vs_baseline.value), verdict.baseline,
                        bounds(verdict.speedup_vs_baseline.interval));
  if (verdict.algorithms_tried < verdict.algorithms)
    text += fmt::format(", of which {} of {} algorithms were tried", verdict.algorithms_tried,
                        verdict.algorithms);
  const auto add = [&](const std::string& clause) { text += (text.empty() ? "" : "; ") + clause; };
  if (!s.earlier.empty())
    add("the verdict of an earlier run, whose winner there was no time to time again");
  else if (!s.contested)
    add("from single trials, not from a contest");
  else if (verdict.provisional)
    add("provisional: there was no time to prove it in many calls and on other inputs");
  return text;
}

/// Returns how much the winner's time in the search differs from its time in the finals.
std::string search_line(const Summary& s) {
  if (!s.contested || s.shown_us <= 0 || s.verdict.best.us <= 0) return "";
  const double more = 100 * (s.shown_us / s.verdict.best.us - 1);
  return fmt::format("showed {} for it, {:.1f} % {} than the finals", format_time_us(s.shown_us),
                     std::abs(more), more < 0 ? "less" : "more");
}

/// Returns the units that compute, as the end of a phrase: "", " on tensor cores" or " of bf16".
std::string units_text(std::string_view units) {
  if (units == kF32Units) return "";
  return fmt::format(" {} {}", units == kTensorCores ? "on" : "of", units);
}

}  // namespace

std::string report_text(const Summary& s, const Device& device, const std::string& database) {
  const Isa isa = isa_of_identity(device.compiler);
  std::string out =
      fmt::format("\nworkload  {}\ndevice    {} ({}{}, {} {})\n\n", s.workload, device.name,
                  device.limits.arch, isa.level == nullptr ? "" : fmt::format(" of {}", name_of(isa)),
                  device.limits.cores, device.limits.target->core_word);
  out += times_table(s) + "\n";
  const auto line = [&](const char* name, const std::string& text) {
    if (!text.empty()) out += fmt::format("{:<9} {}\n", name, text);
  };
  line("result", s.unproven.empty() ? verdict_line(s) : "none: " + printable(s.unproven));
  line("search", search_line(s));
  line("bits", s.determinism);
  if (s.checked_by != "host") line("checked", s.checked_by.empty() ? "" : "by the " + s.checked_by);
  if (s.caches == "cold") line("caches", "cold: swept before each timed call");
  if (s.roofline_fraction) {
    line("roofline", fmt::format("{:.0f} % of what the device can do ({:.0f} GFLOP/s{}, {:.0f} GB/s)",
                                 100 * *s.roofline_fraction, s.peaks.gflops, units_text(s.peaks.units),
                                 s.peaks.gbytes_per_s));
    line("", std::string(why_above_all(*s.roofline_fraction)));
  }
  if (s.gpu)
    line("gpu", fmt::format("{:.0f} MHz, {:.0f} W, {:.0f} C while the best one was timed", s.gpu->sm_mhz,
                            s.gpu->power_w, s.gpu->temperature_c));
  const std::string failed = failures_text(s.failed);
  line("trials", fmt::format("{} measured: {} timed, {} failed{}{}", s.measured, s.timed,
                             s.measured - s.timed, failed.empty() ? "" : " (" + failed + ")",
                             s.resume_text.empty() ? "" : "; " + s.resume_text));
  line("failure", s.first_failure);
  if (s.retimed > 0)
    line("noise", fmt::format("{} disturbed window{} timed again; {} trial{} had no calm one", s.retimed,
                              s.retimed == 1 ? " was" : "s were", s.disturbed, s.disturbed == 1 ? "" : "s"));
  line("busy", busy_text(s.disturbed, s.timed));
  const Elapsed::Parts& parts = s.elapsed.parts;
  line("time", fmt::format("{:.1f} s: setup {:.1f}, hints {:.1f}, proposals {:.1f}, compile {:.1f}, trials "
                           "{:.1f}, finals {:.1f}",
                           s.elapsed.total_s, parts.setup_s, parts.hints_s, parts.proposals_s,
                           parts.compile_s, parts.trials_s, parts.finals_s));
  line("idle",
       fmt::format("the device waited {:.1f} s ({:.0f} %): {:.1f} for the compiler, {:.1f} for the search",
                   device_idle_s(s.elapsed),
                   100 * device_idle_s(s.elapsed) / std::max(1e-9, s.elapsed.total_s), s.elapsed.compile_s,
                   s.elapsed.search_s));
  if (s.kernels > 0 && s.compiling_s > 0)
    line("compiler", fmt::format("{} kernels in {:.1f} s: {:.1f} kernels/s{}", s.kernels, s.compiling_s,
                                 s.kernels / s.compiling_s,
                                 s.compiling_s > s.elapsed.compile_s + 0.05
                                     ? fmt::format(", {:.1f} s of it while others were timed",
                                                   s.compiling_s - s.elapsed.compile_s)
                                     : ""));
  line("stopped", s.stop_text);
  line("database", database);
  if (!s.best) return out;
  line("next", fmt::format("lehr best --db {}", shell_quoted(database)));
  line("", fmt::format("lehr show {} --as source --db {}", shell_quoted(short_text(s.workload)),
                       shell_quoted(database)));
  line("", fmt::format("lehr export --db {} --out kernels", shell_quoted(database)));
  return out;
}

namespace {

std::vector<std::string> overview_row(const Summary& s) {
  return {short_text(s.workload),
          format_time_us(s.verdict.default_time),
          format_time_us(s.verdict.best) + (s.verdict.provisional ? " ?" : ""),
          s.best ? fmt::format("{:.1f}", gflops_of(s.flops, s.verdict.best.us)) : "-",
          format_ratio(s.verdict.speedup_vs_default),
          format_ratio(s.verdict.speedup_vs_baseline),
          s.verdict.baseline.empty() ? "-" : s.verdict.baseline,
          std::to_string(s.measured),
          std::string(name_of(s.stop))};
}

/// Returns the row of a range. Its time is the time of a call with the most rows.
std::vector<std::string> overview_row(const RangeSummary& s) {
  const Timing* const timing = s.record ? std::get_if<Timing>(&s.record->outcome) : nullptr;
  const Time best = timing ? Time{timing->time_us, interval_of(*timing)} : Time{};
  return {short_text(s.workload),
          "-",
          format_time_us(best),
          timing ? fmt::format("{:.1f}", gflops_of(s.flops, best.us)) : "-",
          "-",
          "-",
          "-",
          std::to_string(s.measured),
          "-"};
}

}  // namespace

std::string overview_text(const std::vector<AnySummary>& summaries) {
  std::vector<std::vector<std::string>> rows;
  bool provisional = false, range = false;
  for (const AnySummary& each : summaries) {
    rows.push_back(std::visit([](const auto& s) { return overview_row(s); }, each));
    const auto* const one = std::get_if<Summary>(&each);
    provisional = provisional || (one && one->verdict.provisional);
    range = range || !one;
  }
  std::string text = format_table({"<workload", "default", "best", "GFLOP/s", "vs default", "vs baseline",
                                   "<baseline", "trials", "<stopped by"},
                                  rows);
  if (provisional) text += "? provisional: there was no time to prove it; lehr export does\n";
  if (range) text += "The time of a range of rows is that of the most rows.\n";
  return text;
}

}  // namespace lehr
