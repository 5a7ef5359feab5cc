// Turns the folder that bench/gpu/run fills into one Markdown page: when and where it ran, what the checks
// found, ours against the vendor's library by suite, and what was refused or failed.
// With the log of these sessions it also says how many verdicts their own trials contradict.
//   gpu_table RESULTS_DIR [LOG] > table.md
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "behind.h"
#include "documents.h"

namespace {

using nlohmann::json;
using namespace lehr::bench;

/// One document of the folder. bench/gpu/run wraps what a command printed:
/// {"kind", "suite", "name", "problem", "seconds", and "result" or "refused" or "failed"}.
struct Step {
  json wrapper;
  std::string text(const char* key) const { return wrapper.value(key, std::string()); }
};

/// Returns ", 64 batch" if the workload has a value other than the usual one, else "".
std::string unusual(const std::string& workload, const char* key, const char* usual, const char* format) {
  const std::string value = field_of(workload, key);
  return value == "?" || value == usual ? "" : fmt::format(fmt::runtime(format), value);
}

/// Returns "16 x 4096 x 4096, swiglu", or "32 x 56 x 56 x 64 -> 64, 3 x 3 / 1x1, 32 groups".
std::string what_of(const std::string& workload) {
  const std::string images = unusual(workload, "n", "", "{} x ");
  return (workload.starts_with("conv2d") ? images : "") + shape_of(workload) +
         unusual(workload, "batch", "1", ", batch {}") + unusual(workload, "groups", "1", ", {} groups") +
         unusual(workload, "epilogue", "none", ", {}");
}

/// Returns "bf16 nt": the type of A, and n or t for a row-major or column-major A and B; "f16 nhwc" for
/// images.
std::string types_of(const std::string& workload) {
  const std::string math = unusual(workload, "math", "strict", " {}");
  if (workload.starts_with("conv2d"))
    return fmt::format("{} {}{}", field_of(workload, "x"), field_of(workload, "layout"), math);
  const std::string a = field_of(workload, "a"), b = field_of(workload, "b");
  const auto letter = [](const std::string& operand) { return operand.ends_with("column") ? 't' : 'n'; };
  return fmt::format("{} {}{}{}", a.substr(0, a.find(':')), letter(a), letter(b), math);
}

std::string time_text(double us) {
  return us <= 0 ? "-" : us < 100 ? fmt::format("{:.2f}", us) : fmt::format("{:.1f}", us);
}

std::string one_line(std::string text) {
  text = text.substr(0, text.find('\n'));
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2))
    text.replace(at, 1, "\\|");
  return text;
}

double baseline_us(const json& result, const std::string& name) {
  for (const json& entry : result.value("baselines", json::array()))
    if (entry.value("name", "") == name) return number(entry, "time_us");
  return 0;
}

/// Returns the columns behind the libraries' times: the ratios, and how the tuning spent its seconds.
std::string costs_text(const json& result, double ratio) {
  const json gpu = result.value("gpu", json()), elapsed = result.value("elapsed_s", json());
  const json parts = elapsed.is_object() ? elapsed.value("phases", json()) : json();
  const double trials = number(result.value("trials", json()), "measured"),
               searching = number(parts, "hints") + number(parts, "proposals") + number(parts, "compile") +
                           number(parts, "trials");
  return fmt::format(
      " {} | {:.2f} | {} | {:.0f} | {} | {:.2f} | {:.2f} | {:.1f} |",
      ratio > 0 ? ratio_text(result, "speedup_vs_baseline", "speedup_vs_baseline_interval") : "-",
      number(result, "speedup_vs_default"),
      gpu.is_object() ? fmt::format("{:.0f}, {:.0f}", number(gpu, "sm_mhz"), number(gpu, "power_w")) : "-",
      trials, searching > 0 ? fmt::format("{:.1f}", trials / searching) : "-", number(parts, "setup"),
      number(parts, "finals"), number(elapsed, "total"));
}

struct Ratio {
  double value = 0;
  std::string name;
};

/// Prints the rows that have a library beside them, the slowest first.
void print_summary(std::vector<Ratio> ratios, std::size_t rows) {
  if (ratios.empty()) return;
  std::ranges::stable_sort(ratios, {}, &Ratio::value);
  double log_sum = 0;
  for (const Ratio& ratio : ratios) log_sum += std::log(ratio.value);
  const auto as_fast = std::ranges::count_if(ratios, [](const Ratio& ratio) { return ratio.value >= 1; });
  fmt::print("\nGeometric mean over {} rows: {:.3f}; {} of them at 1.00 or above.", ratios.size(),
             std::exp(log_sum / static_cast<double>(ratios.size())), as_fast);
  if (rows > ratios.size()) fmt::print(" {} more have no library beside them.", rows - ratios.size());
  fmt::print(" Worst:");
  ratios.resize(std::min<std::size_t>(ratios.size(), 5));
  for (const Ratio& ratio : ratios)
    fmt::print(" {} {:.3f}{}", ratio.name, ratio.value, &ratio == &ratios.back() ? ".\n" : ",");
}

