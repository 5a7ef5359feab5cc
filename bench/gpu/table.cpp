// Turns the folder that bench/gpu/run fills into one Markdown page: when and where it ran, what the checks
// found, ours against the vendor's library by suite, and what was refused or failed.
//   gpu_table RESULTS_DIR > table.md
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

namespace {

using nlohmann::json;

/// One document of the folder. bench/gpu/run wraps what a command printed:
/// {"kind", "suite", "name", "problem", "seconds", and "result" or "refused" or "failed"}.
struct Step {
  json wrapper;
  std::string text(const char* key) const { return wrapper.value(key, std::string()); }
};

double number(const json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_number() ? object[key].get<double>()
                                                                               : 0;
}

/// "gemm m=512 n=..." -> the value of `key`; "" when there is none.
std::string field(const std::string& workload, const std::string& key) {
  const std::size_t at = workload.find(" " + key + "=");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + key.size() + 2;
  return workload.substr(begin, workload.find(' ', begin) - begin);
}

/// "bf16 nt": the type of A, and n or t for a row-major or column-major A and B.
std::string types_of(const std::string& workload) {
  const std::string a = field(workload, "a"), b = field(workload, "b");
  const auto letter = [](const std::string& operand) { return operand.ends_with("column") ? 't' : 'n'; };
  const std::string math = field(workload, "math");
  return fmt::format("{} {}{}{}", a.substr(0, a.find(':')), letter(a), letter(b),
                     math.empty() || math == "strict" ? "" : " " + math);
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

// "1.061 +-0.012": half the width of the 95 % interval.
std::string ratio_text(const json& result, double ratio) {
  if (ratio <= 0) return "-";
  const json interval = result.value("speedup_vs_baseline_interval", json());
  if (!interval.is_array() || interval.size() != 2) return fmt::format("{:.3f}", ratio);
  return fmt::format("{:.3f} +-{:.3f}", ratio, (interval[1].get<double>() - interval[0].get<double>()) / 2);
}

double baseline_us(const json& result, const std::string& name) {
  for (const json& entry : result.value("baselines", json::array()))
    if (entry.value("name", "") == name) return number(entry, "time_us");
  return 0;
}

void print_suite(const std::string& suite, const std::vector<const Step*>& rows) {
  std::set<std::string> libraries;
  for (const Step* row : rows)
    for (const json& entry : row->wrapper["result"].value("baselines", json::array()))
      if (number(entry, "time_us") > 0) libraries.insert(entry.value("name", ""));
  std::string header = "| name | m x n x k | types | ours us | TFLOP/s | roofline | family |";
  std::string rule = "|---|---|---|---|---|---|---|";
  for (const std::string& library : libraries) {
    header += fmt::format(" {} us |", library);
    rule += "---|";
  }
  fmt::print(
      "\n### {}\n\n{} vs fastest library | vs default | MHz, W | trials | s |\n{}---|---|---|---|---|\n",
      suite, header, rule);
  double log_sum = 0, worst = 1e30;
  int count = 0;
  for (const Step* row : rows) {
    const json& result = row->wrapper["result"];
    const std::string workload = result.value("workload", "");
    const json best = result.value("best", json());
    const double ratio = number(result, "speedup_vs_baseline");
    const double share = number(result, "roofline_fraction");
    fmt::print("| {} | {} x {} x {} | {} | {} | {:.2f} | {} | {} |", row->text("name"), field(workload, "m"),
               field(workload, "n"), field(workload, "k"), types_of(workload),
               time_text(number(best, "time_us")), number(best, "gflops") / 1000,
               share > 0 ? fmt::format("{:.0f} %", 100 * share) : "-",
               best.is_object() ? best.value("template", "") : "-");
    for (const std::string& library : libraries) fmt::print(" {} |", time_text(baseline_us(result, library)));
    const json gpu = result.value("gpu", json());
    fmt::print(
        " {} | {} | {} | {:.0f} | {:.0f} |\n", ratio_text(result, ratio),
        fmt::format("{:.2f}", number(result, "speedup_vs_default")),
        gpu.is_object() ? fmt::format("{:.0f}, {:.0f}", number(gpu, "sm_mhz"), number(gpu, "power_w")) : "-",
        number(result.value("trials", json()), "measured"),
        number(result.value("elapsed_s", json()), "total"));
    if (ratio <= 0) continue;
    log_sum += std::log(ratio);
    worst = std::min(worst, ratio);
    ++count;
  }
  if (count > 0)
    fmt::print("\nGeometric mean over {} rows: {:.3f}; worst row: {:.3f}.\n", count,
               std::exp(log_sum / count), worst);
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

/// "family(knob=value, ...)" split at its commas; others in one piece.
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

/// A config by the knobs in which it differs from the ladder's first; whole where it is of another family.
std::string against_first(const std::string& config, const std::string& first) {
  const std::vector<std::string> ours = knobs_of(config), theirs = knobs_of(first);
  if (config == first || ours.size() != theirs.size() || ours[0] != theirs[0]) return config;
  std::string differing;
  for (std::size_t i = 1; i < ours.size(); ++i)
    if (ours[i] != theirs[i]) differing += (differing.empty() ? "" : ", ") + ours[i];
  return differing;
}

/// What `lehr bench` printed: its sides in the order in which they were named.
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
  if (argc != 2) {
    fmt::print(stderr, "usage: gpu_table RESULTS_DIR\n");
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
  // In the order in which they were asked, which the plan's numbers in the wrappers tell.
  std::ranges::stable_sort(steps, {}, [](const Step& step) { return step.wrapper.value("position", 0); });

  fmt::print("# GPU results\n\n");
  std::set<std::string> devices;
  for (const Step& step : steps)
    if (step.wrapper.contains("result") && step.wrapper["result"].contains("device"))
      devices.insert(step.wrapper["result"].value("device", ""));
  for (const std::string& device : devices) fmt::print("Device: {}.\n", device);
  for (const json& call : calls)
    fmt::print("- {}: `{}`, {}, {}{}\n", call.value("date", ""), call.value("call", ""),
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
        "faster.\n");
  for (const std::string& suite : suites) print_suite(suite, rows[suite]);
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