void print_suite(const std::string& suite, const std::vector<const Step*>& rows) {
  std::set<std::string> libraries;
  for (const Step* row : rows)
    for (const json& entry : row->wrapper["result"].value("baselines", json::array()))
      if (number(entry, "time_us") > 0) libraries.insert(entry.value("name", ""));
  std::string header = "| name | what | types | ours us | TFLOP/s | roofline | family |";
  std::string rule = "|---|---|---|---|---|---|---|";
  for (const std::string& library : libraries) {
    header += fmt::format(" {} us |", library);
    rule += "---|";
  }
  fmt::print(
      "\n### {}\n\n{} vs fastest library | vs default | MHz, W | trials | a second | set-up s | finals s | s "
      "|\n"
      "{}---|---|---|---|---|---|---|---|\n",
      suite, header, rule);
  std::vector<Ratio> ratios;
  for (const Step* row : rows) {
    const json& result = row->wrapper["result"];
    const std::string workload = result.value("workload", "");
    const json best = result.value("best", json());
    const double ratio = number(result, "speedup_vs_baseline");
    const double share = number(result, "roofline_fraction");
    fmt::print("| {} | {} | {} | {} | {:.2f} | {} | {} |", row->text("name"), what_of(workload),
               types_of(workload), time_text(number(best, "time_us")), number(best, "gflops") / 1000,
               share > 0 ? fmt::format("{:.0f} %", 100 * share) : "-",
               best.is_object() ? best.value("template", "") : "-");
    for (const std::string& library : libraries) fmt::print(" {} |", time_text(baseline_us(result, library)));
    fmt::print("{}\n", costs_text(result, ratio));
    if (ratio > 0) ratios.push_back({ratio, row->text("name")});
  }
  print_summary(std::move(ratios), rows.size());
}

struct Tally {
  int checked = 0, right = 0, rejected = 0, failed = 0, problems = 0;
  double worst_error = 0;
};

void print_checks(const std::vector<const Step*>& steps) {
  std::map<std::string, Tally> families;
  std::vector<std::string> failures;
  for (const Step* step : steps) {
    for (const json& entry : step->wrapper["result"].value("checks", json::array())) {
      Tally& tally =
          families[fmt::format("{} | {}", entry.value("family", ""), types_of(entry.value("workload", "")))];
      ++tally.problems;
      tally.checked += entry.value("sampled", 0);
      tally.right += entry.value("right", 0);
      tally.rejected += entry.value("rejected", 0);
      tally.worst_error = std::max(tally.worst_error, number(entry, "error_of_tolerance"));
      for (const json& failure : entry.value("failures", json::array())) {
        ++tally.failed;
        failures.push_back(fmt::format("- {}: {}: {} (`{}`)", entry.value("workload", ""),
                                       failure.value("kind", ""), one_line(failure.value("text", "")),
                                       failure.value("config", "")));
      }
    }
  }
  if (families.empty()) return;
  fmt::print(
      "\n## Checks\n\nSampled configs, each run on poisoned outputs and compared with the reference.\n\n"
      "| family | types | problems | configs | right | rejected by the compile log | failed | worst error / "
      "tolerance |\n"
      "|---|---|---|---|---|---|---|---|\n");
  for (const auto& [name, tally] : families)
    fmt::print("| {} | {} | {} | {} | {} | {} | {:.3f} |\n", name, tally.problems, tally.checked, tally.right,
               tally.rejected, tally.failed, tally.worst_error);
  if (failures.empty()) return;
  fmt::print("\nFailures:\n\n");
  for (const std::string& failure : failures) fmt::print("{}\n", failure);
}

/// Splits "family(knob=value, ...)" at its commas. Any other text stays in one piece.
std::vector<std::string> knobs_of(const std::string& config) {
  const std::size_t open = config.find('(');
  if (open == std::string::npos || !config.ends_with(')')) return {config};
  std::vector<std::string> words = {config.substr(0, open)};
  for (std::size_t at = open + 1; at < config.size();) {
    const std::size_t end = std::min(config.find(", ", at), config.size() - 1);
    words.push_back(config.substr(at, end - at));
    at = end + 2;
  }
  return words;
}

/// Returns a config by the knobs in which it differs from the ladder's first; whole if it is of another
/// family.
std::string against_first(const std::string& config, const std::string& first) {
  const std::vector<std::string> ours = knobs_of(config), theirs = knobs_of(first);
  if (config == first || ours.size() != theirs.size() || ours[0] != theirs[0]) return config;
  std::string differing;
  for (std::size_t i = 1; i < ours.size(); ++i)
    if (ours[i] != theirs[i]) differing += (differing.empty() ? "" : ", ") + ours[i];
  return differing;
}

/// Prints the document of a `lehr bench`: its sides in the order in which they were named.
void print_ladder(const Step& step) {
  fmt::print("\n### {}{} {}\n\n| us | against the first | config |\n|--:|--:|---|\n",
             step.text("kind") == "bundle" ? "bundle: " : "", step.text("suite"), step.text("name"));
  for (const json& side : step.wrapper["result"]["entries"]) {
    const json& first = step.wrapper["result"]["entries"][0];
    const std::string what = against_first(side.value("what", ""), first.value("what", ""));
    if (side["time_us"].is_null()) {
      fmt::print("| - | - | {}: {} |\n", what, one_line(side["missing"].get<std::string>()));
    } else {
      const json& speedup = side["speedup"];
      fmt::print("| {:.2f} | {:.3f} | {} |\n", side["time_us"].get<double>(),
                 speedup.is_null() ? 0.0 : speedup.get<double>(), what);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    fmt::print(stderr, "usage: gpu_table RESULTS_DIR [LOG]\n");
    return 1;
  }
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1], error))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  if (files.empty()) {
    fmt::print(stderr, "gpu_table: {} holds no results of bench/gpu/run\n", argv[1]);
    return 1;
  }
  std::ranges::sort(files);
  std::vector<json> calls;
  std::vector<Step> steps;
  for (const std::filesystem::path& path : files) {
    std::ifstream file(path);
    json document = json::parse(file, nullptr, false);
    if (document.is_discarded() || !document.is_object()) {
      fmt::print(stderr, "gpu_table: {} is no document of bench/gpu/run\n", path.string());
      return 1;
    }
    if (document.contains("call")) calls.push_back(document);
    if (document.contains("kind")) steps.push_back({std::move(document)});
  }
  // Steps stand in the order of the plan: each wrapper has its position.
  std::ranges::stable_sort(steps, {}, [](const Step& step) { return step.wrapper.value("position", 0); });

  fmt::print("# GPU results\n\n");
  std::set<std::string> devices;
  for (const Step& step : steps)
    if (step.wrapper.contains("result") && step.wrapper["result"].contains("device"))
      devices.insert(step.wrapper["result"].value("device", ""));
  for (const std::string& device : devices) fmt::print("Device: {}.\n", device);
  for (const json& call : calls)
    fmt::print("- {}: `{}`{}, {}, {}{}\n", call.value("date", ""), call.value("call", ""),
               call.contains("seed") ? fmt::format(", seed {}", number(call, "seed")) : "",
               call.value("version", ""), call.value("machine", ""),
               call.contains("ended") ? ", " + call.value("ended", "") : ", did not end by itself");

  std::vector<const Step*> checks, ladders, others;
  std::vector<std::string> suites;
  std::map<std::string, std::vector<const Step*>> rows;
  for (const Step& step : steps) {
    const bool nothing_ran = step.text("kind") == "tune" && step.wrapper.contains("result") &&
                             step.wrapper["result"].value("best", json()).is_null();
    if (!step.wrapper.contains("result") || nothing_ran) {
      others.push_back(&step);
    } else if (step.text("kind") == "check") {
      checks.push_back(&step);
    } else if (step.text("kind") == "bench" || step.text("kind") == "bundle") {
      ladders.push_back(&step);
    } else if (step.text("kind") == "tune") {
      if (!rows.contains(step.text("suite"))) suites.push_back(step.text("suite"));
      rows[step.text("suite")].push_back(&step);
    }
  }
  print_checks(checks);
  if (!ladders.empty()) fmt::print("\n## Ladders\n");
  for (const Step* step : ladders) print_ladder(*step);
  if (!suites.empty())
    fmt::print(
        "\n## Tuned\n\nRatios are times, library / ours, the median of interleaved rounds: above 1 we are "
        "faster. A second: trials for each second of hints, proposals, compilations and trials.\n");
  for (const std::string& suite : suites) print_suite(suite, rows[suite]);
  if (argc == 3) {
    const lehr::Database log = lehr::Database::open_read_only(argv[2]);
    std::vector<std::pair<std::string, double>> behind;
    for (const std::string& suite : suites)
      for (const Step* row : rows[suite])
        behind.emplace_back(row->text("name"), behind_three(row->wrapper["result"], log));
    fmt::print("\n{}\n", behind_text(behind));
  }
  if (!others.empty()) fmt::print("\n## Not done\n\n");
  for (const Step* step : others) {
    const json& wrapper = step->wrapper;
    const char* what = wrapper.contains("refused") ? "refused" : "failed";
    const json reason =
        wrapper.contains("result") ? wrapper["result"].value("first_failure", json()) : wrapper[what];
    fmt::print("- {} {}: {}: {}\n", step->text("suite"), step->text("name"), what,
               reason.is_string() ? one_line(reason.get<std::string>()) : "no candidate ran");
  }
}
